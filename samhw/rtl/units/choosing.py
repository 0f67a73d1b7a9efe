"""Units that pass one of their operands, of any value type."""

from amaranth.hdl import Elaboratable, Module, Mux, Value

from samhw.graph.numerics import Float
from samhw.rtl.units.float_multiply import FloatMultiply
from samhw.rtl.units.float_parts import canonical, unpack
from samhw.rtl.units.twos_complement import Multiply, TwosComplement
from samhw.rtl.units.unit import Unit, delayed

__all__ = ["LeakyRelu", "Relu", "Select"]

Arithmetic = TwosComplement | Float


class Select(Unit):
    """b if a, the condition, is not zero, else c; at once."""

    def __init__(self, value_type: Arithmetic):
        self.value_type = value_type
        super().__init__(value_type.width, "a b c", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        if isinstance(self.value_type, Float):
            holds = ~unpack(m, self.value_type.format, self.a).zero
        else:
            holds = self.a.any()
        m.d.comb += self.result.eq(_passed(self.value_type, Mux(holds, self.b, self.c)))
        return m


class Relu(Unit):
    """a, or 0 for what is less; at once."""

    def __init__(self, value_type: Arithmetic):
        self.value_type = value_type
        super().__init__(value_type.width, "a", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        negative = _negative(m, self.value_type, self.a)
        m.d.comb += self.result.eq(Mux(negative, 0, _passed(self.value_type, self.a)))
        return m


class LeakyRelu(Unit):
    """a, or a * b, b being the slope, where a is negative; as long as a multiplication."""

    def __init__(self, value_type: Arithmetic):
        self.value_type = value_type
        self.product = FloatMultiply(value_type) if isinstance(value_type, Float) else Multiply(value_type)
        super().__init__(value_type.width, "a b", self.product.registers)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.product = product = self.product
        m.d.comb += [product.a.eq(self.a), product.b.eq(self.b)]
        a = delayed(m, self.a, self.registers)
        negative = _negative(m, self.value_type, a)
        m.d.comb += [
            self.result.eq(Mux(negative, product.result, _passed(self.value_type, a))),
            self.overflow.eq(negative & product.overflow),
        ]
        return m


def _negative(m: Module, value_type: Arithmetic, word: Value) -> Value:
    """The sign bit of a number; NaN is none."""
    if isinstance(value_type, Float):
        return word[-1] & ~unpack(m, value_type.format, word).nan
    return word[-1]


def _passed(value_type: Arithmetic, word: Value) -> Value:
    """An operand as a result."""
    return canonical(value_type.format, word) if isinstance(value_type, Float) else word
