"""Operations whose result has a wider type than their operands."""

from amaranth.hdl import Elaboratable, Module

from samhw.graph.numerics import Float
from samhw.rtl.units.convert import widen
from samhw.rtl.units.unit import Unit

__all__ = ["Widened"]


class Widened(Unit):
    """A floating-point operation on a and b of a narrower type, which are exact in that of `unit`.

    What the narrow operands leave unused is constant, and synthesis removes it.
    """

    def __init__(self, unit: Unit, source: Float, target: Float):
        self.unit = unit
        self.source = source
        self.target = target
        super().__init__(source.width, "a b", unit.registers, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.unit = unit = self.unit
        f, g = self.source.format, self.target.format
        m.d.comb += [
            unit.a.eq(widen(m, f, g, self.a)),
            unit.b.eq(widen(m, f, g, self.b)),
            self.result.eq(unit.result),
        ]
        return m
