"""Requantisation: a product in 32 bits, times a real number, in few bits."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Signal, signed

from samhw.graph.numerics import Integer
from samhw.rtl.units.fit import fit
from samhw.rtl.units.multiplier import multiply, multiply_registers
from samhw.rtl.units.pipeline import delayed
from samhw.rtl.units.sticky_shift import shift_right_sticky
from samhw.rtl.units.unit import Unit

__all__ = ["Scale"]

_WIDTH = 32
_MULTIPLIER = 31
_SHIFT = 6
"""Bits of a, b and c."""


class Scale(Unit):
    """a * b / 2**c, rounded to nearest, ties to even, and saturated to the target.

    a is an i32, b from 0 to 2**31 - 1, c from 0 to 62; both are meant to be constants.
    """

    def __init__(self, target: Integer):
        self.target = target
        registers = 2 + multiply_registers(_WIDTH, _MULTIPLIER)
        super().__init__(_WIDTH, "a b c", registers, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        product = multiply(m, delayed(m, self.a.as_signed()), delayed(m, self.b[:_MULTIPLIER]))
        # Two bits more, for rounding.
        quarters = Signal(signed(len(product) + 2))
        m.d.comb += quarters.eq(Cat(Const(0, 2), product))
        shifted = shift_right_sticky(m, quarters, delayed(m, self.c[:_SHIFT], self.registers - 1))
        fit(m, self, self.target, delayed(m, shifted), fraction=2, saturates=True)
        return m
