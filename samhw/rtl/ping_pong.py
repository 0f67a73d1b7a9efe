"""Memories in two banks: the host loads and reads one while a run works on the other (docs/host_port.md)."""

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.rtl.memories import TensorMemory
from samhw.rtl.units.unit import delayed

__all__ = ["PingPongMemory"]


class PingPongMemory(wiring.Component):
    """Two banks, each a memory of its own, with the interface of one.

    Args:
        make: makes a bank.

    Members beside those of a `TensorMemory`:
        bank: the number of the host's; the other one is that of the run. Does not change during one.
    """

    def __init__(self, make: Callable[[], TensorMemory]):
        self.banks = [make(), make()]
        first, _ = self.banks
        self.is_input = first.is_input
        super().__init__({**first.signature.members, "bank": In(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        *regions, _ = self.turn
        for number, memory in enumerate(self.banks):
            m.submodules[f"bank{number}"] = memory
            # A bank takes nothing out of its turn.
            m.d.comb += [
                memory.turn.eq(Mux(self.bank == number, 1 << len(regions), Cat(regions, Const(0, 1)))),
                memory.host.addr.eq(self.host.addr),
                memory.host.en.eq(self.host.en),
            ]
            if self.is_input:
                m.d.comb += memory.host.data.eq(self.host.data)
            self._join_nodes(m, memory)
        first, second = self.banks
        if not self.is_input:
            m.d.comb += self.host.data.eq(Mux(delayed(m, self.bank), second.host.data, first.host.data))
        for ours, one, other in zip(self.reads, first.reads, second.reads, strict=True):
            m.d.comb += ours.data.eq(Mux(self.bank, one.data, other.data))
        return m

    def _join_nodes(self, m: Module, memory: TensorMemory) -> None:
        """Gives a bank what the nodes ask for."""
        for ours, theirs in zip(self.reads, memory.reads, strict=True):
            m.d.comb += [theirs.addr.eq(ours.addr), theirs.en.eq(ours.en)]
        if not self.is_input:
            for ours, theirs in zip(self.writes, memory.writes, strict=True):
                m.d.comb += [theirs.addr.eq(ours.addr), theirs.en.eq(ours.en), theirs.data.eq(ours.data)]
        if "cycle" in self.signature.members:
            cycle: Value = self.cycle
            m.d.comb += memory.cycle.eq(cycle)
