"""A walk from the start of a fiber to its end, both of which come in streams."""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring

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


def walk_between(
    m: Module,
    starts: wiring.PureInterface,
    ends: wiring.PureInterface,
    start: ValueLike | None = None,
) -> Between:
    """A walk over two streams in lockstep, from one position to before another.

    Args:
        m: becomes its home, as `m.submodules.walk`.
        starts, ends: streams of tokens, such as outputs of FIFOs.
        start: where each fiber starts, if that is not what `starts` says.
    """
    m.submodules.walk = walk = Walk()
    walk.feed(m, starts)
    m.d.comb += ends.ready.eq(walk.head.ready)
    s = starts.payload.payload if start is None else Value.cast(start)
    e = ends.payload.payload
    width = len(e)
    # Behind the first coordinate, the position s + c and whether it is the last are made a cycle ahead.
    following = Signal(width)
    following_is_last = Signal()
    position = Signal(width)
    m.d.comb += [
        position.eq(Mux(walk.first, s, following)),
        walk.empty.eq(s == e),
        walk.last.eq(Mux(walk.first, _follows(e, s), following_is_last)),
    ]
    with m.If(walk.step):
        m.d.sync += [following.eq(position + 1), following_is_last.eq(_follows_by_two(e, position))]
    at_fiber = starts.valid & (starts.payload.kind == TokenKind.VAL)
    return Between(walk, at_fiber, position, at_fiber & (s > e))


def _follows_by_two(b: Value, a: Value) -> Value:
    """b = a + 2."""
    return (a[0] == b[0]) & _follows(b[1:], a[1:])


def _follows(b: Value, a: Value) -> Value:
    """b = a + 1, without a carry chain: with all right below, a bit carries if a has a 1 there and b a 0."""
    return (a ^ b) == Cat(1, (a & ~b)[:-1])
