"""1/x and 1/sqrt(x), by table from the leading bits of the significand."""

from decimal import Decimal
from functools import cache

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import Piecewise, fit, working
from samhw.graph.numerics.straight_line import Bits, select, smaller

__all__ = ["reciprocal", "reciprocal_root", "reciprocal_table", "root_table"]

_SHAPE = {7: (6, 1), 23: (8, 2)}
_ROOT_SHAPE = {7: (7, 0), 23: (7, 2)}
"""By mantissa: index bits and degree."""


@cache
def reciprocal_table(f: FloatFormat) -> Piecewise:
    """1/x on [1, 2)."""
    index_bits, degree = _SHAPE[f.mantissa]
    return fit(
        lambda x: 1 / x, [(Decimal(1), Decimal(1))], index_bits=index_bits, degree=degree, fraction=working(f)
    )


@cache
def root_table(f: FloatFormat) -> Piecewise:
    """1/sqrt(x), group 0 on [1, 2), group 1 on [2, 4)."""
    index_bits, degree = _ROOT_SHAPE[f.mantissa]
    return fit(
        lambda x: 1 / x.sqrt(),
        [(Decimal(1), Decimal(1)), (Decimal(2), Decimal(2))],
        index_bits=index_bits,
        degree=degree,
        fraction=working(f),
    )


def reciprocal(f: FloatFormat, a: Bits) -> Bits:
    """1/a. Zeros give infinities and infinities zeros, of the same sign; powers of two are exact."""
    x = f.take_apart(a)
    # 1/significand lies in (1/2, 1]. One itself is cut to what is below; rounding brings it back.
    below_one = (1 << working(f)) - 1
    value = smaller(reciprocal_table(f)(x.significand - f.hidden, f.mantissa), below_one)
    result = f.round(x.sign, 2 * f.bias - 1 - x.exponent, value, extra=working(f) - 1 - f.mantissa)
    result = select(x.zero, f.pack(x.sign, f.infinity), result)
    result = select(x.infinite, f.pack(x.sign, 0), result)
    return select(x.nan, f.nan, result)


def reciprocal_root(f: FloatFormat, a: Bits) -> Bits:
    """1/sqrt(a). Zeros give infinities of the same sign, what is below zero NaN; powers of four are exact."""
    x = f.take_apart(a)
    unbiased = x.exponent - f.bias
    value = root_table(f)(x.significand - f.hidden, f.mantissa, group=unbiased & 1)
    result = f.round(0, f.bias - 1 - (unbiased >> 1), value, extra=working(f) - 1 - f.mantissa)
    result = select(x.infinite, 0, result)
    result = select(x.zero, f.pack(x.sign, f.infinity), result)
    return select(x.nan | ((x.sign == 1) & (x.zero == 0)), f.nan, result)
