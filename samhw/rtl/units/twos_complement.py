"""Integers and fixed point: two's complement, with an overflow error or with saturation.

Where `to` is given, it is a wider integer type, and holds every result.
"""

from amaranth.hdl import Const, Elaboratable, Module, Mux, Signal, signed

from samhw.rtl.units.fit import TwosComplement, fit
from samhw.rtl.units.multiplier import multiply, multiply_registers
from samhw.rtl.units.pipeline import delayed
from samhw.rtl.units.unit import Unit

__all__ = ["AddSubtract", "Compare", "Maximum", "Multiply", "Negate"]


class AddSubtract(Unit):
    """a + b or a - b: the sum in the first cycle, its range in the second.

    Without registers it is the step of an accumulator that uses the result in the next cycle.
    """

    def __init__(
        self,
        value_type: TwosComplement,
        *,
        subtract: bool = False,
        to: TwosComplement | None = None,
        registers: int = 1,
    ):
        self.subtract = subtract
        self.to = to or value_type
        super().__init__(value_type.width, "a b", registers, result_width=self.to.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b = self.a.as_signed(), self.b.as_signed()
        exact = Signal(signed(self.width + 1))
        m.d.comb += exact.eq(a - b if self.subtract else a + b)
        fit(m, self, self.to, delayed(m, exact, self.registers))
        return m


class Negate(Unit):
    """-a, or |a|; only the lowest value has neither."""

    def __init__(self, value_type: TwosComplement, *, absolute: bool = False):
        self.value_type = value_type
        self.absolute = absolute
        super().__init__(value_type.width, "a", registers=1)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a = self.a.as_signed()
        exact = Signal(signed(self.width + 1))
        m.d.comb += exact.eq(Mux(a[-1], -a, a) if self.absolute else -a)
        fit(m, self, self.value_type, delayed(m, exact))
        return m


class Multiply(Unit):
    """a * b: operand registers, the product; then rounding and range."""

    def __init__(self, value_type: TwosComplement, *, to: TwosComplement | None = None):
        self.value_type = value_type
        self.to = to or value_type
        width = value_type.width
        super().__init__(width, "a b", 1 + multiply_registers(width, width), result_width=self.to.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        exact = multiply(m, delayed(m, self.a.as_signed()), delayed(m, self.b.as_signed()))
        fit(m, self, self.to, exact, fraction=self.value_type.fraction)
        return m


class Maximum(Unit):
    """The greater of a and b, or the lesser, at once."""

    def __init__(self, value_type: TwosComplement, *, lesser: bool = False):
        self.lesser = lesser
        super().__init__(value_type.width, "a b", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        less = self.a.as_signed() < self.b.as_signed()
        m.d.comb += self.result.eq(Mux(less ^ self.lesser, self.b, self.a))
        return m


class Compare(Unit):
    """`lt`, `le` or `eq`: whether it holds, as 1 or 0 of the value type."""

    def __init__(self, value_type: TwosComplement, op: str):
        self.value_type = value_type
        self.op = op
        super().__init__(value_type.width, "a b", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b = self.a.as_signed(), self.b.as_signed()
        holds = {"lt": a < b, "le": a <= b, "eq": a == b}[self.op]
        m.d.comb += self.result.eq(Mux(holds, Const(self.value_type.format.one, self.width), 0))
        return m
