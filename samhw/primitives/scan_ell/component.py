"""scan_ell: the coordinates in the room that an ell level has for each fiber."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from samhw.graph import Arch
from samhw.primitives.fetch.component import fetch_pair
from samhw.primitives.stored_walk.component import walk_stored
from samhw.rtl.actor import MemoryReadSignature, Primitive, error_bits
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, token_layout

__all__ = ["ScanEll"]


class ScanEll(Primitive):
    """In `ref`, out `crd` and `ref`: the actors *fetch* and *walk*.

    Args:
        width: w, the room of a fiber.
        cnt_capacity, crd_capacity: words of the memories.

    Members:
        mem_cnt: a read port of `cnt`.
        mem_crd: a read port of `crd`.
        extent: beyond all coordinates; stable while there are tokens.
    """

    def __init__(self, *, arch: Arch, width: int, cnt_capacity: int, crd_capacity: int):
        self.arch = arch
        self.width = width
        self.cnt_capacity = cnt_capacity
        self.crd_capacity = crd_capacity
        index = token_layout(arch.index_bits)
        cnt = MemoryReadSignature(ceil_log2(cnt_capacity), arch.index_bits)
        crd = MemoryReadSignature(ceil_log2(crd_capacity), arch.index_bits)
        super().__init__(
            {"ref": index},
            {"crd": index, "ref": index},
            {"mem_cnt": Out(cnt), "mem_crd": Out(crd), "extent": In(arch.index_bits)},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            width=site.params["width"],
            cnt_capacity=site.capacity("cnt"),
            crd_capacity=site.capacity("crd"),
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        latency = self.arch.memory + self.arch.step
        pair = fetch_pair(m, self, self.arch, latency=latency, registers=2)
        fiber = self.i.ref.payload
        is_fiber = self.i.ref.valid & (fiber.kind == TokenKind.VAL)
        late, start, count = (Signal(self.arch.index_bits, reset_less=True) for _ in range(3))
        beyond, asked, counted, too_many = (Signal() for _ in range(4))
        m.d.sync += [
            late.eq(fiber.payload),
            start.eq(late * self.width),
            count.eq(self.mem_cnt.data),
            beyond.eq(is_fiber & (fiber.payload >= self.cnt_capacity)),
            asked.eq(is_fiber),
            counted.eq(asked),
            # Of the register, as no comparison lies after the memory.
            too_many.eq(counted & (count > self.width)),
        ]
        walk = walk_stored(m, self, pair, self.arch, self.crd_capacity)
        m.d.comb += [
            self.mem_cnt.addr.eq(fiber.payload),
            self.mem_cnt.en.eq(1),
            pair.first.result.eq(start),
            pair.second.result.eq(start + count),
            self.fired.eq(pair.table.fired | walk.fired),
            self.error.eq(error_bits(range=beyond | too_many | walk.range, protocol=walk.protocol)),
        ]
        return m
