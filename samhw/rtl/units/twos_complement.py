"""Integers and fixed point: two's complement, with an overflow error or with saturation."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, signed

from samhw.numerics import Fixed, Integer
from samhw.rtl.units.unit import Unit

__all__ = ["AddSubtract", "Maximum", "Multiply", "Negate", "Sum"]

_SINGLE = 18
"""Operands up to this width take one multiplier of common FPGAs."""
_HALF = 16
"""Wider ones are split here, into an unsigned and a signed part."""

TwosComplement = Integer | Fixed


class AddSubtract(Unit):
    """a + b or a - b: the sum in the first cycle, its range in the second."""

    def __init__(self, value_type: TwosComplement, *, subtract: bool = False):
        self.value_type = value_type
        self.subtract = subtract
        super().__init__(value_type.width, "a b", registers=1)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b = self.a.as_signed(), self.b.as_signed()
        exact = Signal(signed(self.width + 1))
        m.d.sync += exact.eq(a - b if self.subtract else a + b)
        _finish(m, self, exact)
        return m


class Negate(Unit):
    """-a; only the lowest value has no negative."""

    def __init__(self, value_type: TwosComplement):
        self.value_type = value_type
        super().__init__(value_type.width, "a", registers=1)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        exact = Signal(signed(self.width + 1))
        m.d.sync += exact.eq(-self.a.as_signed())
        _finish(m, self, exact)
        return m


class Sum(Unit):
    """a + b at once: the step of an accumulator that uses the result in the next cycle."""

    def __init__(self, value_type: TwosComplement):
        self.value_type = value_type
        super().__init__(value_type.width, "a b", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        exact = Signal(signed(self.width + 1))
        m.d.comb += exact.eq(self.a.as_signed() + self.b.as_signed())
        _finish(m, self, exact)
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


class Multiply(Unit):
    """a * b: operand registers, products, their sum where one multiplier is too narrow; then rounding and
    range."""

    def __init__(self, value_type: TwosComplement):
        self.value_type = value_type
        super().__init__(value_type.width, "a b", registers=2 if value_type.width <= _SINGLE else 3)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b = Signal(signed(self.width)), Signal(signed(self.width))
        exact = Signal(signed(2 * self.width))
        m.d.sync += [a.eq(self.a), b.eq(self.b)]
        if self.width <= _SINGLE:
            m.d.sync += exact.eq(a * b)
        else:
            low, high_a, high_b = a[:_HALF] * b[:_HALF], a[_HALF:].as_signed(), b[_HALF:].as_signed()
            outer = Signal(2 * self.width)
            cross_a = Signal(signed(self.width))
            cross_b = Signal(signed(self.width))
            m.d.sync += [
                outer.eq(Cat(low, high_a * high_b)),
                cross_a.eq(high_a * b[:_HALF]),
                cross_b.eq(a[:_HALF] * high_b),
                exact.eq(Cat(outer[:_HALF], outer[_HALF:].as_signed() + cross_a + cross_b)),
            ]
        _finish(m, self, exact, fraction=self.value_type.fraction)
        return m


def _finish(
    m: Module, unit: AddSubtract | Negate | Sum | Multiply, exact: Signal, *, fraction: int = 0
) -> None:
    """From the exact result, with `fraction` bits too many, to the unit's result: rounds half to even, checks
    the range."""
    width = unit.width
    kept = exact[fraction:]
    fits = kept[width - 1 :].all() | ~kept[width - 1 :].any()
    rounded = Signal(width)
    if fraction:
        # Rounding only goes up, so it leaves the range only from the highest value, where the sign appears to
        # change.
        up = exact[fraction - 1] & (exact[: fraction - 1].any() | exact[fraction])
        m.d.comb += rounded.eq(kept[:width] + up)
        fits &= kept[width - 1] | ~rounded[-1]
    else:
        m.d.comb += rounded.eq(kept)
    if unit.value_type.saturates:
        limit = Cat((~exact[-1]).replicate(width - 1), exact[-1])
        m.d.comb += unit.result.eq(Mux(fits, rounded, limit))
    else:
        m.d.comb += [unit.result.eq(rounded), unit.overflow.eq(~fits)]
