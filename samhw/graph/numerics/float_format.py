"""The two ends of every floating-point operation: taking words apart, and rounding a result into a word."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from samhw.graph.numerics.straight_line import Bits, bit_length, clip, select, shift_right_sticky, smaller

__all__ = ["BF16", "F8E4M3", "F8E5M2", "F16", "F32", "FloatFormat", "Parts"]


class Parts(NamedTuple):
    """A word taken apart. A subnormal is a zero, or normalised in a format that has them."""

    sign: Bits
    """0 or 1."""
    exponent: Bits
    """The biased exponent, as stored; below one for a subnormal that was normalised."""
    significand: Bits
    """The mantissa below its leading one: `mantissa + 1` bits; meaningless for zero, infinity and NaN."""
    zero: Bits
    infinite: Bits
    nan: Bits


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format: sign, biased exponent, mantissa."""

    exponent_bits: int
    mantissa: int
    """Bits after the leading one."""
    subnormals: bool = False
    """Whether there are any; else they count as zeros."""
    infinities: bool = True
    """Whether there are any; else the greatest word of each sign is a NaN, and all others are numbers."""

    @cached_property
    def width(self) -> int:
        """Bits of a word."""
        return 1 + self.exponent_bits + self.mantissa

    @cached_property
    def bias(self) -> int:
        """What a stored exponent is greater by."""
        return (1 << self.exponent_bits - 1) - 1

    @cached_property
    def sign(self) -> int:
        """The word of -0, and the sign bit of every word."""
        return 1 << self.width - 1

    @cached_property
    def infinity(self) -> int:
        """The word of +infinity, or of the NaN that stands for it."""
        return (1 << self.exponent_bits) - 1 << self.mantissa if self.infinities else self.sign - 1

    @cached_property
    def lowest_nan(self) -> int:
        """From this word up to `sign` all are NaN."""
        return self.infinity + self.infinities

    @cached_property
    def least(self) -> int:
        """The word of the smallest number above zero. Lesser ones count as zeros."""
        return 1 if self.subnormals else self.hidden

    @cached_property
    def hidden(self) -> int:
        """The leading one of a significand, and the word of the smallest normal number."""
        return 1 << self.mantissa

    @cached_property
    def nan(self) -> int:
        """The one NaN that operations give: positive and quiet, without payload."""
        return self.infinity | self.hidden >> 1 if self.infinities else self.infinity

    @cached_property
    def one(self) -> int:
        """The word of 1."""
        return self.bias << self.mantissa

    def has_all(self, other: "FloatFormat") -> bool:
        """Whether it has all numbers of another format, and the infinities."""
        least, others = (f.subnormals * -f.mantissa + 1 - f.bias for f in (self, other))
        greatest, its = ((1 << f.exponent_bits) - f.infinities - f.bias for f in (self, other))
        is_as_wide = self.mantissa >= other.mantissa and least <= others and its <= greatest
        return self == other or (is_as_wide and self.infinities)

    def take_apart(self, word: Bits) -> Parts:
        """The fields and the class of a word."""
        magnitude = word & self.sign - 1
        exponent, significand = magnitude >> self.mantissa, magnitude & self.hidden - 1 | self.hidden
        if self.subnormals:
            mantissa = magnitude & self.hidden - 1
            mantissa = mantissa | (mantissa == 0)  # A zero's significand means nothing, but may be a divisor.
            length = bit_length(mantissa)
            normal = magnitude >= self.hidden
            significand = select(normal, significand, mantissa << self.mantissa + 1 - length)
            exponent = select(normal, exponent, length - self.mantissa)
        return Parts(
            sign=word >> self.width - 1,
            exponent=exponent,
            significand=significand,
            zero=magnitude < self.least,
            infinite=magnitude == (self.infinity if self.infinities else self.sign),
            nan=magnitude >= self.lowest_nan,
        )

    def pack(self, sign: Bits, magnitude: Bits) -> Bits:
        """A word from its sign and the bits below."""
        return sign << self.width - 1 | magnitude

    def infinite(self, sign: Bits) -> Bits:
        """The word of the infinity of a sign, or NaN where there are none."""
        return self.pack(sign, self.infinity) if self.infinities else self.nan

    def round(self, sign: Bits, exponent: Bits, significand: Bits, extra: int) -> Bits:
        """The word of (-1)**sign * significand * 2**(exponent - bias - mantissa - extra), to nearest even.

        Args:
            exponent: biased, of any size; overflow gives infinity, or NaN where there is none.
            significand: its leading one at bit `mantissa + extra`; if extra >= 2 its lowest bit may stand for
                lost ones.
            extra: bits to be rounded away, at least 1.

        Without subnormals a result is flushed to a zero of its sign where IEEE rounding gives one.
        Subnormals are half as dense as the numbers of this exponent would be, so that what rounds up to the
        smallest normal number are the significands whose kept bits are all ones, whatever follows.
        """
        if self.subnormals:
            return self._round_gradually(sign, exponent, significand, extra)
        kept = significand >> extra
        rounded = significand + (1 << extra - 1) - 1 + (kept & 1) >> extra
        # Adding, not joining, lets the carry of rounding run into the exponent.
        magnitude = smaller((exponent << self.mantissa) + rounded - self.hidden, self.infinity)
        reaches_normal = (exponent == 0) & (kept == 2 * self.hidden - 1)
        magnitude = select(exponent > 0, magnitude, select(reaches_normal, self.hidden, 0))
        return self.pack(sign, magnitude)

    def _round_gradually(self, sign: Bits, exponent: Bits, significand: Bits, extra: int) -> Bits:
        """`round` with subnormals: their significands are shifted to the exponent that they share."""
        shift = clip(1 - exponent, 0, self.mantissa + 3)
        # Two more bits: one to round by, and one that stands for all that is lost.
        significand, extra = shift_right_sticky(significand << 2, shift), extra + 2
        rounded = significand + (1 << extra - 1) - 1 + (significand >> extra & 1) >> extra
        exponent = select(exponent > 0, exponent, 1)
        magnitude = smaller((exponent << self.mantissa) + rounded - self.hidden, self.infinity)
        word = self.pack(sign, magnitude)
        return word if self.infinities else select(magnitude == self.nan, self.nan, word)

    def round_integer(self, sign: Bits, value: Bits, exponent: Bits, width: int) -> Bits:
        """The word nearest to (-1)**sign * value * 2**exponent, ties to even, flushed as in `round`.

        Args:
            value: 0 <= value < 2**width; need not be normalised. Zero gives a zero of that sign.
            exponent: of the lowest bit of `value`, not biased.
            width: of `value`, more than `mantissa + 1` and at most 62 bits.
        """
        length = bit_length(value)
        extra = width - 1 - self.mantissa
        word = self.round(sign, exponent + length - 1 + self.bias, value << width - length, extra)
        return select(value == 0, self.pack(sign, 0), word)


F8E4M3 = FloatFormat(4, 3, subnormals=True, infinities=False)
F8E5M2 = FloatFormat(5, 2, subnormals=True)
F16 = FloatFormat(5, 10, subnormals=True)
BF16 = FloatFormat(8, 7)
F32 = FloatFormat(8, 23)
