"""Functions that expressions have while a body is read, and programs do not: what becomes of them.

The greater and the lesser of two words without their signs, and of two numbers of which NaN is none, stand as
one function each, since a reduction may begin with a word, or a number, that makes it simpler.
"""

import math
from collections.abc import Callable

from samhw.importers.mlir.idioms import ERF, call, difference, number_of, product, selected, sum_of
from samhw.lang.expr import Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.traverse import rewritten

__all__ = [
    "NUMBERS_ONLY",
    "UNSIGNED",
    "flipped",
    "less_unsigned",
    "numbers_only",
    "or_infinite",
    "unsigned_extreme",
    "with_erf",
]

NUMBERS_ONLY = {"max": "maxnum", "min": "minnum"}
"""The maximum and the minimum of numbers, to which NaN is none."""
UNSIGNED = {"max": "maxui", "min": "minui"}
"""The greater and the lesser word."""

_SERIES = 2 / math.sqrt(math.pi)
_NEXT_TO_ZERO = 1 / 32
"""Where two terms of the series of the error function are enough."""


def numbers_only(expr: Expr) -> Expr:
    """A maximum or minimum that passes over NaN, made of what programs have."""
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
    first = less_unsigned("lt", a, b, lambda x: -1 if (number := number_of(x)) is None else number)
    greater = expr.function == UNSIGNED["max"]
    if (known := number_of(first)) is not None:
        return b if bool(known) == greater else a
    return Call("select", (first, b, a) if greater else (first, a, b))


def flipped(x: Expr, width: int) -> Expr:
    """A word with its highest bit inverted: so the order of signed numbers becomes that of unsigned ones, and
    the other way round."""
    rest, one = Literal((1 << width - 1) - 1), Literal(1)
    # Both branches are computed, and must not leave the range.
    negative = sum_of(sum_of(call("min", x, Literal(-1)), rest), one)
    other = difference(difference(call("max", x, Literal(0)), rest), one)
    return selected(call("lt", x, Literal(0)), negative, other)


def with_erf(expr: Expr) -> Expr:
    """The expression with each error function made of what programs have: erf(x) is 1 - 2 gelu(-y) / -y for x
    above zero, with y = x sqrt(2), and its negative below. gelu(-y) / -y goes to zero for infinity. Next to
    zero, where the difference would have few digits, it is 2 / sqrt(pi) (x - x^3 / 3)."""

    def change(node: Expr) -> Expr:
        if not isinstance(node, Call) or node.function != ERF:
            return node
        (x,) = node.arguments
        size = call("abs", x)
        y = Mul(size, Literal(-math.sqrt(2)))
        far = Sub(Literal(1), Mul(Literal(2), Div(Call("gelu", (y,)), y)))
        sign = Call("select", (Call("lt", (x, Literal(0))), Literal(-1), Literal(1)))
        near = Mul(x, Sub(Literal(_SERIES), Mul(Literal(_SERIES / 3), Mul(x, x))))
        is_near = Call("lt", (size, Literal(_NEXT_TO_ZERO)))
        return Call("select", (is_near, near, Mul(sign, far)))

    return rewritten(expr, change)
