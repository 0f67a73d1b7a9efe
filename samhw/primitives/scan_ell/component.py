"""scan_ell: the coordinates in the room that an ell level has for each fiber."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.primitives.fetch.component import fetch_pair
from samhw.primitives.stored_walk.component import walk_stored
from samhw.rtl.access import MemoryAccess, Reading, read_member, reading
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, token_layout
from samhw.rtl.units.unit import delayed

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

    def __init__(
        self,
        *,
        arch: Arch,
        width: int,
        cnt_capacity: int,
        crd_capacity: int,
        cnt: MemoryAccess = MemoryAccess.CHIP,
        crd: MemoryAccess = MemoryAccess.CHIP,
    ):
        self.arch = arch
        self.width = width
        self.cnt_capacity = cnt_capacity
        self.crd_capacity = crd_capacity
        index = token_layout(arch.index_bits)
        super().__init__(
            {"ref": index},
            {"crd": index, "ref": index},
            {
                "mem_cnt": read_member(cnt, cnt_capacity, arch.index_bits, note=arch.index_bits),
                "mem_crd": read_member(crd, crd_capacity, arch.index_bits, note=1),
                "extent": In(arch.index_bits),
            },
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            width=site.params["width"],
            cnt_capacity=site.capacity("cnt"),
            crd_capacity=site.capacity("crd"),
            **site.accesses,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        latency = self.arch.memory + self.arch.step
        fiber = self.i.ref.payload
        number = fiber.payload
        is_fiber = self.i.ref.valid & (fiber.kind == TokenKind.VAL)
        found: list[Reading] = []

        def sinks(first: Output, second: Output) -> tuple[wiring.PureInterface, wiring.PureInterface]:
            found.append(reading(self.mem_cnt, second, addr=fiber.payload, note=number, asked=is_fiber))
            return first.i, found[0].i

        pair = fetch_pair(m, self, self.arch, latency=latency, registers=2, sinks=sinks)
        (read,) = found
        late = Signal(self.arch.index_bits, reset_less=True)
        start = Signal(self.arch.index_bits, reset_less=True)
        count = Signal(self.arch.index_bits, reset_less=True)
        beyond = Signal()
        asked = Signal()
        counted = Signal()
        too_many = Signal()
        m.d.sync += [
            late.eq(number),
            start.eq(late * self.width),
            count.eq(read.data),
            beyond.eq(is_fiber & (fiber.payload >= self.limit("cnt"))),
            asked.eq(read.asked),
            counted.eq(asked),
            # Of the register, as no comparison lies after the memory.
            too_many.eq(counted & (count > self.width)),
        ]
        # Where counts come late, that of another fiber.
        begin = start if read.note is number else delayed(m, delayed(m, read.note) * self.width)
        walk = walk_stored(m, self, pair, self.arch, self.limit("crd"))
        m.d.comb += [
            *read.joins,
            pair.first.result.eq(start),
            pair.second.result.eq(begin + count),
            self.fired.eq(pair.table.fired | walk.fired),
            self.error.eq(error_bits(range=beyond | too_many | walk.range, protocol=walk.protocol)),
        ]
        return m
