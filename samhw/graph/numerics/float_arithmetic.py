"""Floating-point arithmetic, correctly rounded, on `Bits`: the definition of each operation, in integers.

Every function takes the format and operand words and gives a word. Where a format has no subnormals they read
as zeros of their sign; any NaN gives the canonical one.

Rounding to whole numbers.
"""

from math import isqrt

import numpy as np

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.straight_line import Bits, Term, clip, select, shift_right_sticky

__all__ = [
    "absolute",
    "add",
    "canonical",
    "divide",
    "equal",
    "leaky_relu",
    "less",
    "less_equal",
    "maximum",
    "minimum",
    "multiply",
    "nearest_integer",
    "negate",
    "relu",
    "square_root",
    "subtract",
    "where",
]

_GUARD = 3
"""Guard, round and sticky: what the smaller addend keeps below the last bit of the greater one."""


def canonical(f: FloatFormat, word: Bits) -> Bits:
    """The same value as results give it: zero for what counts as one, the one NaN for every NaN."""
    magnitude = word & f.sign - 1
    flushed = select(magnitude < f.least, word & f.sign, word)
    return select(magnitude >= f.lowest_nan, f.nan, flushed)


def add(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """a + b."""
    swap = (a & f.sign - 1) < (b & f.sign - 1)
    x, y = f.take_apart(select(swap, b, a)), f.take_apart(select(swap, a, b))
    greater = select(x.zero, 0, x.significand << _GUARD)
    lesser = select(y.zero, 0, y.significand << _GUARD)
    lesser = shift_right_sticky(lesser, clip(x.exponent - y.exponent, 0, f.mantissa + _GUARD + 1))
    exact = greater + select(x.sign == y.sign, lesser, -lesser)
    # What cancels is +0; only two negative zeros make a -0.
    sign = select(exact == 0, x.sign & y.sign, x.sign)
    lowest_bit = x.exponent - f.bias - f.mantissa - _GUARD
    result = f.round_integer(sign, exact, lowest_bit, f.mantissa + 2 + _GUARD)
    result = select(x.infinite, f.infinite(x.sign), result)
    invalid = x.infinite & y.infinite & (x.sign != y.sign)
    return select(x.nan | y.nan | invalid, f.nan, result)


def subtract(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """a - b."""
    return add(f, a, b ^ f.sign)


def multiply(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """a * b. With a zero factor it is a zero, whatever the other one is."""
    x, y = f.take_apart(a), f.take_apart(b)
    zero, nan = x.zero | y.zero, x.nan | y.nan
    sign = select(nan, 0, x.sign ^ y.sign)
    product = x.significand * y.significand
    doubled = product >> 2 * f.mantissa + 1
    result = f.round(
        sign, x.exponent + y.exponent - f.bias + doubled, product << 1 - doubled, extra=f.mantissa + 1
    )
    result = select(x.infinite | y.infinite, f.infinite(sign), result)
    result = select(nan, f.nan, result)
    return select(zero, f.pack(sign, 0), result)


def divide(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """a / b. Zero by anything is a zero, any other number by zero infinite, infinity/infinity NaN."""
    x, y = f.take_apart(a), f.take_apart(b)
    nan = x.nan | y.nan
    sign = select(nan, 0, x.sign ^ y.sign)
    smaller = x.significand < y.significand
    dividend = x.significand << select(smaller, f.mantissa + 3, f.mantissa + 2)
    quotient = dividend // y.significand
    sticky = quotient * y.significand != dividend
    result = f.round(sign, x.exponent - y.exponent + f.bias - smaller, quotient | sticky, extra=2)
    result = select(y.infinite, f.pack(sign, 0), result)
    result = select(x.infinite | y.zero, f.infinite(sign), result)
    result = select(nan | (x.infinite & y.infinite), f.nan, result)
    return select(x.zero, f.pack(sign, 0), result)


def square_root(f: FloatFormat, a: Bits) -> Bits:
    """The square root; of -0 it is -0, of what is below NaN."""
    x = f.take_apart(a)
    unbiased = x.exponent - f.bias
    radicand = x.significand << f.mantissa + 4 + (unbiased & 1)
    root = _integer_root(radicand)
    sticky = root * root != radicand
    result = f.round(0, (unbiased >> 1) + f.bias, root | sticky, extra=2)
    result = select(x.infinite, f.infinity, result)
    result = select(x.zero, f.pack(x.sign, 0), result)
    return select(x.nan | ((x.sign == 1) & (x.zero == 0)), f.nan, result)


def _integer_root(x: Bits) -> Bits:
    """floor(sqrt(x)) for 0 <= x < 2**52."""
    if isinstance(x, np.ndarray):
        # x is exact in float64, and no root of a non-square is so near to an integer that it rounds up to it.
        return np.sqrt(x.astype(np.float64)).astype(np.int64)
    if isinstance(x, Term):
        return x.root()
    return isqrt(x)


def negate(f: FloatFormat, a: Bits) -> Bits:
    """-a."""
    return canonical(f, a ^ f.sign)


def absolute(f: FloatFormat, a: Bits) -> Bits:
    """|a|."""
    return canonical(f, a & f.sign - 1)


def maximum(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """The IEEE maximum: NaN if either is, and +0 above -0."""
    a, b = canonical(f, a), canonical(f, b)
    nan = (a == f.nan) | (b == f.nan)
    return select(nan, f.nan, select(_rank(f, a) >= _rank(f, b), a, b))


def minimum(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """The IEEE minimum: NaN if either is, and -0 below +0."""
    a, b = canonical(f, a), canonical(f, b)
    nan = (a == f.nan) | (b == f.nan)
    return select(nan, f.nan, select(_rank(f, a) <= _rank(f, b), a, b))


def relu(f: FloatFormat, a: Bits) -> Bits:
    """max(a, +0)."""
    return maximum(f, a, a & 0)


def leaky_relu(f: FloatFormat, a: Bits, slope: Bits) -> Bits:
    """a where its sign is positive or it is NaN, slope * a where it is negative."""
    passed = (a & f.sign == 0) | (a & f.sign - 1 >= f.lowest_nan)
    return select(passed, canonical(f, a), multiply(f, a, slope))


def less(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """One if a < b, else +0; with a NaN +0."""
    return _truth(f, a, b, _number(f, a) < _number(f, b))


def less_equal(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """One if a <= b, else +0; with a NaN +0."""
    return _truth(f, a, b, _number(f, a) <= _number(f, b))


def equal(f: FloatFormat, a: Bits, b: Bits) -> Bits:
    """One if a == b (-0 equals +0), else +0; with a NaN +0."""
    return _truth(f, a, b, _number(f, a) == _number(f, b))


def where(f: FloatFormat, condition: Bits, a: Bits, b: Bits) -> Bits:
    """a if the condition is nonzero (NaN is), else b."""
    return canonical(f, select(condition & f.sign - 1 >= f.least, a, b))


def _truth(f: FloatFormat, a: Bits, b: Bits, holds: Bits) -> Bits:
    magnitude = f.sign - 1
    ordered = (a & magnitude < f.lowest_nan) & (b & magnitude < f.lowest_nan)
    return select(holds & ordered, f.one, 0)


def _rank(f: FloatFormat, word: Bits) -> Bits:
    """An integer that orders words as their values, with -0 below +0."""
    return (word & f.sign - 1) ^ -(word >> f.width - 1)


def _number(f: FloatFormat, word: Bits) -> Bits:
    """An integer that orders words as their values, equal for all zeros."""
    magnitude = word & f.sign - 1
    flushed = select(magnitude < f.least, 0, magnitude)
    return select(word & f.sign == 0, flushed, -flushed)


def nearest_integer(f: FloatFormat, a: Bits) -> Bits:
    """The whole number nearest to a, of two the even one, with the sign of a."""
    magnitude = a & f.sign - 1
    # Bits after the point, where there are some and a is at least one.
    fraction = clip(f.bias + f.mantissa - (magnitude >> f.mantissa), 1, f.mantissa)
    kept = magnitude >> fraction
    # Half and sticky. The bias is odd, and so the lowest bit that is kept of numbers from one to two is set.
    lost = shift_right_sticky(magnitude - (kept << fraction) << 1, fraction - 1)
    rounded = kept + ((lost + (kept & 1)) > 2) << fraction
    below_one = select(magnitude > f.one - f.hidden, f.one, 0)
    rounded = select(magnitude < f.one, below_one, rounded)
    is_whole = magnitude >= f.one + (f.mantissa << f.mantissa)
    return select(is_whole, canonical(f, a), rounded | a & f.sign)
