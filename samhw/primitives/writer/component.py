"""What the writers share: streams in, whose end they commit, and a place where a test may stall them."""

from collections.abc import Mapping
from types import MappingProxyType

from amaranth.hdl import Const, Module, ShapeLike, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.access import room_to_write
from samhw.rtl.actor import Primitive
from samhw.rtl.firing import FiringTable

__all__ = ["Writer"]


class Writer(Primitive):
    """Base of the writers.

    Args:
        inputs: the shape of the tokens of each stream, by its name.
        others: memory ports or extents, as for `Primitive`.
        stall_port: whether it has a `stall`.

    Members:
        committed: the writer fires on DONE.
        stall: it must not fire in this cycle.
    """

    committed: Signal
    stall: Signal

    def __init__(self, inputs: Mapping[str, ShapeLike], others: Mapping[str, object], *, stall_port: bool):
        self.stall_port = stall_port
        stall = {"stall": In(1)} if stall_port else {}
        super().__init__(dict(inputs), {}, {**others, "committed": Out(1), **stall})

    def _table(
        self, m: Module, writes: Mapping[wiring.PureInterface, Value] = MappingProxyType({})
    ) -> FiringTable:
        """The firings, none of them while it is stalled.

        Args:
            writes: for each port to a memory whether the next firing writes there, or is that on DONE.
        """
        inputs = [getattr(self.i, name) for name in self.i.signature.members]
        m.d.comb += [port.done.eq(self.committed) for port in writes if "done" in port.signature.members]
        stall = self.stall if self.stall_port else Const(0)
        return FiringTable(m, inputs, stall=stall, slots=room_to_write(writes))
