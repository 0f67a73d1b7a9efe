"""gelu with the exact normal distribution: x * Phi(x) = x * (1 + erf(x / sqrt(2))) / 2."""

from decimal import Decimal
from functools import cache

from samhw.graph.numerics.exponential import LOG2_E, exp2
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import BINADES, PI, Piecewise, constant, fit, locate, working
from samhw.graph.numerics.straight_line import Bits, select, shift_right

__all__ = ["gelu", "tail_table"]

_SHAPE = {7: (3, 2), 23: (5, 3)}
"""By mantissa: index bits of a group and degree."""

_SQUARE = 36
"""The most bits of x**2 that are kept."""
_CUT = 12
"""Low bits of its product with a constant that no one needs."""


@cache
def tail_table(f: FloatFormat) -> Piecewise:
    """Phi(-x) * exp(x**2 / 2) on [0, 16), by `BINADES`: the smooth part of the normal distribution's tail."""
    index_bits, degree = _SHAPE[f.mantissa]
    return fit(_smooth_tail, BINADES, index_bits=index_bits, degree=degree, fraction=working(f) + 2)


def _smooth_tail(x: Decimal) -> Decimal:
    """exp(x**2/2)/2 - (x + x**3/3 + x**5/(3*5) + ...) / sqrt(2 pi)."""
    square = x * x
    term = total = x
    odd = 1
    while term > total * Decimal("1e-88"):
        odd += 2
        term = term * square / odd
        total += term
    return (square / 2).exp() / 2 - total / (2 * PI).sqrt()


def _half_square_log2_e(f: FloatFormat, significand: Bits, exponent: Bits) -> Bits:
    """x**2 / 2 * log2(e) with `working(f)` fraction bits, for exponents up to 3."""
    fraction = working(f)
    cut = max(2 * f.mantissa + 2 - _SQUARE, 0)
    square = significand * significand >> cut
    factor = constant(LOG2_E / 2, fraction + 6)
    # square * factor >> _CUT, in two products that keep below 63 bits.
    product = square * (factor >> _CUT) + (square * (factor & (1 << _CUT) - 1) >> _CUT)
    return shift_right(product, 2 * f.mantissa - cut + 6 - _CUT - 2 * exponent)


def gelu(f: FloatFormat, a: Bits) -> Bits:
    """a * Phi(a); -0 at -infinity.

    Phi(-|a|) = exp(-a**2/2) * h(|a|), with h from the table, serves a < 0; 1 minus it serves a >= 0. From 16
    on gelu(a) is a, or -0.
    """
    x = f.take_apart(a)
    fraction = working(f)
    exponent = x.exponent - f.bias
    beyond = exponent > 3
    bounded = select(beyond, 3, exponent)
    r, n = exp2(f, -_half_square_log2_e(f, x.significand, bounded))
    group, position = locate(f, x)
    tail_fraction = fraction + 5
    tail = r * tail_table(f)(position, fraction, group) >> 2 * fraction + 2 - tail_fraction
    negative = x.sign == 1
    phi = select(negative, tail, (1 << tail_fraction) - shift_right(tail, -n))
    lowest_bit = bounded - f.mantissa - tail_fraction + select(negative, n, 0)
    result = f.round_integer(x.sign, x.significand * phi, lowest_bit, width=f.mantissa + 2 + tail_fraction)
    result = select(beyond | x.infinite, select(negative, f.sign, a), result)
    result = select(x.zero, f.pack(x.sign, 0), result)
    return select(x.nan, f.nan, result)
