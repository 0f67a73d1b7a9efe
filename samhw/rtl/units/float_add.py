"""Addition and subtraction of floating-point numbers."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.lib import data

from samhw.graph.numerics import Float
from samhw.rtl.units.float_parts import choose, round_integer, shift_right_sticky, unpack
from samhw.rtl.units.unit import Unit, delayed

__all__ = ["FloatAdd"]

_GUARD = 3
"""Guard, round and sticky: what the smaller addend keeps below the last bit of the greater one."""

_CUTS = {
    2: (1, 0, 1, 0, 1, 1, 1),
    3: (1, 0, 1, 0, 1, 1, 1),
    7: (1, 0, 1, 0, 1, 0, 1),
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
