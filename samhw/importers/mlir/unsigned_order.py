"""The order of words as numbers from 0 on, where programs have them with their signs."""

from collections.abc import Callable

from samhw.importers.mlir.idioms import call, difference, number_of, product, selected, sum_of
from samhw.lang.expr import Call, Expr, Literal

__all__ = ["UNSIGNED", "flipped", "less_unsigned", "unsigned_extreme"]

UNSIGNED = {"max": "maxui", "min": "minui"}
"""The functions that stand for the greater and the lesser word in expressions, until `unsigned_extreme`."""


def less_unsigned(name: str, a: Expr, b: Expr, least: Callable[[Expr], float]) -> Expr:
    """A condition: whether one word comes before another one. Among words of one sign, the order is that of
    the numbers; otherwise the negative one is the greater.

    Args:
        name: `lt` or `le`.
        least: gives a number that an expression is not below.
    """
    if least(a) >= 0 and least(b) >= 0:
        return call(name, a, b)
    zero = Literal(0)
    if least(a) >= 0:
        return call("max", call("lt", b, zero), call(name, a, b))
    if least(b) >= 0:
        return product(call("le", zero, a), call(name, a, b))
    a_negative, b_negative = call("lt", a, zero), call("lt", b, zero)
    return selected(call("eq", a_negative, b_negative), call(name, a, b), b_negative)


def unsigned_extreme(expr: Expr) -> Expr:
    """The greater or the lesser word, made of what programs have."""
    if not isinstance(expr, Call) or expr.function not in UNSIGNED.values():
        return expr
    a, b, _ = expr.arguments
    first = less_unsigned("lt", a, b, _least)
    if (number := number_of(first)) is not None:
        first_is_less = bool(number)
        return b if first_is_less == (expr.function == UNSIGNED["max"]) else a
    return Call("select", (first, b, a) if expr.function == UNSIGNED["max"] else (first, a, b))


def _least(expr: Expr) -> float:
    number = number_of(expr)
    return -1 if number is None else number


def flipped(x: Expr, width: int) -> Expr:
    """A word with its highest bit inverted: so the order of signed numbers becomes that of unsigned ones, and
    the other way round."""
    rest, one = Literal((1 << width - 1) - 1), Literal(1)
    # Both branches are computed, and must not leave the range.
    negative = sum_of(sum_of(call("min", x, Literal(-1)), rest), one)
    other = difference(difference(call("max", x, Literal(0)), rest), one)
    return selected(call("lt", x, Literal(0)), negative, other)
