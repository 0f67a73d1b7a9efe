"""Operations of integers and fixed point, exact or correctly rounded, on `Bits`.

Every function takes the format and operand words and gives a word, or `OVERFLOW` if the format does not
saturate.
"""

from samhw.graph.numerics.fixed_format import FixedFormat
from samhw.graph.numerics.lanes import Bits, select

__all__ = [
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
