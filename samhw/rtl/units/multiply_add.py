"""a * b + c on references: the address arithmetic of dense levels."""

from amaranth.hdl import Elaboratable, Module, Signal

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
        a, b, c = (Signal(self.width, name=name) for name in "abc")
        product = Signal(self.width)
        addend = Signal(self.width)
        m.d.sync += [a.eq(self.a), b.eq(self.b), c.eq(self.c)]
        if self.width <= _SINGLE:
            m.d.sync += [product.eq(a * b), addend.eq(c)]
        else:
            low = Signal(2 * _HALF)
            cross_a = Signal(self.width - _HALF)
            cross_b = Signal(self.width - _HALF)
            late_c = Signal(self.width)
            m.d.sync += [
                low.eq(a[:_HALF] * b[:_HALF]),
                cross_a.eq(a[_HALF:] * b[:_HALF]),
                cross_b.eq(a[:_HALF] * b[_HALF:]),
                late_c.eq(c),
                product.eq(low + ((cross_a + cross_b) << _HALF)),
                addend.eq(late_c),
            ]
        m.d.comb += self.result.eq(product + addend)
        return m
