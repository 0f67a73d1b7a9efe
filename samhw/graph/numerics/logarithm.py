"""The natural logarithm."""

from decimal import Decimal
from functools import cache

from samhw.graph.numerics.exponential import LN_2
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import Piecewise, constant, fit, working
from samhw.graph.numerics.straight_line import Bits, select

__all__ = ["log", "log_table"]

_SHAPE = {7: (7, 0), 23: (7, 2)}
"""By mantissa: index bits and degree."""


@cache
def log_table(f: FloatFormat) -> Piecewise:
    """ln(s)/(s - 1) on [1, 2), where s = x below 1.5 and x/2 from there on, so that s lies around 1."""
    index_bits, degree = _SHAPE[f.mantissa]
    return fit(
        _quotient, [(Decimal(1), Decimal(1))], index_bits=index_bits, degree=degree, fraction=working(f)
    )


def _quotient(x: Decimal) -> Decimal:
    s = x if x < Decimal("1.5") else x / 2
    return s.ln() / (s - 1) if s != 1 else Decimal(1)


def log(f: FloatFormat, a: Bits) -> Bits:
    """ln(a). log(+-0) = -infinity, log(1) = +0; NaN below zero.

    a = s * 2**e with s in [0.75, 1.5); ln(a) = e * ln(2) + (s - 1) * q(s). The table holds the quotient q, so
    that the result keeps its relative precision next to 1, where e = 0 and s - 1 is exact.
    """
    x = f.take_apart(a)
    mantissa = x.significand - f.hidden
    upper = mantissa >> f.mantissa - 1
    e = x.exponent - f.bias + upper
    # s - 1 in units of 2**-(mantissa + 1).
    distance = select(upper == 1, mantissa - f.hidden, 2 * mantissa)
    fraction = f.mantissa + 1 + working(f)
    ln_2_fraction = working(f) + 4
    near = distance * log_table(f)(mantissa, f.mantissa)
    far = e * constant(LN_2, ln_2_fraction) << fraction - ln_2_fraction
    total = near + far
    negative = total < 0
    result = f.round_integer(
        select(negative, 1, 0), select(negative, -total, total), -fraction, width=fraction + 7
    )
    result = select(x.infinite, f.infinity, result)
    result = select(x.zero, f.pack(1, f.infinity), result)
    return select(x.nan | ((x.sign == 1) & (x.zero == 0)), f.nan, result)
