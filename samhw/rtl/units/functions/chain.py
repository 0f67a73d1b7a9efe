"""Units one after the other."""

from amaranth.hdl import Elaboratable, Module, Value

from samhw.rtl.units.pipeline import delayed
from samhw.rtl.units.unit import Unit

__all__ = ["Chain"]


class Chain(Unit):
    """Units with the operand `a`, each of the result of the one before, with a register between them."""

    def __init__(self, *units: Unit):
        self.units = units
        registers = sum(unit.registers for unit in units) + len(units) - 1
        super().__init__(units[0].width, "a", registers, result_width=len(units[-1].result))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        word: Value = self.a
        for k, unit in enumerate(self.units):
            m.submodules += unit
            m.d.comb += unit.a.eq(delayed(m, word) if k else word)
            word = unit.result
        m.d.comb += [self.result.eq(word), self.overflow.eq(self.units[-1].overflow)]
        return m
