"""walk: the actor that the level scanners share. It enumerates the coordinates of fibers."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.firing import FiringTable
from samhw.rtl.output import ControlSignature, Output
from samhw.rtl.token import CONTROL, TokenKind, make_token, stop_hi, stop_lo, stop_token

__all__ = ["Walk"]


class Walk(wiring.Component):
    """Decides what to push on `crd` and `ref`; the scanner around it keeps the coordinate and the reference.

    Members:
        head: kind and stop levels of the token that stands for a fiber.
        empty: n = 0; looked at only while `first` and the head is VAL.
        last: c = n - 1; looked at only while the head is VAL.
        first: c = 0.
        step: a coordinate is pushed; the scanner moves on to c + 1, or to 0 after the last.
        crd, ref: the two pushes, always together.
        fired: a firing happens in this cycle.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "head": In(stream.Signature(CONTROL)),
                "empty": In(1),
                "last": In(1),
                "first": Out(1, init=1),
                "step": Out(1),
                "crd": Out(ControlSignature()),
                "ref": Out(ControlSignature()),
                "fired": Out(1),
            }
        )

    def feed(self, m: Module, source: wiring.PureInterface, there: Value | None = None) -> None:
        """Connects the head to a stream of wider tokens.

        Args:
            there: all that the walk looks at is available; by default, as soon as the stream's token is.
        """
        m.d.comb += [
            self.head.valid.eq(source.valid if there is None else there),
            self.head.payload.kind.eq(source.payload.kind),
            self.head.payload.payload.eq(source.payload.payload[:8]),
            source.ready.eq(self.head.ready),
        ]

    def drive(
        self,
        m: Module,
        ports: wiring.PureInterface,
        crd: Output,
        ref: Output,
        crd_sink: wiring.PureInterface | None = None,
    ) -> None:
        """Connects the two pushes to a scanner's outputs, after what gives them their words.

        Args:
            crd_sink: what takes the place of `crd.i`, where the coordinates are read from a memory.
        """
        wiring.connect(m, self.crd, crd_sink or crd.i)
        wiring.connect(m, self.ref, ref.i)
        wiring.connect(m, crd.o, wiring.flipped(ports.crd))
        wiring.connect(m, ref.o, wiring.flipped(ports.ref))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        head = self.head.payload
        open = Signal()
        table = FiringTable(m, [self.head])
        m.d.comb += self.fired.eq(table.fired)

        def both(token: Value) -> dict[wiring.PureInterface, Value]:
            return {self.crd: token, self.ref: token}

        nothing = (head.kind == TokenKind.EMPTY) | (self.first & self.empty)
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL, TokenKind.EMPTY):
                with m.If(open):
                    # The stop between this fiber and the one before it; an empty fiber leaves with it.
                    with table.row(
                        needs=[self.head], takes_if={self.head: nothing}, pushes=both(stop_token(0, 0))
                    ):
                        m.d.sync += open.eq(nothing)
                with m.Elif(nothing), table.row(takes=[self.head]):
                    m.d.sync += open.eq(1)
                with m.Else():
                    token = make_token(TokenKind.VAL)
                    with table.row(needs=[self.head], takes_if={self.head: self.last}, pushes=both(token)):
                        m.d.comb += self.step.eq(1)
                        m.d.sync += [open.eq(self.last), self.first.eq(self.last)]
            with m.Case(TokenKind.STOP):
                deeper = (stop_lo(head) != 0) | ~open
                with table.row(
                    takes=[self.head], pushes=both(stop_token(stop_lo(head) + deeper, stop_hi(head) + 1))
                ):
                    m.d.sync += open.eq(0)
            with m.Case(TokenKind.DONE):
                token = Mux(open, stop_token(0, 0), make_token(TokenKind.DONE))
                with table.row(needs=[self.head], takes_if={self.head: ~open}, pushes=both(token)):
                    m.d.sync += open.eq(0)
        return m
