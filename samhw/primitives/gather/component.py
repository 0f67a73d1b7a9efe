"""gather: collects in turn what lanes have made of what was distributed to them."""

from typing import Self

from amaranth.hdl import Array, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import all_of
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, make_token, stop_hi, stop_lo, stop_token, token_layout

__all__ = ["Gather"]


class Gather(Primitive):
    """In `ref<lane>`, of `lanes` lanes; out `ref`. A row has `levels` levels."""

    def __init__(self, *, arch: Arch, lanes: int, levels: int, payload_width: int):
        self.arch = arch
        self.lanes = lanes
        self.levels = levels
        self.payload_width = payload_width
        layout = token_layout(payload_width)
        super().__init__({f"ref{lane}": layout for lane in range(lanes)}, {"ref": layout})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            lanes=site.params["lanes"],
            levels=site.params["levels"],
            payload_width=site.width("ref0"),
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        levels, last = self.levels, self.lanes - 1
        inputs = [getattr(self.i, f"ref{lane}") for lane in range(self.lanes)]
        m.submodules.ref = ref = Output(self.payload_width, latency=self.arch.step)
        wiring.connect(m, ref.o, wiring.flipped(self.o.ref))

        turn = Signal(range(self.lanes))
        behind = Signal(range(self.lanes))
        over = Signal(self.lanes)  # lanes whose last row has been taken
        head = Signal(token_layout(self.payload_width))
        m.d.comb += [
            behind.eq(Mux(turn == last, 0, turn + 1)),
            head.as_value().eq(Array([i.payload.as_value() for i in inputs])[turn]),
            ref.result.eq(head.payload),
        ]

        # Of each lane: it is over, as far as is known, and whether that is known.
        is_over = Signal(self.lanes)
        known = Signal(self.lanes)
        for lane, i in enumerate(inputs):
            rowless = (i.payload.kind == TokenKind.STOP) & (stop_lo(i.payload) >= levels)
            m.d.comb += [
                is_over[lane].eq(over[lane] | (i.valid & rowless)),
                known[lane].eq(over[lane] | i.valid),
            ]
        is_stop = head.kind == TokenKind.STOP
        all_stop = all_of(
            (i.payload.kind == TokenKind.STOP)
            & (stop_hi(i.payload) == stop_hi(head))
            & (
                (stop_lo(i.payload) == stop_lo(head))
                | ((stop_lo(i.payload) <= levels) & (stop_lo(head) <= levels))
            )
            & (is_over[lane] | (turn == lane))
            for lane, i in enumerate(inputs)
        )
        all_done = all_of(i.payload.kind == TokenKind.DONE for i in inputs)

        mine = {i: turn == lane for lane, i in enumerate(inputs)}
        table = FiringTable(m, inputs)
        token = make_token(head.kind, head.payload[:8])
        with m.If(is_payload(head)), table.row(takes_if=mine, pushes={ref.i: token}):
            if levels == 0:
                m.d.sync += turn.eq(behind)
        with m.Elif(is_stop & (stop_hi(head) < levels)), table.row(takes_if=mine, pushes={ref.i: token}):
            with m.If(stop_hi(head) == levels - 1):
                m.d.sync += turn.eq(behind)
        with m.Elif(is_stop & (stop_lo(head) < levels) & ~is_over.bit_select(behind, 1)):
            # A row of its own looks at one head more; it is open once that one is there.
            valid = Array([i.valid for i in inputs])[turn] & known.bit_select(behind, 1)
            row_end = stop_token(stop_lo(head), levels - 1)
            with m.If(valid), table.row(pushes={ref.i: row_end}):
                m.d.sync += [over.bit_select(turn, 1).eq(1), turn.eq(behind)]
        with m.Elif((is_stop & all_stop) | all_done), table.row(takes=inputs, pushes={ref.i: token}):
            m.d.sync += [turn.eq(0), over.eq(0)]
        m.d.comb += [self.fired.eq(table.fired), self.error.eq(error_bits(protocol=table.protocol))]
        return m
