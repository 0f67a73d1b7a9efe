"""Conjunction and disjunction of any number of conditions."""

from collections.abc import Callable, Iterable
from operator import and_, or_

from amaranth.hdl import Const, Value

__all__ = ["all_of", "any_of"]


def all_of(conditions: Iterable[Value]) -> Value:
    """Their conjunction; true if there are none."""
    return _tree(and_, list(conditions) or [Const(1)])


def any_of(conditions: Iterable[Value]) -> Value:
    """Their disjunction, bit by bit; false if there are none."""
    return _tree(or_, list(conditions) or [Const(0)])


def _tree(operation: Callable[[Value, Value], Value], values: list[Value]) -> Value:
    """A tree and not a chain, since Amaranth walks expressions by recursion, and a top level has a term for
    each of its nodes."""
    while len(values) > 1:
        pairs = [operation(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[len(values) & ~1 :]
    return values[0]
