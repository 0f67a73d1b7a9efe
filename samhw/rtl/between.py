"""A walk from the start of a fiber to its end, both of which come in streams."""

from typing import NamedTuple

from amaranth.hdl import Const, Module, Mux, Signal, Value

from samhw.rtl.fetch import Pair
from samhw.rtl.logic import follows
from samhw.rtl.token import TokenKind
from samhw.rtl.walk import Walk

__all__ = ["Between", "walk_between"]


class Between(NamedTuple):
    """What a scanner builds on."""

    walk: Walk
    at_fiber: Value
    """The heads stand for a fiber."""
    position: Value
    """Of the coordinate that is pushed next."""
    backwards: Value
    """The fiber ends before it starts."""


def walk_between(m: Module, pair: Pair) -> Between:
    """A walk over two streams in lockstep, from one position to before another.

    Args:
        m: becomes its home, as `m.submodules.walk`.
        pair: where each fiber starts, and where it ends.
    """
    starts, ends = pair.firsts, pair.seconds
    m.submodules.walk = walk = Walk()
    walk.feed(m, starts)
    m.d.comb += ends.ready.eq(walk.head.ready)
    e = ends.payload.payload
    width = len(e)
    s = Const(0, width) if pair.from_zero else starts.payload.payload
    # Behind the first coordinate, the position s + c and whether it is the last are made a cycle ahead.
    following = Signal(width)
    following_is_last = Signal()
    position = Signal(width)
    m.d.comb += [
        position.eq(Mux(walk.first, s, following)),
        walk.empty.eq(pair.empty),
        walk.last.eq(Mux(walk.first, pair.single, following_is_last)),
    ]
    with m.If(walk.step):
        m.d.sync += [following.eq(position + 1), following_is_last.eq(_follows_by_two(e, position))]
    at_fiber = starts.valid & (starts.payload.kind == TokenKind.VAL)
    return Between(walk, at_fiber, position, at_fiber & (s > e))


def _follows_by_two(b: Value, a: Value) -> Value:
    """b = a + 2."""
    return (a[0] == b[0]) & follows(b[1:], a[1:])
