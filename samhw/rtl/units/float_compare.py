"""Comparison of floating-point numbers, and the signs: what needs no rounding."""

from abc import abstractmethod

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data

from samhw.graph.numerics import Float
from samhw.rtl.units.float_parts import canonical, unpack
from samhw.rtl.units.unit import Unit

__all__ = ["FloatCompare", "FloatMaximum", "FloatSign"]


class _OfTwo(Unit):
    """Base of what looks at two numbers a and b, at once."""

    def __init__(self, value_type: Float):
        self.format = value_type.format
        super().__init__(value_type.width, "a b", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        x, y = unpack(m, self.format, self.a), unpack(m, self.format, self.b)
        m.d.comb += self.result.eq(self._result(m, x, y))
        return m

    @abstractmethod
    def _result(self, m: Module, x: data.View, y: data.View) -> Value:
        """The result, of the parts of a and b."""


class FloatMaximum(_OfTwo):
    """The IEEE maximum, or minimum, of a and b."""

    def __init__(self, value_type: Float, *, lesser: bool = False):
        self.lesser = lesser
        super().__init__(value_type)

    def _result(self, m: Module, x: data.View, y: data.View) -> Value:
        f = self.format
        # Subnormals need no care: among zeros of one sign it does not matter which one is chosen.
        less = Signal()
        with m.If(x.sign ^ y.sign):
            m.d.comb += less.eq(x.sign)
        with m.Else():
            m.d.comb += less.eq((self.a[:-1] < self.b[:-1]) ^ x.sign)
        chosen = Mux(less ^ self.lesser, canonical(f, self.b), canonical(f, self.a))
        return Mux(x.nan | y.nan, Const(f.nan, f.width), chosen)


class FloatCompare(_OfTwo):
    """`lt`, `le` or `eq`: whether it holds, as 1 or +0."""

    def __init__(self, value_type: Float, op: str):
        self.op = op
        super().__init__(value_type)

    def _result(self, m: Module, x: data.View, y: data.View) -> Value:
        f = self.format
        less = Signal()
        equal = Signal()
        with m.If(x.zero & y.zero):
            m.d.comb += equal.eq(1)
        with m.Elif(x.sign ^ y.sign):
            m.d.comb += less.eq(x.sign)
        with m.Else():
            m.d.comb += [
                equal.eq(self.a == self.b),
                less.eq(((self.a[:-1] < self.b[:-1]) ^ x.sign) & ~equal),
            ]
        holds = {"lt": less, "le": less | equal, "eq": equal}[self.op]
        ordered = ~(x.nan | y.nan)
        return Mux(holds & ordered, Const(f.one, f.width), 0)


class FloatSign(Unit):
    """`neg` or `abs`, at once."""

    def __init__(self, value_type: Float, *, absolute: bool = False):
        self.format = value_type.format
        self.absolute = absolute
        super().__init__(value_type.width, "a", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        sign = Const(0, 1) if self.absolute else ~self.a[-1]
        m.d.comb += self.result.eq(canonical(self.format, Cat(self.a[:-1], sign)))
        return m
