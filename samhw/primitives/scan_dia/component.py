"""scan_dia: the coordinates of each row that lie on stored diagonals."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from samhw.graph import Arch
from samhw.primitives.fetch.component import Pair, fetch_pair
from samhw.primitives.stored_walk.component import check_coordinates, walk_between
from samhw.rtl.access import MemoryReadSignature
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, make_token, token_layout

__all__ = ["ScanDia"]


class ScanDia(Primitive):
    """In `ref`, out `crd` and `ref`: the actors *fetch*, *walk* and *keep*.

    Args:
        cnt_capacity, off_capacity: words of the memories.

    Members:
        mem_cnt: a read port of `cnt`.
        mem_off: a read port of `off`.
        rows: how far the values of a diagonal lie from those of the next one.
        extent: beyond all coordinates; both stable while there are tokens.
    """

    def __init__(self, *, arch: Arch, cnt_capacity: int, off_capacity: int):
        self.arch = arch
        self.off_capacity = off_capacity
        index = token_layout(arch.index_bits)
        cnt = MemoryReadSignature(ceil_log2(cnt_capacity), arch.index_bits)
        off = MemoryReadSignature(ceil_log2(off_capacity), arch.index_bits)
        super().__init__(
            {"ref": index},
            {"crd": index, "ref": index},
            {
                "mem_cnt": Out(cnt),
                "mem_off": Out(off),
                "rows": In(arch.index_bits),
                "extent": In(arch.index_bits),
            },
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, cnt_capacity=site.capacity("cnt"), off_capacity=site.capacity("off"))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = self.arch.index_bits
        pair = fetch_pair(m, self, self.arch, latency=self.arch.memory, registers=1, from_zero=True)
        row = Signal(width, reset_less=True)
        m.d.sync += row.eq(self.i.ref.payload.payload)
        m.d.comb += [
            self.mem_cnt.addr.eq(0),
            self.mem_cnt.en.eq(1),
            pair.first.result.eq(row),
            pair.second.result.eq(self.mem_cnt.data),
        ]
        ats, places, walk_fired, beyond = self._walk(m, pair)
        keep_fired, disordered = self._keep(m, ats, places)
        m.d.comb += [
            self.fired.eq(pair.table.fired | walk_fired | keep_fired),
            self.error.eq(error_bits(range=beyond, protocol=disordered)),
        ]
        return m

    def _walk(
        self, m: Module, pair: Pair
    ) -> tuple[wiring.PureInterface, wiring.PureInterface, Signal, Signal]:
        """The streams `at` and `place`, whether it fires, and whether it reads beyond `off`."""
        width = self.arch.index_bits
        latency = self.arch.memory + self.arch.step
        walk, at_fiber, number, _ = walk_between(m, pair)
        m.submodules.at = at = Output(width, latency=latency, registers=2, zeros=False)
        m.submodules.place = place = Output(width, latency=latency, registers=2, zeros=False)
        m.submodules.ats = ats = Fifo(token_layout(width), self.arch.internal_depth(latency))
        m.submodules.places = places = Fifo(token_layout(width), self.arch.internal_depth(latency))
        for output, pushed, channel in ((at, walk.crd, ats), (place, walk.ref, places)):
            wiring.connect(m, pushed, output.i)
            wiring.connect(m, output.o, channel.i)
        r = pair.firsts.payload.payload
        next_place = Signal(width)
        position = Signal(width)
        late_row = Signal(width)
        positions = [Signal(width, name=f"position{n}") for n in (1, 2)]
        coordinate = Signal(width)
        beyond = Signal()
        m.d.comb += [
            self.mem_off.addr.eq(number),
            self.mem_off.en.eq(1),
            position.eq(Mux(walk.first, r, next_place)),
            at.result.eq(coordinate),
            place.result.eq(positions[1]),
        ]
        with m.If(walk.step):
            m.d.sync += next_place.eq(position + self.rows)
        m.d.sync += [
            late_row.eq(r),
            coordinate.eq(late_row + self.mem_off.data),
            positions[0].eq(position),
            positions[1].eq(positions[0]),
            beyond.eq(at_fiber & ~walk.empty & (number >= self.limit("off"))),
        ]
        return ats.o, places.o, walk.fired, beyond

    def _keep(
        self, m: Module, ats: wiring.PureInterface, places: wiring.PureInterface
    ) -> tuple[Signal, Signal]:
        """Whether it fires, and whether what it keeps does not increase."""
        width = self.arch.index_bits
        m.submodules.crd = crd = Output(width, latency=self.arch.step, zeros=False)
        m.submodules.ref = ref = Output(width, latency=self.arch.step, zeros=False)
        wiring.connect(m, crd.o, wiring.flipped(self.o.crd))
        wiring.connect(m, ref.o, wiring.flipped(self.o.ref))
        head = ats.payload
        is_kept = (head.kind != TokenKind.VAL) | (head.payload < self.extent)
        token = make_token(head.kind, head.payload[:8])
        table = FiringTable(m, [ats, places], actor="keep")
        first = Signal(init=1)
        with table.row(
            takes=[ats, places],
            pushes={crd.i: token, ref.i: token},
            pushes_if={crd.i: is_kept, ref.i: is_kept},
        ):
            with m.If(is_kept):
                m.d.sync += first.eq(head.kind != TokenKind.VAL)
        _, disordered = check_coordinates(m, head.payload, used=crd.used, extent=self.extent, first=first)
        m.d.comb += [crd.result.eq(head.payload), ref.result.eq(places.payload.payload)]
        return table.fired, disordered
