"""The two ends of every floating-point operation: taking words apart, and rounding a result into a word."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from samhw.numerics.lanes import Bits, bit_length, select, smaller

__all__ = ["BF16", "F32", "FloatFormat", "Parts"]


class Parts(NamedTuple):
    """A word taken apart. A subnormal is a zero."""

    sign: Bits
    """0 or 1."""
    exponent: Bits
    """The biased exponent, as stored."""
    significand: Bits
    """The mantissa below its leading one: `mantissa + 1` bits; meaningless for zero, infinity and NaN."""
    zero: Bits
    infinite: Bits
    nan: Bits


@dataclass(frozen=True)
class FloatFormat:
    """A binary interchange format: sign, biased exponent, mantissa."""

    exponent_bits: int
    mantissa: int
    """Bits behind the leading one."""

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
        """The word of +infinity. Greater ones below `sign` are NaN."""
        return (1 << self.exponent_bits) - 1 << self.mantissa

    @cached_property
    def hidden(self) -> int:
        """The leading one of a significand, and the word of the smallest normal number."""
        return 1 << self.mantissa

    @cached_property
    def nan(self) -> int:
        """The one NaN that operations give: positive and quiet, without payload."""
        return self.infinity | self.hidden >> 1

    @cached_property
    def one(self) -> int:
        """The word of 1."""
        return self.bias << self.mantissa

    def take_apart(self, word: Bits) -> Parts:
        """The fields and the class of a word."""
        magnitude = word & self.sign - 1
        return Parts(
            sign=word >> self.width - 1,
            exponent=magnitude >> self.mantissa,
            significand=magnitude & self.hidden - 1 | self.hidden,
            zero=magnitude < self.hidden,
            infinite=magnitude == self.infinity,
            nan=magnitude > self.infinity,
        )

    def pack(self, sign: Bits, magnitude: Bits) -> Bits:
        """A word from its sign and the bits below."""
        return sign << self.width - 1 | magnitude

    def round(self, sign: Bits, exponent: Bits, significand: Bits, extra: int) -> Bits:
        """The word of (-1)**sign * significand * 2**(exponent - bias - mantissa - extra), to nearest even.

        Args:
            exponent: biased, of any size; overflow gives infinity.
            significand: its leading one at bit `mantissa + extra`; if extra >= 2 its lowest bit may stand for
                lost ones.
            extra: bits to be rounded away, at least 1.

        A result is flushed to a zero of its sign where IEEE rounding, subnormals included, gives a subnormal.
        Subnormals are half as dense as the numbers of this exponent would be, so that what rounds up to the
        smallest normal number are the significands whose kept bits are all ones, whatever follows.
        """
        kept = significand >> extra
        rounded = significand + (1 << extra - 1) - 1 + (kept & 1) >> extra
        # Adding, not joining, lets the carry of rounding run into the exponent.
        magnitude = smaller((exponent << self.mantissa) + rounded - self.hidden, self.infinity)
        reaches_normal = (exponent == 0) & (kept == 2 * self.hidden - 1)
        magnitude = select(exponent > 0, magnitude, select(reaches_normal, self.hidden, 0))
        return self.pack(sign, magnitude)

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


BF16 = FloatFormat(8, 7)
F32 = FloatFormat(8, 23)
