"""Conjunction and disjunction of any number of conditions."""

from collections.abc import Iterable
from functools import reduce
from operator import and_, or_

from amaranth.hdl import Const, Value

__all__ = ["all_of", "any_of"]


def all_of(conditions: Iterable[Value]) -> Value:
    """Their conjunction; true if there are none."""
    return reduce(and_, conditions, Const(1))


def any_of(conditions: Iterable[Value]) -> Value:
    """Their disjunction, bit by bit; false if there are none."""
    return reduce(or_, conditions, Const(0))
