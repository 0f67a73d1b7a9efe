"""scan_compressed: the stored coordinates of a compressed level."""

from typing import Self

from amaranth.hdl import Elaboratable, Module
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.primitives.fetch.component import fetch_ends
from samhw.primitives.stored_walk.component import walk_stored
from samhw.rtl.access import MemoryAccess, read_member
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.site import Site
from samhw.rtl.token import token_layout

__all__ = ["ScanCompressed"]


class ScanCompressed(Primitive):
    """In `ref`, out `crd` and `ref`: the actors *fetch* and *walk*.

    Args:
        pos_capacity, crd_capacity: words of the memories.

    Members:
        mem_pos, mem_pos_next: two read ports of `pos`, for the start and the end of a fiber.
        mem_crd: a read port of `crd`.
        extent: beyond all coordinates; stable while there are tokens.
    """

    def __init__(
        self,
        *,
        arch: Arch,
        pos_capacity: int,
        crd_capacity: int,
        pos: MemoryAccess = MemoryAccess.CHIP,
        crd: MemoryAccess = MemoryAccess.CHIP,
    ):
        self.arch = arch
        self.pos_capacity = pos_capacity
        self.crd_capacity = crd_capacity
        index = token_layout(arch.index_bits)
        ends = read_member(pos, pos_capacity, arch.index_bits)
        super().__init__(
            {"ref": index},
            {"crd": index, "ref": index},
            {
                "mem_pos": ends,
                "mem_pos_next": ends,
                "mem_crd": read_member(crd, crd_capacity, arch.index_bits, note=1),
                "extent": In(arch.index_bits),
            },
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            pos_capacity=site.capacity("pos"),
            crd_capacity=site.capacity("crd"),
            **site.accesses,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        fetch = fetch_ends(m, self, self.arch, self.limit("pos"))
        walk = walk_stored(m, self, fetch.ends, self.arch, self.limit("crd"))
        m.d.comb += [
            self.fired.eq(fetch.ends.table.fired | walk.fired),
            self.error.eq(error_bits(range=fetch.range | walk.range, protocol=walk.protocol)),
        ]
        return m
