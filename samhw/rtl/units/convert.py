"""From one value type to another, with one rounding."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value, signed

from samhw.graph.numerics import Fixed, Float, Integer, ValueType
from samhw.graph.numerics.float_format import FloatFormat
from samhw.rtl.units.float_parts import (
    canonical,
    choose,
    round_integer,
    round_significand,
    shift_right_sticky,
    unpack,
)
from samhw.rtl.units.twos_complement import TwosComplement, fit, negative, number
from samhw.rtl.units.unit import Unit, delayed

__all__ = ["Widened", "convert_unit", "widen"]


def convert_unit(source: ValueType, target: ValueType) -> Unit:
    """`convert` of docs/numerics.md: operand `a`."""
    match source, target:
        case Float(), Float():
            return FloatToFloat(source, target)
        case Float(), Integer() | Fixed():
            return FloatToFixed(source, target)
        case Integer() | Fixed(), Float():
            return FixedToFloat(source, target)
        case Integer() | Fixed(), Integer() | Fixed():
            return FixedToFixed(source, target)
    raise TypeError(f"no conversion from {source} to {target}")


def widen(m: Module, f: FloatFormat, g: FloatFormat, word: Value) -> Value:
    """The same value as a word of a format `g` that has all numbers of `f`."""
    if f.exponent_bits == g.exponent_bits:
        return canonical(g, Cat(Const(0, g.mantissa - f.mantissa), word))
    x = unpack(m, f, word)
    exponent = (x.exponent + (g.bias - f.bias))[: g.exponent_bits]
    wide = Cat(Const(0, g.mantissa - f.mantissa), x.significand[:-1], exponent, x.sign)
    return choose(g, wide, sign=x.sign, zero=x.zero, infinite=x.infinite, nan=x.nan)


class FloatToFloat(Unit):
    """Exact to a type that has all numbers of the source, at once; else rounded, after a stage in which
    subnormals of the source are normalised."""

    def __init__(self, source: Float, target: Float):
        self.source = source
        self.target = target
        self.is_exact = target.format.has_all(source.format)
        registers = 0 if self.is_exact else 1 + source.format.subnormals
        super().__init__(source.width, "a", registers, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        f, g = self.source.format, self.target.format
        if self.is_exact:
            m.d.comb += self.result.eq(widen(m, f, g, self.a))
            return m
        x = delayed(m, unpack(m, f, self.a), self.registers - 1)
        more = max(g.mantissa + 1 - f.mantissa, 0)
        word = round_significand(
            m,
            g,
            sign=x.sign,
            exponent=x.exponent + (g.bias - f.bias) if g.bias != f.bias else x.exponent,
            significand=Cat(Const(0, more), x.significand),
            extra=f.mantissa + more - g.mantissa,
            cut=1,
        )
        x = delayed(m, x)
        m.d.comb += self.result.eq(choose(g, word, sign=x.sign, zero=x.zero, infinite=x.infinite, nan=x.nan))
        return m


class FixedToFloat(Unit):
    """The magnitude; its leading zeros; the shift; which way to round; the rounding."""

    def __init__(self, source: TwosComplement, target: Float):
        self.source = source
        self.target = target
        super().__init__(source.width, "a", registers=4, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        f = self.target.format
        magnitude = Signal(max(self.width, f.mantissa + 2))
        a, sign = number(self.source, self.a), negative(self.source, self.a)
        m.d.comb += magnitude.eq(Mux(sign, -a, a)[: self.width])
        word = round_integer(
            m,
            f,
            sign=delayed(m, sign),
            value=delayed(m, magnitude),
            exponent=Const(-self.source.fraction, signed(6)),
            cuts=(1, 1, 1),
        )
        m.d.comb += self.result.eq(word)
        return m


class FloatToFixed(Unit):
    """How far to shift; the shift; the rounding; the sign and the range."""

    def __init__(self, source: Float, target: TwosComplement):
        self.source = source
        self.target = target
        super().__init__(source.width, "a", registers=3, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        f, width, fraction = self.source.format, self.target.width, self.target.fraction

        # The significand at the greatest magnitude in range, to be shifted down from there.
        x = unpack(m, f, self.a)
        guard = max(f.mantissa + 1 - width, 2)
        aligned = Signal(width + guard)
        count = Signal(signed(10))
        m.d.comb += [
            aligned[-(f.mantissa + 1) :].eq(Mux(x.zero, 0, x.significand)),
            count.eq(f.bias + width - 1 - fraction - x.exponent),
        ]
        x, aligned, count = (delayed(m, value) for value in (x, aligned, count))

        shifted = shift_right_sticky(m, aligned, count[:-1])
        beyond = Signal()
        m.d.comb += beyond.eq((count < 0) | x.infinite)
        x, shifted, beyond = (delayed(m, value) for value in (x, shifted, beyond))

        magnitude = Signal(width + 1)
        up = shifted[guard - 1] & (shifted[: guard - 1].any() | shifted[guard])
        m.d.comb += magnitude.eq(shifted[guard:] + up)
        x, magnitude, beyond = (delayed(m, value) for value in (x, magnitude, beyond))

        exact = Signal(signed(width + 2))
        bounded = Mux(beyond, 1 << width, magnitude)
        m.d.comb += exact.eq(Mux(x.sign, -bounded, bounded))
        fit(m, self, self.target, exact)
        with m.If(x.nan):
            m.d.comb += self.result.eq(0) if self.target.saturates else self.overflow.eq(1)
        return m


class FixedToFixed(Unit):
    """Rounded where the target has fewer fraction bits."""

    def __init__(self, source: TwosComplement, target: TwosComplement):
        self.source = source
        self.target = target
        super().__init__(source.width, "a", registers=0, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        more = self.target.fraction - self.source.fraction
        exact = number(self.source, self.a).shift_left(max(more, 0))
        fit(m, self, self.target, exact, fraction=max(-more, 0))
        return m


class Widened(Unit):
    """A floating-point operation on a and b of a narrower type, which are exact in that of `unit`.

    What the narrow operands leave unused is constant, and synthesis removes it.
    """

    def __init__(self, unit: Unit, source: Float, target: Float):
        self.unit = unit
        self.source = source
        self.target = target
        super().__init__(source.width, "a b", unit.registers, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.unit = unit = self.unit
        f, g = self.source.format, self.target.format
        m.d.comb += [
            unit.a.eq(widen(m, f, g, self.a)),
            unit.b.eq(widen(m, f, g, self.b)),
            self.result.eq(unit.result),
        ]
        return m
