"""Expressions of programs as operations of arith and math."""

from collections.abc import Callable, Mapping

from samhw.errors import InputError
from samhw.lang.expr import Access, Add, Binary, Call, Div, Expr, Literal, Mul, Neg, Parens, Sub

__all__ = ["WrittenBody", "number_text"]

_BINARY: Mapping[type[Binary], str] = {Add: "add", Sub: "sub", Mul: "mul", Div: "div"}
_MATH = {name: name for name in ("exp", "log", "sqrt", "rsqrt", "tanh", "sin", "cos")} | {"rint": "roundeven"}
_COMPARED = {"lt": ("olt", "slt"), "le": ("ole", "sle"), "eq": ("oeq", "eq")}


def number_text(number: float, element: str) -> str:
    """A number as in a constant of an element type."""
    if element.startswith("i"):
        if number != int(number):
            raise InputError(f"The number {number} is none of {element}; choose f32 or bf16 by --value.")
        return str(int(number))
    text = repr(float(number))
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"


class WrittenBody:
    """The operations of one body.

    Args:
        element: the type of elements.
        values: by access, the name of its element.

    Attributes:
        lines: the operations so far.
    """

    def __init__(self, element: str, values: Mapping[Access, str]) -> None:
        self.element = element
        self.values = values
        self.lines: list[str] = []
        self.is_integer = element.startswith("i")
        self._constants: dict[str, str] = {}

    def add(self, operation: str, kind: str = "") -> str:
        """Adds an operation; gives the name of its result."""
        name = f"%v.{len(self.lines)}"
        self.lines.append(f"{name} = {operation} : {kind or self.element}")
        return name

    def arithmetic(self, name: str, *operands: str) -> str:
        """An operation of arith that has a form for integers and one for floating point."""
        return self.add(f"arith.{name}{'i' if self.is_integer else 'f'} {', '.join(operands)}")

    def greatest(self, name: str, one: str, other: str) -> str:
        """The maximum or minimum of two."""
        return self.add(f"arith.{name}{'si' if self.is_integer else 'imumf'} {one}, {other}")

    def number(self, number: float) -> str:
        """A constant."""
        text = number_text(number, self.element)
        if text not in self._constants:
            self._constants[text] = self.add(f"arith.constant {text}")
        return self._constants[text]

    def expr(self, expr: Expr) -> str:
        """The name of an expression's value."""
        match expr:
            case Access():
                return self.values[expr]
            case Literal(number):
                return self.number(number)
            case Parens(operand):
                return self.expr(operand)
            case Neg(operand):
                return self.negated(self.expr(operand))
            case Binary(left, right):
                if self.is_integer and isinstance(expr, Div):
                    raise InputError(
                        f"'{expr}' divides integers, which is not written; choose f32 or bf16 by --value."
                    )
                return self.arithmetic(_BINARY[type(expr)], self.expr(left), self.expr(right))
            case Call(function, arguments):
                return self.call(function, [self.expr(argument) for argument in arguments])
        raise InputError(f"'{expr}' has no form in MLIR; write it as a sum, product or function.")

    def negated(self, x: str) -> str:
        """Its negative."""
        if self.is_integer:
            return self.arithmetic("sub", self.number(0), x)
        return self.add(f"arith.negf {x}")

    def compared(self, predicates: tuple[str, str], a: str, b: str) -> str:
        """A comparison, of floating point or of integers, as i1."""
        kind = "i" if self.is_integer else "f"
        return self.add(f"arith.cmp{kind} {predicates[self.is_integer]}, {a}, {b}")

    def call(self, function: str, given: list[str]) -> str:
        """A function of values."""
        match function, given:
            case "max" | "min", _:
                return self.greatest(function, *given)
            case "lt" | "le" | "eq", [a, b]:
                widen = "arith.extui" if self.is_integer else "arith.uitofp"
                return self.add(
                    f"{widen} {self.compared(_COMPARED[function], a, b)}", f"i1 to {self.element}"
                )
            case "select", [condition, yes, no]:
                holds = self.compared(("une", "ne"), condition, self.number(0))
                return self.add(f"arith.select {holds}, {yes}, {no}")
            case "abs", [x]:
                return self.add(f"math.abs{'i' if self.is_integer else 'f'} {x}")
            case "relu", [x]:
                return self.greatest("max", x, self.number(0))
            case "leaky_relu", [x, slope]:
                small = self.arithmetic("mul", x, slope)
                positive = self.compared(("ogt", "sgt"), x, self.number(0))
                return self.add(f"arith.select {positive}, {x}, {small}")
        if self.is_integer:
            raise InputError(f"'{function}' is no function of integers; choose f32 or bf16 by --value.")
        if function in _MATH:
            return self.add(f"math.{_MATH[function]} {given[0]}")
        if function not in _FUNCTIONS:
            raise InputError(
                f"'{function}' is not written as MLIR; leave it out, or write the program as text."
            )
        return _FUNCTIONS[function](self, given[0])


def _reciprocal(body: WrittenBody, x: str) -> str:
    return body.arithmetic("div", body.number(1), x)


def _sigmoid(body: WrittenBody, x: str) -> str:
    power = body.add(f"math.exp {body.negated(x)}")
    return _reciprocal(body, body.arithmetic("add", power, body.number(1)))


def _silu(body: WrittenBody, x: str) -> str:
    return body.arithmetic("mul", x, _sigmoid(body, x))


def _gelu(body: WrittenBody, x: str) -> str:
    erf = body.add(f"math.erf {body.arithmetic('mul', x, body.number(0.5**0.5))}")
    probability = body.arithmetic("mul", body.arithmetic("add", erf, body.number(1)), body.number(0.5))
    return body.arithmetic("mul", x, probability)


_FUNCTIONS: Mapping[str, Callable[[WrittenBody, str], str]] = {
    "reciprocal": _reciprocal,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "gelu": _gelu,
}
"""Those that MLIR has no operation for."""
