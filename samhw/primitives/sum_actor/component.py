"""What the actors inside reduce_scalar have in common: sums, and beside each what comes after it."""

from collections.abc import Mapping, Sequence

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.channel import PushSignature
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.shared import SharedPart
from samhw.rtl.token import CONTROL, TokenKind, make_token, stop_hi, stop_lo, stop_token, token_layout

__all__ = ["SumActor"]


class SumActor(SharedPart):
    """Pushes `sum` and `stop` together.

    Args:
        inputs: the shape of each input's token, by name.
        width: bits of the payload of a `sum` token.
        latency: of the outputs.

    Members:
        i: the inputs.
        o: `sum` and `stop`. The stop token after a sum is EMPTY if its fiber ends, and a STOP, for the
            output, if more ends with it; VAL if the fiber goes on.
        fired, protocol: as in `FiringTable`.
        overflow: a sum is out of the range of its type.
    """

    i: wiring.PureInterface
    o: wiring.PureInterface
    fired: Signal
    protocol: Signal
    overflow: Signal

    def __init__(self, inputs: Mapping[str, ShapeLike], *, width: int, latency: int):
        self.width = width
        self.latency = latency
        consumed = {name: In(stream.Signature(shape)) for name, shape in inputs.items()}
        pushed = {"sum": Out(PushSignature(token_layout(width))), "stop": Out(PushSignature(CONTROL))}
        super().__init__(
            {
                "i": Out(wiring.Signature(consumed)),
                "o": Out(wiring.Signature(pushed)),
                "fired": Out(1),
                "protocol": Out(1),
                "overflow": Out(1),
            }
        )

    def _outputs(self, m: Module, *, registers: int = 0) -> tuple[Output, Output]:
        """`sum`, whose result is made in `registers` cycles, and `stop`."""
        m.submodules.sum = sum = Output(self.width, latency=self.latency, registers=registers, zeros=False)
        m.submodules.stop = stop = Output(8, latency=self.latency)
        wiring.connect(m, sum.o, wiring.flipped(self.o.sum))
        wiring.connect(m, stop.o, wiring.flipped(self.o.stop))
        return sum, stop

    def _end_rows(
        self, m: Module, table: FiringTable, sum: Output, stop: Output, clear: Sequence[object]
    ) -> None:
        """The rows of an actor with the input `val`, at the end of a fiber, of a list without fibers, and of
        everything: cases of a switch over the head's kind. `clear` are the assignments at a fiber's end."""
        head = self.i.val.payload
        value, empty, done = (make_token(kind) for kind in (TokenKind.VAL, TokenKind.EMPTY, TokenKind.DONE))
        end = _outer_end(head)
        with m.Case(TokenKind.STOP):
            with m.If(stop_lo(head) != 0):
                table.row(takes=[self.i.val], pushes={sum.i: empty, stop.i: end})
            with m.Else(), table.row(takes=[self.i.val], pushes={sum.i: value, stop.i: end}):
                m.d.sync += clear
        with m.Case(TokenKind.DONE):
            table.row(takes=[self.i.val], pushes={sum.i: done, stop.i: done})


def _outer_end(head: data.View) -> Value:
    """What a STOP at `head` leaves for the output, which is one level shallower: EMPTY if only a fiber of
    payloads ends."""
    lo, hi = stop_lo(head), stop_hi(head)
    return Mux(hi == 0, make_token(TokenKind.EMPTY), stop_token(lo - (lo != 0), hi - 1))
