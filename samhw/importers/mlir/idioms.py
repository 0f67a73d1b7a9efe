"""Expressions as a person would write them: numbers folded, and what compilers spell out as the function that
it is."""

import math
from collections.abc import Callable, Mapping

from samhw.lang.expr import Add, Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.traverse import factors_of, rewritten

__all__ = [
    "ERF",
    "call",
    "difference",
    "literal",
    "number_of",
    "product",
    "quotient",
    "selected",
    "simplified",
    "sum_of",
]

ERF = "erf"
"""The error function, which programs do not have: it stands in expressions until `with_erf`."""

_NEAR = 1e-5

_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "abs": abs,
    "relu": lambda x: max(x, 0),
    "rint": round,
}
"""What a number in the place of a tensor becomes."""


def number_of(expr: Expr) -> float | int | None:
    """The number that an expression is."""
    return expr.value if isinstance(expr, Literal) else None


def literal(number: float) -> Literal:
    """A number as a person would write it: a whole one without a point."""
    whole = float(number).is_integer() and abs(number) < 2**53
    return Literal(int(number) if whole else number)


def _is(expr: Expr, number: float) -> bool:
    value = number_of(expr)
    return value is not None and math.isclose(value, number, rel_tol=_NEAR)


def sum_of(a: Expr, b: Expr) -> Expr:
    """a + b."""
    x, y = number_of(a), number_of(b)
    if x is not None and y is not None:
        return Literal(x + y)
    if y == 0:
        return a
    if x == 0:
        return b
    return Add(a, b)


def difference(a: Expr, b: Expr) -> Expr:
    """a - b."""
    x, y = number_of(a), number_of(b)
    if x is not None and y is not None:
        return Literal(x - y)
    if y == 0:
        return a
    return Neg(b) if x == 0 else Sub(a, b)


def product(a: Expr, b: Expr) -> Expr:
    """a * b; x times sigmoid(x) is silu(x), and likewise gelu."""
    x, y = number_of(a), number_of(b)
    if x is not None and y is not None:
        return Literal(x * y)
    if y == 1:
        return a
    if x == 1:
        return b
    for one, other in ((a, b), (b, a)):
        if other == Call("sigmoid", (one,)):
            return Call("silu", (one,))
    return _gelu(a, b) or Mul(a, b)


def _gelu(a: Expr, b: Expr) -> Expr | None:
    """x * 0.5 * (1 + erf(x / sqrt 2)), in any order of the factors."""
    factors = [*factors_of(a), *factors_of(b)]
    scale = math.prod(value for f in factors if (value := number_of(f)) is not None)
    others = [f for f in factors if not isinstance(f, Literal)]
    for probability in others:
        rest = [f for f in others if f is not probability]
        if isinstance(probability, Add) and len(rest) == 1:
            for erf, one in ((probability.left, probability.right), (probability.right, probability.left)):
                found = isinstance(erf, Call) and erf.function == ERF and _scaled(erf.arguments[0], rest[0])
                if found and number_of(one) is not None and math.isclose(scale * (number_of(one) or 0), 0.5):
                    return Call("gelu", (rest[0],))
    return None


def _scaled(argument: Expr, x: Expr) -> bool:
    """Whether an argument is x / sqrt(2)."""
    match argument:
        case Mul(left, right):
            return (left == x and _is(right, math.sqrt(0.5))) or (right == x and _is(left, math.sqrt(0.5)))
        case Div(left, right):
            return left == x and _is(right, math.sqrt(2))
    return False


def quotient(a: Expr, b: Expr) -> Expr:
    """a / b; 1 / (1 + exp(-x)) is sigmoid(x)."""
    x, y = number_of(a), number_of(b)
    if x is not None and y:
        return Literal(x / y)
    if y == 1:
        return a
    if x == 1 and isinstance(b, Add):
        for one, power in ((b.left, b.right), (b.right, b.left)):
            if number_of(one) == 1 and isinstance(power, Call) and power.function == "exp":
                negated = power.arguments[0]
                if isinstance(negated, Neg):
                    return Call("sigmoid", (negated.operand,))
    if x == 1:
        return Call("reciprocal", (b,))
    return Div(a, b)


def call(function: str, *arguments: Expr) -> Expr:
    """A function; max(x, 0) is relu(x), and what of numbers is known is a number."""
    numbers = [number_of(argument) for argument in arguments]
    if function in ("max", "min") and None not in numbers:
        known = [n for n in numbers if n is not None]
        if any(math.isnan(n) for n in known):
            return Literal(math.nan)
        return Literal(max(known) if function == "max" else min(known))
    if function == "max":
        a, b = arguments
        if numbers[1] == 0:
            return Call("relu", (a,))
        if numbers[0] == 0:
            return Call("relu", (b,))
    if function in _FUNCTIONS and numbers[0] is not None:
        try:
            return Literal(_FUNCTIONS[function](numbers[0]))
        except (ValueError, OverflowError, ZeroDivisionError):
            return Call(function, arguments)
    if function in ("lt", "le", "eq") and None not in numbers:
        x, y = (n for n in numbers if n is not None)
        return Literal(int({"lt": x < y, "le": x <= y, "eq": x == y}[function]))
    return Call(function, arguments)


def selected(condition: Expr, a: Expr, b: Expr, *, has_nan: bool = True) -> Expr:
    """a where the condition is not zero, else b: a maximum, a minimum, relu or leaky_relu where it is one.

    A comparison is 0 for NaN, and so gives b; a maximum gives NaN. They agree where a is a number.

    Args:
        has_nan: a and b may be NaN.
    """
    known = number_of(condition)
    if known is not None:
        return a if known else b
    if a == b:
        return a
    if isinstance(condition, Call) and condition.function in ("lt", "le"):
        less, more = condition.arguments
        agree = not has_nan or number_of(a) is not None
        if (less, more) == (a, b) and agree:
            return call("min", a, b)
        if (less, more) == (b, a) and agree:
            return call("max", a, b)
        if number_of(less) == 0 and more == a and (slope := _slope(b, a)) is not None:
            return Call("leaky_relu", (a, Literal(slope)))
        if number_of(more) == 0 and less == b and (slope := _slope(a, b)) is not None:
            return Call("leaky_relu", (b, Literal(slope)))
    return Call("select", (condition, a, b))


def simplified(expr: Expr) -> Expr:
    """An expression with what is known of its numbers."""

    def change(node: Expr) -> Expr:
        match node:
            case Add(left, right):
                return sum_of(left, right)
            case Sub(Literal(value=a), Literal(value=b)):
                return Literal(a - b)
            case Mul(Literal(value=a), Literal(value=b)):
                return Literal(a * b)
            case Div(Literal() as left, right):
                return quotient(left, right) if isinstance(right, Literal) else node
            case Call("select", (condition, yes, no)):
                return selected(condition, yes, no)
            case Call(function, arguments) if all(isinstance(a, Literal) for a in arguments):
                return call(function, *arguments)
        return node

    return rewritten(expr, change)


def _slope(expr: Expr, x: Expr) -> float | None:
    """The number, but zero, that x is multiplied by in an expression."""
    if isinstance(expr, Mul):
        for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if one == x:
                return number_of(other) or None
    return None
