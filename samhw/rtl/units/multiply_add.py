"""a * b + c on references: the address arithmetic of dense levels."""

from amaranth.hdl import Elaboratable, Module, Signal

from samhw.rtl.units.pipeline import delayed
from samhw.rtl.units.unit import Unit

__all__ = ["MultiplyAdd"]

_SINGLE = 18
"""Operands up to this width take one multiplier of common FPGAs."""
_HALF = 16
"""Wider ones are split here."""


class MultiplyAdd(Unit):
    """a * b + c, unsigned, modulo 2**width: operand registers, products, sum."""

    def __init__(self, width: int):
        super().__init__(width, "a b c", registers=2 if width <= _SINGLE else 3)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b, c = (delayed(m, operand) for operand in (self.a, self.b, self.c))
        product = Signal(self.width, reset_less=True)
        if self.width <= _SINGLE:
            m.d.sync += product.eq(a * b)
            addend = delayed(m, c)
        else:
            low = Signal(2 * _HALF, reset_less=True)
            cross_a = Signal(self.width - _HALF, reset_less=True)
            cross_b = Signal(self.width - _HALF, reset_less=True)
            m.d.sync += [
                low.eq(a[:_HALF] * b[:_HALF]),
                cross_a.eq(a[_HALF:] * b[:_HALF]),
                cross_b.eq(a[:_HALF] * b[_HALF:]),
                product.eq(low + ((cross_a + cross_b) << _HALF)),
            ]
            addend = delayed(m, c, 2)
        m.d.comb += self.result.eq(product + addend)
        return m
