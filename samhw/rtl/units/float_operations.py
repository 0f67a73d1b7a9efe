"""Sums, products and comparisons of floating-point numbers."""

from abc import abstractmethod

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.lib import data

from samhw.graph.numerics import Float
from samhw.rtl.units.float_parts import (
    canonical,
    choose,
    round_integer,
    round_significand,
    shift_right_sticky,
    unpack,
)
from samhw.rtl.units.twos_complement import multiply, multiply_registers
from samhw.rtl.units.unit import Unit, delayed

__all__ = ["FloatAdd", "FloatCompare", "FloatMaximum", "FloatMultiply", "FloatSign"]

_GUARD = 3
"""Guard, round and sticky: what the smaller addend keeps below the last bit of the greater one."""

_CUTS = {
    2: (1, 0, 1, 0, 1, 1, 1),
    3: (1, 0, 1, 0, 1, 1, 1),
    7: (1, 0, 1, 0, 1, 0, 1),
    10: (1, 0, 1, 1, 1, 1, 1),
    23: (1, 1, 1, 1, 1, 0, 1),
}
"""By mantissa, the registers after each stage: swap, alignment, sum, count of zeros, shift, decision which
way to round, rounding. Subnormals are shifted back before the decision."""


class FloatAdd(Unit):
    """a + b or a - b."""

    def __init__(self, value_type: Float, *, subtract: bool = False):
        self.format = value_type.format
        self.subtract = subtract
        self.cuts = _CUTS[self.format.mantissa]
        super().__init__(value_type.width, "a b", registers=sum(self.cuts))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        f = self.format
        swapped, aligned, summed, counted, shifted, decided, rounded = self.cuts

        a, b = self.a, Cat(self.b[:-1], self.b[-1] ^ self.subtract)
        # All that depends on which one is greater is made for both answers beside the comparison.
        first, second = unpack(m, f, a), unpack(m, f, b)
        swap = Signal()
        distance = Signal(f.exponent_bits + f.subnormals)
        m.d.comb += [
            swap.eq(a[:-1] < b[:-1]),
            distance.eq(
                Mux(swap, second.exponent - first.exponent, first.exponent - second.exponent)[: len(distance)]
            ),
        ]
        x, y = _either(m, swap, second, first), _either(m, swap, first, second)
        differ = first.sign ^ second.sign
        x, y, distance, differ = (delayed(m, value, swapped) for value in (x, y, distance, differ))

        kept = Signal(f.mantissa + 1 + _GUARD)
        addend = Signal(f.mantissa + 1 + _GUARD)
        m.d.comb += [
            kept[_GUARD:].eq(Mux(x.zero, 0, x.significand)),
            addend[_GUARD:].eq(Mux(y.zero, 0, y.significand)),
        ]
        addend = shift_right_sticky(m, addend, distance)
        sign, exponent, infinite = x.sign, x.exponent, x.infinite
        nan = Signal()
        m.d.comb += nan.eq(x.nan | y.nan | (x.infinite & y.infinite & differ))
        sign, exponent, nan, infinite, differ, kept, addend = (
            delayed(m, value, aligned) for value in (sign, exponent, nan, infinite, differ, kept, addend)
        )

        total = Signal(len(kept) + 1)
        # The carry that completes the negation goes in below.
        inverted = Cat(addend, Const(0, 1)) ^ differ.replicate(len(total))
        m.d.comb += total.eq((Cat(differ, kept) + Cat(differ, inverted))[1:])
        sign, exponent, nan, infinite, differ, total = (
            delayed(m, value, summed) for value in (sign, exponent, nan, infinite, differ, total)
        )

        # What cancels is +0.
        result_sign = Signal()
        lowest_bit = Signal(signed(f.exponent_bits + 2))
        m.d.comb += [
            result_sign.eq(sign & (total.any() | ~differ)),
            lowest_bit.eq(exponent - (f.bias + f.mantissa + _GUARD)),
        ]
        word = round_integer(
            m, f, sign=result_sign, value=total, exponent=lowest_bit, cuts=(counted, shifted, decided)
        )
        sign, nan, infinite = (
            delayed(m, value, counted + shifted + decided) for value in (sign, nan, infinite)
        )
        result = choose(f, word, sign=sign, infinite=infinite, nan=nan)
        m.d.comb += self.result.eq(delayed(m, result, rounded))
        return m


def _either(m: Module, condition: Value, one: data.View, other: data.View) -> data.View:
    """One of two structures of the same layout."""
    chosen = Signal(one.shape())
    m.d.comb += chosen.eq(Mux(condition, one.as_value(), other.as_value()))
    return chosen


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


class FloatMultiply(Unit):
    """a * b: the product of the significands; which way to round; the rounding.

    Args:
        latency: that it may take; with a cycle to spare, it has registers before the multipliers.
    """

    def __init__(self, value_type: Float, *, latency: int = 0):
        self.format = f = value_type.format
        self.product_registers = multiply_registers(f.mantissa + 1, f.mantissa + 1)
        needed = self.product_registers + 2
        self.unpacked = int(latency > needed + 1)
        super().__init__(value_type.width, "a b", registers=self.unpacked + needed)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        f = self.format

        x, y = (delayed(m, unpack(m, f, word), self.unpacked) for word in (self.a, self.b))
        sign = Signal()
        exponent = Signal(signed(f.exponent_bits + 2))
        zero = Signal()
        infinite = Signal()
        nan = Signal()
        m.d.comb += [
            sign.eq((x.sign ^ y.sign) & ~(x.nan | y.nan)),
            exponent.eq(x.exponent + y.exponent - f.bias),
            zero.eq(x.zero | y.zero),
            infinite.eq((x.infinite | y.infinite) & ~zero),
            nan.eq((x.nan | y.nan) & ~zero),
        ]
        product = multiply(m, x.significand, y.significand)
        sign, exponent, zero, infinite, nan = (
            delayed(m, value, self.product_registers) for value in (sign, exponent, zero, infinite, nan)
        )

        # The product is below 4: its leading one is in one of two places.
        top = product[-1]
        word = round_significand(
            m,
            f,
            sign=sign,
            exponent=exponent + top,
            significand=Mux(top, product, Cat(Const(0, 1), product[:-1])),
            extra=f.mantissa + 1,
            cut=1,
        )
        sign, zero, infinite, nan = (delayed(m, value) for value in (sign, zero, infinite, nan))
        result = choose(f, word, sign=sign, zero=zero, infinite=infinite, nan=nan)
        m.d.comb += self.result.eq(delayed(m, result))
        return m
