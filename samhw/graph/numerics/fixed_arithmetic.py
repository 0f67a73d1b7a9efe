"""Two's complement words as numbers: what integers and fixed point have in common, and their operations,
exact or correctly rounded, on `Bits`.

Every operation takes the format and operand words and gives a word, or `OVERFLOW` if the format does not
saturate.
"""

from dataclasses import dataclass
from functools import cached_property

from samhw.graph.numerics.straight_line import Bits, clip, select
from samhw.graph.numerics.valuetype import OVERFLOW

__all__ = [
    "FixedFormat",
    "absolute",
    "add",
    "divide",
    "equal",
    "leaky_relu",
    "less",
    "less_equal",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "relu",
    "subtract",
    "where",
]


@dataclass(frozen=True)
class FixedFormat:
    """Two's complement words of `width` bits, `fraction` of them after the point; or words without a sign."""

    width: int
    fraction: int
    saturates: bool
    """What happens to a result out of range: it becomes the nearest in range, or `OVERFLOW`."""
    is_signed: bool = True

    @cached_property
    def lowest(self) -> int:
        """The least number, in units of the last place."""
        return -(1 << self.width - 1) if self.is_signed else 0

    @cached_property
    def highest(self) -> int:
        """The greatest number, in the same units."""
        return (1 << self.width - self.is_signed) - 1

    @cached_property
    def one(self) -> int:
        """The word of 1, or the greatest if that is below 1."""
        return min(1 << self.fraction, self.highest)

    def signed(self, word: Bits) -> Bits:
        """The word as an integer."""
        return (word ^ -self.lowest) + self.lowest

    def saturate(self, exact: Bits) -> Bits:
        """The word of the number in range that is nearest to a signed integer."""
        return clip(exact, self.lowest, self.highest) & (1 << self.width) - 1

    def finish(self, exact: Bits) -> Bits:
        """The word of a signed integer, or what stands for one that is out of range."""
        word = self.saturate(exact)
        return word if self.saturates else select(self.signed(word) == exact, word, OVERFLOW)


def add(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """a + b."""
    return f.finish(f.signed(a) + f.signed(b))


def subtract(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """a - b."""
    return f.finish(f.signed(a) - f.signed(b))


def multiply(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """a * b, rounded to nearest, ties to even."""
    product = f.signed(a) * f.signed(b)
    if f.fraction:
        product = product + (1 << f.fraction - 1) - 1 + (product >> f.fraction & 1) >> f.fraction
    return f.finish(product)


def maximum(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """The greater."""
    return select(f.signed(a) >= f.signed(b), a, b)


def minimum(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """The lesser."""
    return select(f.signed(a) <= f.signed(b), a, b)


def negate(f: FixedFormat, a: Bits) -> Bits:
    """-a. That of the lowest number is out of range."""
    return f.finish(-f.signed(a))


def absolute(f: FixedFormat, a: Bits) -> Bits:
    """|a|. That of the lowest number is out of range."""
    x = f.signed(a)
    return f.finish(select(x < 0, -x, x))


def relu(f: FixedFormat, a: Bits) -> Bits:
    """max(a, 0)."""
    return select(f.signed(a) < 0, 0, a)


def leaky_relu(f: FixedFormat, a: Bits, slope: Bits) -> Bits:
    """a if it is not negative, else slope * a, rounded to nearest, ties to even."""
    return select(f.signed(a) < 0, multiply(f, a, slope), a)


def less(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """One if a < b, else zero."""
    return select(f.signed(a) < f.signed(b), f.one, 0)


def less_equal(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """One if a <= b, else zero."""
    return select(f.signed(a) <= f.signed(b), f.one, 0)


def equal(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """One if a == b, else zero."""
    return select(a == b, f.one, 0)


def where(f: FixedFormat, condition: Bits, a: Bits, b: Bits) -> Bits:
    """a if the condition is not zero, else b."""
    return select(condition != 0, a, b)


def divide(f: FixedFormat, a: Bits, b: Bits) -> Bits:
    """a / b, to nearest, ties to even. A number by zero is out of range, zero by anything zero."""
    x, y = f.signed(a), f.signed(b)
    negative = (x < 0) != (y < 0)
    divisor = select(y == 0, 1, select(y < 0, -y, y))
    dividend = select(x < 0, -x, x) << f.fraction
    quotient = dividend // divisor
    twice_rest = 2 * (dividend - quotient * divisor)
    up = (twice_rest > divisor) | ((twice_rest == divisor) & (quotient & 1 == 1))
    magnitude = select((y == 0) & (x != 0), 1 << f.width, quotient + up)
    return f.finish(select(negative, -magnitude, magnitude))
