"""What the actors inside running have in common: one input, and outputs that say what went wrong."""

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.channel import PushSignature
from samhw.rtl.output import Output
from samhw.rtl.shared import SharedPart
from samhw.rtl.token import token_layout

__all__ = ["RunningActor"]


class RunningActor(SharedPart):
    """An actor that takes values and gives values.

    Args:
        inputs: their names, separated by blanks.
        width: bits of the payload of a token.
        latency: of the outputs.
        outputs: their names.

    Members:
        i, o: the inputs and the outputs, by name.
        fired, protocol: as in `FiringTable`.
        overflow: a value is out of the range of its type.
    """

    i: wiring.PureInterface
    o: wiring.PureInterface
    fired: Signal
    protocol: Signal
    overflow: Signal

    def __init__(self, inputs: str, width: int, *, latency: int, outputs: Sequence[str] = ("val",)):
        self.width = width
        self.latency = latency
        token = token_layout(width)
        super().__init__(
            {
                "i": Out(wiring.Signature({name: In(stream.Signature(token)) for name in inputs.split()})),
                "o": Out(wiring.Signature({name: Out(PushSignature(token)) for name in outputs})),
                "fired": Out(1),
                "protocol": Out(1),
                "overflow": Out(1),
            }
        )

    def _output(self, m: Module, name: str, *, registers: int = 0) -> Output:
        """An output, whose result is made in `registers` cycles."""
        m.submodules[name] = output = Output(self.width, latency=self.latency, registers=registers)
        wiring.connect(m, output.o, wiring.flipped(getattr(self.o, name)))
        return output
