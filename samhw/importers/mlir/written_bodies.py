"""Expressions of programs as operations of arith and math."""

from collections.abc import Callable, Mapping

from samhw.errors import InputError
from samhw.graph.numerics import Float, Integer, ValueType, holds
from samhw.lang.expr import Access, Add, Binary, Call, Div, Expr, Literal, Mul, Neg, Parens, Sub
from samhw.lang.typed import REAL, kind_of

__all__ = ["ELEMENTS", "WrittenBody", "number_text"]

ELEMENTS: Mapping[str, str] = {
    **{name: name for name in ("f32", "bf16", "f16", "i8", "i16", "i32")},
    "u8": "i8",
    "f8e4m3": "f8E4M3FN",
    "f8e5m2": "f8E5M2",
}
"""By value type, the type of elements in MLIR. Integers have no sign there: operations take one."""

_BINARY: Mapping[type[Binary], str] = {Add: "add", Sub: "sub", Mul: "mul", Div: "div"}
_MATH = {name: name for name in ("exp", "log", "sqrt", "rsqrt", "tanh", "sin", "cos")} | {"rint": "roundeven"}
_COMPARED = {"lt": ("olt", "lt"), "le": ("ole", "le"), "gt": ("ogt", "gt"), "eq": ("oeq", "eq")}
_ROUNDED = ("f8e4m3", "f8e5m2")
"""Functions that round to the type of their name."""


def number_text(number: float, kind: ValueType) -> str:
    """A number as in a constant of a type."""
    if isinstance(kind, Integer):
        if number != int(number):
            raise InputError(f"The number {number} is none of {kind}; choose f32 or bf16 by --value.")
        return str(int(number))
    text = repr(float(number))
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{e}{exponent}"


class WrittenBody:
    """The operations of one body, as far as they are of one type.

    Args:
        kind: the type of elements.
        values: by access, the name of its element.
        types: of tensors.
        around: the body whose operations these are among.

    Attributes:
        lines: the operations so far.
    """

    def __init__(
        self,
        kind: ValueType,
        values: Mapping[Access, str],
        types: Mapping[str, ValueType],
        around: "WrittenBody | None" = None,
    ) -> None:
        self.kind = kind
        self.element = ELEMENTS[kind.name]
        self.values = values
        self.types = types
        self.is_integer = isinstance(kind, Integer)
        self.lines: list[str] = [] if around is None else around.lines
        self._constants: dict[str, str] = {} if around is None else around._constants

    def of(self, kind: ValueType) -> "WrittenBody":
        """The same body, for operations of another type."""
        return self if kind == self.kind else WrittenBody(kind, self.values, self.types, self)

    @property
    def sign(self) -> str:
        """The letter of an operation of integers that takes a sign or none."""
        return "s" if self.kind.least < 0 else "u"

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
        return self.add(f"arith.{name}{f'{self.sign}i' if self.is_integer else 'imumf'} {one}, {other}")

    def number(self, number: float) -> str:
        """A constant."""
        return self.constant(number_text(number, self.kind), self.element)

    def constant(self, text: str, element: str) -> str:
        """A constant of any type of elements, which a body has once."""
        key = f"{text} : {element}"
        if key not in self._constants:
            self._constants[key] = self.add(f"arith.constant {text}", element)
        return self._constants[key]

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
            case Call("to", (operand,)):
                return self.converted(operand)
            case Call("scale", arguments):
                return self.scaled(*arguments)
            case Call("select", (condition, yes, no)):
                by = self.of(self.kind_of(condition))
                holds = by.compared(("une", "ne"), by.expr(condition), by.number(0))
                return self.add(f"arith.select {holds}, {self.expr(yes)}, {self.expr(no)}")
            case Call(function, arguments):
                return self.call(function, [self.expr(argument) for argument in arguments])
        raise InputError(f"'{expr}' has no form in MLIR; write it as a sum, product or function.")

    def kind_of(self, expr: Expr) -> ValueType:
        """The type of an operand; a number takes that of the body."""
        return kind_of(expr, self.types) or self.kind

    def converted(self, operand: Expr) -> str:
        """An operand of any type, in that of the body."""
        source = self.of(self.kind_of(operand))
        return self.convert(source.expr(operand), source)

    def convert(self, x: str, source: "WrittenBody") -> str:
        """A value of another type, rounded once to the nearest number, ties to even."""
        if source.element == self.element:
            return x  # Integers of one width: what both have has the same bits.
        kinds = f"{source.element} to {self.element}"
        match source.is_integer, self.is_integer:
            case True, True:
                wider = self.kind.width > source.kind.width
                return self.add(f"arith.{f'ext{source.sign}i' if wider else 'trunci'} {x}", kinds)
            case True, False:
                return self.add(f"arith.{source.sign}itofp {x}", kinds)
            case False, True:
                return self.add(f"arith.fpto{self.sign}i {source.add(f'math.roundeven {x}')}", kinds)
        if source.kind.width == self.kind.width:
            middle = self.of(REAL)
            return self.convert(middle.convert(x, source), middle)
        return self.add(f"arith.{'extf' if holds(self.kind, source.kind) else 'truncf'} {x}", kinds)

    def scaled(self, *arguments: Expr) -> str:
        """A `scale`: a product of 64 bits, shifted to the right, rounded and cut to the type of the body."""
        whole = self.of(Integer(32))
        x, multiplier, shift = (
            self.add(f"arith.extsi {whole.expr(argument)}", "i32 to i64") for argument in arguments
        )
        one = self.constant("1", "i64")

        def wide(name: str, a: str, b: str, gives: str = "i64") -> str:
            return self.add(f"arith.{name} {a}, {b}", gives)

        product = wide("muli", x, multiplier)
        below = wide("shrsi", product, shift)
        rest = wide("subi", product, wide("shli", below, shift))
        # More than half is rounded up, and so is a half above an odd number.
        beyond = wide("addi", wide("addi", rest, rest), wide("andi", below, one))
        up = wide("cmpi sgt,", beyond, wide("shli", one, shift))
        found = wide("addi", below, self.add(f"arith.extui {up}", "i1 to i64"))
        for name, end in (("maxsi", self.kind.least), ("minsi", self.kind.greatest)):
            found = wide(name, found, self.constant(str(int(end)), "i64"))
        return self.add(f"arith.trunci {found}", f"i64 to {self.element}")

    def negated(self, x: str) -> str:
        """Its negative."""
        if self.is_integer:
            return self.arithmetic("sub", self.number(0), x)
        return self.add(f"arith.negf {x}")

    def compared(self, predicates: tuple[str, str], a: str, b: str) -> str:
        """A comparison, of floating point or of integers, as i1."""
        floating, whole = predicates
        if not self.is_integer:
            return self.add(f"arith.cmpf {floating}, {a}, {b}")
        return self.add(f"arith.cmpi {whole if whole in ('eq', 'ne') else self.sign + whole}, {a}, {b}")

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
            case "abs", [x]:
                return self.add(f"math.abs{'i' if self.is_integer else 'f'} {x}")
            case "relu", [x]:
                return self.greatest("max", x, self.number(0))
            case "leaky_relu", [x, slope]:
                small = self.arithmetic("mul", x, slope)
                positive = self.compared(_COMPARED["gt"], x, self.number(0))
                return self.add(f"arith.select {positive}, {x}, {small}")
        if self.is_integer:
            raise InputError(f"'{function}' is no function of integers; choose f32 or bf16 by --value.")
        if function in _ROUNDED:
            narrow = self.of(Float(function))
            return self.convert(narrow.convert(given[0], self), narrow)
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
