"""What the actors inside reduce_scalar have in common: sums, and beside each what comes behind it."""

from collections.abc import Mapping

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.channel import PushSignature
from samhw.rtl.output import Output
from samhw.rtl.token import CONTROL, TokenKind, make_token, stop_hi, stop_lo, stop_token, token_layout

__all__ = ["SumActor", "outer_end"]


class SumActor(wiring.Component):
    """Pushes `sum` and `stop` together.

    Args:
        inputs: the shape of each input's token, by name.
        width: bits of the payload of a `sum` token.
        latency: of the outputs.

    Members:
        i: the inputs.
        o: `sum` and `stop`. The stop token behind a sum is EMPTY if its fiber ends, and a STOP, for the
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
        m.submodules.sum = sum = Output(self.width, latency=self.latency, registers=registers)
        m.submodules.stop = stop = Output(8, latency=self.latency)
        wiring.connect(m, sum.o, wiring.flipped(self.o.sum))
        wiring.connect(m, stop.o, wiring.flipped(self.o.stop))
        return sum, stop


def outer_end(head: data.View) -> Value:
    """What a STOP at `head` leaves for the output, which is one level shallower: EMPTY if only a fiber of
    payloads ends."""
    lo, hi = stop_lo(head), stop_hi(head)
    return Mux(hi == 0, make_token(TokenKind.EMPTY), stop_token(lo - (lo != 0), hi - 1))
