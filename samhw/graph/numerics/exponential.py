"""exp, and the power of two inside it that the other functions use as well; and what is made of powers of e:
sigmoid and silu, from exp(-|x|) and a reciprocal, and tanh, as x * (tanh(x)/x)."""

from decimal import Decimal
from functools import cache

from samhw.graph.numerics.float_format import FloatFormat, Parts
from samhw.graph.numerics.piecewise import BINADES, Piecewise, constant, fit, locate, working
from samhw.graph.numerics.reciprocal import reciprocal_table
from samhw.graph.numerics.straight_line import Bits, select, shift_right, smaller

__all__ = ["LN_2", "LOG2_E", "exp", "exp2", "exp2_table", "sigmoid", "silu", "tanh", "tanh_table"]

LN_2 = Decimal("0.693147180559945309417232121458176568075500134360255254120680009")
LOG2_E = Decimal("1.44269504088896340735992468100189213742664595415298593413544940")

_SHAPE = {7: (5, 1), 23: (7, 2)}
"""By mantissa: index bits and degree."""


@cache
def exp2_table(f: FloatFormat) -> Piecewise:
    """2**x on [0, 1)."""
    index_bits, degree = _SHAPE[f.mantissa]
    return fit(
        lambda x: (x * LN_2).exp(),
        [(Decimal(0), Decimal(1))],
        index_bits=index_bits,
        degree=degree,
        fraction=working(f),
    )


def exp2(f: FloatFormat, y: Bits) -> tuple[Bits, Bits]:
    """2**y as (r, n): r * 2**n, r in [1, 2). Both y, signed, and r have `working(f)` fraction bits."""
    fraction = working(f)
    return exp2_table(f)(y & (1 << fraction) - 1, fraction), y >> fraction


def times_log2_e(f: FloatFormat, x: Parts) -> Bits:
    """|x| * log2(e) with `working(f)` fraction bits; 511 if |x| >= 256, where e**x is long out of range."""
    fraction = working(f)
    exponent = x.exponent - f.bias
    product = x.significand * constant(LOG2_E, fraction + 5)
    scaled = shift_right(product, select(exponent > 7, 0, f.mantissa + 5 - exponent))
    return select(exponent > 7, 511 << fraction, scaled)


def exp(f: FloatFormat, a: Bits) -> Bits:
    """e**a. exp(+-0) = 1, exp(-infinity) = +0."""
    x = f.take_apart(a)
    y = times_log2_e(f, x)
    r, n = exp2(f, select(x.sign == 1, -y, y))
    result = f.round(0, n + f.bias, r, extra=working(f) - f.mantissa)
    result = select(x.zero, f.one, result)
    result = select(x.infinite, select(x.sign == 1, 0, f.infinity), result)
    return select(x.nan, f.nan, result)


def _logistic(f: FloatFormat, x: Parts) -> tuple[Bits, Bits]:
    """1/(1 + exp(-x)) as (v, n): v * 2**n, v below 2 with `working(f)` fraction bits."""
    fraction = working(f)
    # E = exp(-|x|) = r * 2**n
    r, n = exp2(f, -times_log2_e(f, x))
    # 1 + E without its leading one; E = 1 is cut to the position below.
    position = smaller(shift_right(r, -n), (1 << fraction) - 1)
    inverse = reciprocal_table(f)(position, fraction)
    # x < 0: E / (1 + E). x >= 0: 1 / (1 + E).
    negative = x.sign == 1
    return select(negative, r * inverse >> fraction, inverse), select(negative, n, 0)


def sigmoid(f: FloatFormat, a: Bits) -> Bits:
    """1 / (1 + exp(-a)), 0 to 1."""
    x = f.take_apart(a)
    fraction = working(f)
    v, n = _logistic(f, x)
    result = f.round_integer(0, v, n - fraction, width=fraction + 1)
    result = select(x.zero, f.one - f.hidden, result)
    result = select(x.infinite, select(x.sign == 1, 0, f.one), result)
    return select(x.nan, f.nan, result)


def silu(f: FloatFormat, a: Bits) -> Bits:
    """a * sigmoid(a); -0 at -infinity."""
    x = f.take_apart(a)
    fraction = working(f)
    v, n = _logistic(f, x)
    lowest_bit = x.exponent - f.bias - f.mantissa + n - fraction
    result = f.round_integer(x.sign, x.significand * v, lowest_bit, width=f.mantissa + 2 + fraction)
    result = select(x.zero, f.pack(x.sign, 0), result)
    result = select(x.infinite, select(x.sign == 1, f.sign, f.infinity), result)
    return select(x.nan, f.nan, result)


_TANH_SHAPE = {7: (3, 2), 23: (5, 3)}
"""By mantissa: index bits of a group and degree."""


@cache
def tanh_table(f: FloatFormat) -> Piecewise:
    """tanh(x)/x on [0, 16), by `BINADES`."""
    index_bits, degree = _TANH_SHAPE[f.mantissa]
    return fit(_quotient, BINADES, index_bits=index_bits, degree=degree, fraction=_fraction(f))


def _fraction(f: FloatFormat) -> int:
    """Fraction bits of the table: two more, for the small quotients of great x."""
    return working(f) + 2


def _quotient(x: Decimal) -> Decimal:
    if x == 0:
        return Decimal(1)
    e = (-2 * x).exp()
    return (1 - e) / (1 + e) / x


def tanh(f: FloatFormat, a: Bits) -> Bits:
    """tanh(a), -1 to 1.

    The quotient keeps the relative precision of the result, down to the smallest a. From 16 on the result is
    one.
    """
    x = f.take_apart(a)
    group, position = locate(f, x)
    product = x.significand * tanh_table(f)(position, working(f), group)
    lowest_bit = x.exponent - f.bias - f.mantissa - _fraction(f)
    magnitude = f.round_integer(0, product, lowest_bit, width=f.mantissa + 2 + _fraction(f))
    magnitude = select(x.exponent > f.bias + 3, f.one, magnitude)
    return select(x.nan, f.nan, f.pack(x.sign, select(x.zero, 0, magnitude)))
