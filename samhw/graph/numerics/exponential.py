"""exp, and the power of two inside it that the other functions use as well."""

from decimal import Decimal
from functools import cache

from samhw.graph.numerics.float_format import FloatFormat, Parts
from samhw.graph.numerics.lanes import Bits, select, shift_right
from samhw.graph.numerics.piecewise import Piecewise, fit
from samhw.graph.numerics.working import constant, working

__all__ = ["LN_2", "LOG2_E", "exp", "exp2", "exp2_table", "times_log2_e"]

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
