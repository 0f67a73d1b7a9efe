"""Multiplication of floating-point numbers."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, signed

from samhw.graph.numerics import Float
from samhw.rtl.units.float_parts import choose, round_significand, unpack
from samhw.rtl.units.multiplier import multiply, multiply_registers
from samhw.rtl.units.unit import Unit, delayed

__all__ = ["FloatMultiply"]


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
