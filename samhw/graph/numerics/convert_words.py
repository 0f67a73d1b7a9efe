"""Conversion of words between formats, on `Bits`: one rounding, to nearest, ties to even."""

from samhw.graph.numerics.fixed_arithmetic import FixedFormat
from samhw.graph.numerics.float_arithmetic import canonical
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.straight_line import Bits, clip, select, shift_right_sticky
from samhw.graph.numerics.valuetype import OVERFLOW

__all__ = ["fixed_to_fixed", "fixed_to_float", "float_to_fixed", "float_to_float", "narrowed"]

_WIDTH = 34
"""Of any magnitude, with the two bits that rounding needs beyond an f32 significand."""


def float_to_float(source: FloatFormat, target: FloatFormat, word: Bits) -> Bits:
    """Infinity and NaN stay; without infinities it becomes NaN."""
    if source.exponent_bits == target.exponent_bits and source.mantissa <= target.mantissa:
        return canonical(source, word) << target.mantissa - source.mantissa
    x = source.take_apart(word)
    lowest_bit = x.exponent - source.bias - source.mantissa
    result = target.round_integer(x.sign, select(x.zero, 0, x.significand), lowest_bit, width=_WIDTH)
    result = select(x.infinite, target.infinite(x.sign), result)
    return select(x.nan, target.nan, result)


def narrowed(narrow: FloatFormat, f: FloatFormat, word: Bits) -> Bits:
    """The number of a narrow format that is nearest to a word of a format, as a word of that."""
    return float_to_float(narrow, f, float_to_float(f, narrow, word))


def fixed_to_float(source: FixedFormat, target: FloatFormat, word: Bits) -> Bits:
    """Zero becomes +0."""
    signed = source.signed(word)
    negative = signed < 0
    magnitude = select(negative, -signed, signed)
    return target.round_integer(select(negative, 1, 0), magnitude, -source.fraction, width=_WIDTH)


def float_to_fixed(source: FloatFormat, target: FixedFormat, word: Bits) -> Bits:
    """Infinity is out of range. NaN gives `OVERFLOW`, or zero if the target saturates."""
    x = source.take_apart(word)
    shift = x.exponent - source.bias - source.mantissa + target.fraction
    # A shift to the left by 32 bits leaves every range.
    magnitude = _shift_rounded(select(x.zero, 0, x.significand), select(x.infinite, 32, clip(shift, -63, 32)))
    result = target.finish(select(x.sign == 1, -magnitude, magnitude))
    return select(x.nan, 0 if target.saturates else OVERFLOW, result)


def fixed_to_fixed(source: FixedFormat, target: FixedFormat, word: Bits) -> Bits:
    """Out of range gives `OVERFLOW`, or the nearest if the target saturates."""
    if source.fraction == target.fraction:
        return target.finish(source.signed(word))
    signed = source.signed(word)
    negative = signed < 0
    magnitude = _shift_rounded(select(negative, -signed, signed), target.fraction - source.fraction)
    return target.finish(select(negative, -magnitude, magnitude))


def _shift_rounded(magnitude: Bits, shift: Bits) -> Bits:
    """magnitude * 2**shift, to the nearest integer, ties to even; -63 <= shift <= 32."""
    quarters = shift_right_sticky(magnitude << 2, clip(-shift, 0, 63))
    rounded = quarters + 1 + (quarters >> 2 & 1) >> 2
    return select(shift > 0, magnitude << clip(shift, 0, 32), rounded)
