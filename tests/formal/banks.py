"""The memory of a vector reducer's *accumulate*: what is at an address is what the updates of it have
made, and an update waits for the result that it needs."""

from amaranth.hdl import Assert, Assume, Elaboratable, Module, Signal, Value
from amaranth.hdl._ast import AnyConst
from amaranth.lib import wiring

from samhw.primitives.banked_memory.component import BankedMemory
from samhw.rtl.logic import any_of
from tests.formal.part import join_ports

__all__ = ["BankContract"]

_BANKS = 2
_VALUE = 2
"""Bits of a value; `present` lies on top of it."""


class BankContract(wiring.Component):
    """The memory, and the word at one place: any address of any bank.

    What is asked of those around it is assumed: an update waits while it is `pending`; a bank is drained
    when it is not in use, and used when it is not drained, some cycles later; and no address is drained twice
    in a row.

    Args:
        latency: L₊.
        broken: latency that the memory has, if it is another one.
    """

    def __init__(self, latency: int):
        self.latency = latency
        self.memory = BankedMemory(
            banks=_BANKS, addr_width=1, width=_VALUE + 1, operand_width=_VALUE, latency=latency, cleared=1
        )
        super().__init__(dict(self.memory.signature.members))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.memory = memory = self.memory
        join_ports(m, self, memory, memory.signature.members)
        self._assume(m)
        self._promise(m)
        return m

    def _assume(self, m: Module) -> None:
        drains = self.drain.en
        before, bank_before = self._late(m, drains), self._late(m, self.drain_bank)
        m.d.comb += [
            Assume(~self.sweep),
            Assume(~self.update.en | ~self.pending),
            Assume(~drains | (self.bank != self.drain_bank)),
            Assume(~before | (self.bank != bank_before)),
            Assume(~before | ~drains | (self.drain.addr != self._late(m, self.drain.addr))),
        ]
        updates = [self.update.en & (self.bank == bank) for bank in range(_BANKS)]
        leaves = [drains & (self.drain_bank == bank) for bank in range(_BANKS)]
        for update, leave in zip(updates, leaves, strict=True):
            m.d.comb += [
                Assume(~leave | ~any_of(self._ages(m, update, self.latency + 1))),
                Assume(~update | ~any_of(self._ages(m, leave, 2))),
            ]

    def _promise(self, m: Module) -> None:
        addr, bank, held = Signal(1), Signal(range(_BANKS)), Signal(_VALUE + 1)
        m.d.comb += [addr.eq(AnyConst(1)), bank.eq(AnyConst(1))]
        here = (self.update.addr == addr) & (self.bank == bank)
        update = self.update.en & here
        ages = [update, *self._ages(m, update, self.latency + 1)]
        used = [self.update.en, *self._ages(m, self.update.en, self.latency + 1)]
        operand = self._late(m, self._late(m, self.update.operand))
        drained = self._late(m, self.drain.en & (self.drain.addr == addr) & (self.drain_bank == bank))
        m.d.comb += [
            # Two updates of a place are L₊ cycles apart, or more, and none waits longer.
            Assert(~here | (self.pending == any_of(ages[1 : self.latency]))),
            Assert(self.combine.used == used[self.latency + 1]),
            Assert(~ages[2] | (_same(self.combine.word, held) & (self.combine.operand == operand))),
            Assert(~drained | _same(self.drain.data, held)),
        ]
        with m.If(ages[self.latency + 1]):
            m.d.sync += held.eq(self.combine.result)
        with m.If(drained):
            m.d.sync += held.eq(0)

    def _late(self, m: Module, value: Value) -> Value:
        late = Signal.like(value, name="late")
        m.d.sync += late.eq(value)
        return late

    def _ages(self, m: Module, value: Value, cycles: int) -> list[Value]:
        """What it has been 1, 2, ... cycles ago."""
        ages = [value]
        for _ in range(cycles):
            ages.append(self._late(m, ages[-1]))
        return ages[1:]


def _same(word: Value, held: Value) -> Value:
    """Where nothing is present, the value does not count."""
    return (word[-1] == held[-1]) & (~held[-1] | (word == held))
