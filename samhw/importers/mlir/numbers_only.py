"""Maximum and minimum of numbers, to which NaN is none."""

from samhw.importers.mlir.idioms import call, number_of, selected
from samhw.lang.expr import Call, Expr, Literal, Mul, Neg

__all__ = ["NUMBERS_ONLY", "numbers_only", "or_infinite"]

NUMBERS_ONLY = {"max": "maxnum", "min": "minnum"}
"""The functions that stand for them in expressions, until `numbers_only`."""


def numbers_only(expr: Expr) -> Expr:
    """Such a maximum or minimum, made of what programs have."""
    if not isinstance(expr, Call) or expr.function not in NUMBERS_ONLY.values():
        return expr
    kind = "max" if expr.function == NUMBERS_ONLY["max"] else "min"
    a, b = expr.arguments
    for one, other in ((a, b), (b, a)):
        if number_of(other) is not None:
            return selected(call("eq", one, one), call(kind, one, other), other)
    first = call("le", b, a) if kind == "max" else call("le", a, b)
    return Call("select", (call("eq", b, b), Call("select", (first, a, b)), a))


def or_infinite(kind: str, x: Expr) -> Expr:
    """x, and for NaN the infinity that a maximum or minimum of x and others passes over."""
    infinite = Call("reciprocal", (Call("abs", (Mul(x, Literal(0)),)),))  # Zero times NaN is zero.
    return Call("select", (call("eq", x, x), x, Neg(infinite) if kind == "max" else infinite))
