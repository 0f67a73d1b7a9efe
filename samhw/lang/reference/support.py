"""Where an expression may be anything but zero."""

from collections.abc import Mapping
from functools import cache

from samhw.lang import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.reference.join import intersection, union_of
from samhw.lang.reference.relation import Points, Relation
from samhw.lang.reference.values import VALUES
from samhw.lang.traverse import factors_of

__all__ = ["support"]


def support(expr: Expr, leaves: Mapping[Access, Relation], extents: Mapping[str, int]) -> Points:
    """Points outside of which an expression is zero, by what is stored: nothing is assumed to cancel."""

    def of(expr: Expr) -> Points:
        match expr:
            case Access():
                return leaves[expr].points
            case Literal(value):
                return Points.everything() if value else Points.nothing()
            case Neg(operand):
                return of(operand)
            case Mul():
                return intersection([of(factor) for factor in factors_of(expr)], extents)
            case Div(left, _):
                return of(left)
            case Add(left, right) | Sub(left, right):
                return union_of([of(left), of(right)], extents)
            case Call("select", (_, a, b)):
                return union_of([of(a), of(b)], extents)
            case Call(function, arguments):
                numbers = tuple(a.value if isinstance(a, Literal) else 0 for a in arguments)
                if not _vanishes(function, numbers):
                    return Points.everything()
                return union_of([of(a) for a in arguments if not isinstance(a, Literal)], extents)
        raise TypeError(f"'{expr}' has no elements")

    return of(expr)


@cache
def _vanishes(function: str, arguments: tuple[int | float, ...]) -> bool:
    """Whether a function is zero there."""
    return bool(VALUES.call(function, [VALUES.number(argument) for argument in arguments]) == 0)
