"""The walk over stored coordinates, from the start of a fiber to its end."""

from typing import NamedTuple

from amaranth.hdl import Module, Signal, Value

from samhw.graph import Arch
from samhw.rtl.actor import Primitive
from samhw.rtl.between import walk_between
from samhw.rtl.coordinates import check_coordinates
from samhw.rtl.fetch import Pair
from samhw.rtl.output import Output
from samhw.rtl.token import TokenKind
from samhw.rtl.units.pipeline import delayed

__all__ = ["StoredWalk", "walk_stored"]


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
    crd_capacity: int,
) -> StoredWalk:
    """A walk that drives the outputs `crd` and `ref` of a scanner, and reads its memory `mem_crd`."""
    width = arch.index_bits
    walk, at_fiber, position, is_backwards = walk_between(m, pair)
    m.submodules.crd = crd = Output(width, latency=arch.memory, registers=1)
    m.submodules.ref = ref = Output(width, latency=arch.step)
    walk.drive(m, scanner.o, crd, ref)
    memory = scanner.memory_ports("crd")[0]
    m.d.comb += [
        memory.addr.eq(position),
        memory.en.eq(1),
        crd.result.eq(memory.data),
        ref.result.eq(position),
    ]
    beyond = Signal()
    backwards = Signal()
    m.d.sync += [
        beyond.eq(at_fiber & ~walk.empty & ~is_backwards & (position >= crd_capacity)),
        backwards.eq(is_backwards),
    ]
    extent: Value = getattr(scanner, "extent")  # noqa: B009
    # What is checked has left the memory's register, if there is one, so that the memory feeds nothing else.
    used = crd.o.strobe & (crd.o.token.kind == TokenKind.VAL)
    beyond_extent, disordered = check_coordinates(
        m, crd.o.token.payload, used=used, extent=extent, first=delayed(m, walk.first, arch.memory - 1)
    )
    return StoredWalk(walk.fired, beyond | beyond_extent, backwards | disordered)
