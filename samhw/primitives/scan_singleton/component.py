"""scan_singleton: the one coordinate of each fiber of a singleton (COO) level."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.primitives.stored_walk.component import check_coordinates
from samhw.primitives.walk.component import Walk
from samhw.rtl.access import MemoryAccess, read_member, reading
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, token_layout

__all__ = ["ScanSingleton"]


class ScanSingleton(Primitive):
    """In `ref`, out `crd` and `ref`: *walk* over `ref` itself.

    Args:
        crd_capacity: words of the memory at `mem_crd`.

    Members:
        extent: beyond all coordinates; stable while there are tokens.
    """

    def __init__(self, *, arch: Arch, crd_capacity: int, crd: MemoryAccess = MemoryAccess.CHIP):
        self.arch = arch
        self.crd_capacity = crd_capacity
        index = token_layout(arch.index_bits)
        super().__init__(
            {"ref": index},
            {"crd": index, "ref": index},
            {
                "mem_crd": read_member(crd, crd_capacity, arch.index_bits),
                "extent": In(arch.index_bits),
            },
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, crd_capacity=site.capacity("crd"), **site.accesses)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = self.arch.index_bits
        m.submodules.walk = walk = Walk()
        m.submodules.crd = crd = Output(width, latency=self.arch.memory, registers=1, zeros=False)
        m.submodules.ref = ref = Output(width, latency=self.arch.step, zeros=False)
        walk.feed(m, self.i.ref)
        head = self.i.ref.payload
        read = reading(self.mem_crd, crd, addr=head.payload)
        walk.drive(m, self.o, crd, ref, crd_sink=read.i)
        reference = head.payload
        beyond = Signal()
        m.d.sync += beyond.eq(
            self.i.ref.valid & (head.kind == TokenKind.VAL) & (reference >= self.limit("crd"))
        )
        beyond_extent, _ = check_coordinates(m, read.data, used=read.counts(crd.used), extent=self.extent)
        m.d.comb += [
            walk.empty.eq(0),
            walk.last.eq(1),
            *read.joins,
            crd.result.eq(read.data),
            ref.result.eq(reference),
            self.fired.eq(walk.fired),
            self.error.eq(error_bits(range=beyond | beyond_extent)),
        ]
        return m
