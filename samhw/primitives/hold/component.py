"""hold: the actor that repeat, crd_hold and locate share. It repeats an outer payload."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.firing import FiringTable
from samhw.rtl.output import ControlSignature
from samhw.rtl.token import (
    TokenKind,
    is_payload,
    is_s0,
    make_token,
    outer_is_stop_below,
    stop_lo,
    token_layout,
)

__all__ = ["Hold"]


class Hold(wiring.Component):
    """Pushes once for each inner coordinate, with the outer payload that is held.

    The component around it makes f(h, x) from `payload` and the coordinate x at the inner head.

    Args:
        outer_width, inner_width: bits of the payloads.

    Members:
        outer, inner: the heads.
        o: the push; its kind is that of h for an inner coordinate.
        payload: the payload of h, for a push in this cycle.
        fired, protocol: as in `FiringTable`.
    """

    def __init__(self, outer_width: int, inner_width: int):
        self.outer_width = outer_width
        super().__init__(
            {
                "outer": In(stream.Signature(token_layout(outer_width))),
                "inner": In(stream.Signature(token_layout(inner_width))),
                "o": Out(ControlSignature()),
                "payload": Out(outer_width),
                "fired": Out(1),
                "protocol": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        inner, outer = self.inner.payload, self.outer.payload
        held = Signal()
        h = Signal(token_layout(self.outer_width), reset_less=True)
        both = [self.inner, self.outer]
        table = FiringTable(m, both)
        m.d.comb += [
            self.fired.eq(table.fired),
            self.protocol.eq(table.protocol),
            self.payload.eq(Mux(held, h.payload, outer.payload)),
        ]

        inner_token = make_token(inner.kind, inner.payload[:8])
        with m.Switch(inner.kind):
            with m.Case(TokenKind.VAL):
                with m.If(held):
                    table.row(takes=[self.inner], pushes={self.o: make_token(h.kind)})
                with m.Else():
                    push = {self.o: make_token(outer.kind)}
                    with table.row(agree=is_payload(outer), takes=both, pushes=push):
                        m.d.sync += [held.eq(1), h.eq(outer)]
            with m.Case(TokenKind.STOP):
                with m.If(is_s0(inner)):
                    with m.If(held), table.row(takes=[self.inner], pushes={self.o: inner_token}):
                        m.d.sync += held.eq(0)
                    with m.Else():
                        table.row(agree=is_payload(outer), takes=both, pushes={self.o: inner_token})
                with m.Elif((stop_lo(inner) == 0) & ~held):
                    with table.row(agree=is_payload(outer), needs=[self.inner], takes=[self.outer]):
                        m.d.sync += [held.eq(1), h.eq(outer)]
                with m.Else():
                    agree = ((stop_lo(inner) == 0) == held) & outer_is_stop_below(outer, inner)
                    with table.row(agree=agree, takes=both, pushes={self.o: inner_token}):
                        m.d.sync += held.eq(0)
            with m.Case(TokenKind.DONE):
                agree = ~held & (outer.kind == TokenKind.DONE)
                table.row(agree=agree, takes=both, pushes={self.o: inner_token})
        return m
