"""scan_ragged: the coordinates below the length of each fiber of a ragged level."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.primitives.fetch.component import fetch_ends
from samhw.primitives.stored_walk.component import walk_between
from samhw.rtl.access import MemoryAccess, read_member
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import token_layout

__all__ = ["ScanRagged"]


class ScanRagged(Primitive):
    """In `ref`, out `crd` and `ref`: the actors *fetch* and *walk*.

    Args:
        pos_capacity: words of the memory.

    Members:
        mem_pos, mem_pos_next: two read ports of `pos`, for the start and the end of a fiber.
        extent: beyond all coordinates; stable while there are tokens.
    """

    def __init__(self, *, arch: Arch, pos_capacity: int, pos: MemoryAccess = MemoryAccess.CHIP):
        self.arch = arch
        self.pos_capacity = pos_capacity
        index = token_layout(arch.index_bits)
        ends = read_member(pos, pos_capacity, arch.index_bits)
        super().__init__(
            {"ref": index},
            {"crd": index, "ref": index},
            {"mem_pos": ends, "mem_pos_next": ends, "extent": In(arch.index_bits)},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, pos_capacity=site.capacity("pos"), **site.accesses)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = self.arch.index_bits
        fetch = fetch_ends(m, self, self.arch, self.limit("pos"))
        walk, at_fiber, position, is_backwards = walk_between(m, fetch.ends)
        m.submodules.crd = crd = Output(width, latency=self.arch.step, zeros=False)
        m.submodules.ref = ref = Output(width, latency=self.arch.step, zeros=False)
        walk.drive(m, self.o, crd, ref)
        next_number = Signal(width)
        c = Signal(width)
        beyond = Signal()
        backwards = Signal()
        with m.If(walk.step):
            m.d.sync += next_number.eq(c + 1)
        m.d.sync += [
            beyond.eq(at_fiber & ~walk.empty & ~is_backwards & (c >= self.extent)),
            backwards.eq(is_backwards),
        ]
        m.d.comb += [
            c.eq(Mux(walk.first, 0, next_number)),
            crd.result.eq(c),
            ref.result.eq(position),
            self.fired.eq(fetch.ends.table.fired | walk.fired),
            self.error.eq(error_bits(range=fetch.range | beyond, protocol=backwards)),
        ]
        return m
