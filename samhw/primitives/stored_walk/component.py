"""The walk over stored coordinates, from the start of a fiber to its end."""

from typing import NamedTuple

from amaranth.hdl import Const, Module, Mux, Signal, Value, ValueLike

from samhw.graph import Arch
from samhw.primitives.fetch.component import Pair
from samhw.primitives.walk.component import Walk
from samhw.rtl.access import reading
from samhw.rtl.actor import Primitive
from samhw.rtl.logic import follows
from samhw.rtl.output import Output
from samhw.rtl.token import TokenKind
from samhw.rtl.units.unit import delayed

__all__ = ["Between", "StoredWalk", "check_coordinates", "walk_between", "walk_stored"]


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
    there: Value = starts.valid if pair.together else starts.valid & ends.valid
    walk.feed(m, starts, there)
    m.d.comb += ends.ready.eq(walk.head.ready)
    e = ends.payload.payload
    width = len(e)
    s = Const(0, width) if pair.from_zero else starts.payload.payload
    # After the first coordinate, the position s + c and whether it is the last are made a cycle ahead.
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
    at_fiber = there & (starts.payload.kind == TokenKind.VAL)
    return Between(walk, at_fiber, position, at_fiber & (s > e))


def _follows_by_two(b: Value, a: Value) -> Value:
    """b = a + 2."""
    return (a[0] == b[0]) & follows(b[1:], a[1:])


def check_coordinates(
    m: Module, coordinate: Value, *, used: Value, extent: Value, first: ValueLike = 1
) -> tuple[Value, Value]:
    """Whether a stored coordinate lies beyond its extent, and whether it does not increase.

    Both a cycle later, so that no comparison lies after the memory.

    Args:
        coordinate: what the memory answers.
        used: it is the answer for a coordinate that is pushed.
        first: that coordinate is the first one of its fiber.
    """
    here = Signal()
    follows = Signal()
    last = Signal.like(coordinate)
    before = Signal.like(coordinate)
    m.d.sync += here.eq(used)
    with m.If(used):
        m.d.sync += [last.eq(coordinate), before.eq(last), follows.eq(~Value.cast(first))]
    return here & (last >= extent), here & follows & (last <= before)


class StoredWalk(NamedTuple):
    """What such a walk tells the scanner around it."""

    fired: Value
    range: Value
    protocol: Value


def walk_stored(
    m: Module,
    scanner: Primitive,
    pair: Pair,
    arch: Arch,
    crd_capacity: Value | int,
) -> StoredWalk:
    """A walk that drives the outputs `crd` and `ref` of a scanner, and reads its memory `mem_crd`."""
    width = arch.index_bits
    walk, at_fiber, position, is_backwards = walk_between(m, pair)
    m.submodules.crd = crd = Output(width, latency=arch.memory, registers=1, zeros=False)
    m.submodules.ref = ref = Output(width, latency=arch.step, zeros=False)
    (memory,) = scanner.memory_ports("crd")
    read = reading(memory, crd, addr=position, note=walk.first)
    walk.drive(m, scanner.o, crd, ref, crd_sink=read.i)
    m.d.comb += [*read.joins, crd.result.eq(read.data), ref.result.eq(position)]
    beyond = Signal()
    backwards = Signal()
    m.d.sync += [
        beyond.eq(at_fiber & ~walk.empty & ~is_backwards & (position >= crd_capacity)),
        backwards.eq(is_backwards),
    ]
    extent: Value = getattr(scanner, "extent")  # noqa: B009
    # What is checked has left the memory's register, if there is one, so that the memory feeds nothing else.
    used = read.counts(crd.o.strobe & (crd.o.token.kind == TokenKind.VAL))
    beyond_extent, disordered = check_coordinates(
        m, crd.o.token.payload, used=used, extent=extent, first=delayed(m, read.note, arch.memory - 1)
    )
    return StoredWalk(walk.fired, beyond | beyond_extent, backwards | disordered)
