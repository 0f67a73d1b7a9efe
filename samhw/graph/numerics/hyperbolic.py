"""tanh, as x * (tanh(x)/x)."""

from decimal import Decimal
from functools import cache

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.lanes import Bits, select
from samhw.graph.numerics.piecewise import Piecewise, fit
from samhw.graph.numerics.working import BINADES, locate, working

__all__ = ["tanh", "tanh_table"]

_SHAPE = {7: (3, 2), 23: (5, 3)}
"""By mantissa: index bits of a group and degree."""


@cache
def tanh_table(f: FloatFormat) -> Piecewise:
    """tanh(x)/x on [0, 16), by `BINADES`."""
    index_bits, degree = _SHAPE[f.mantissa]
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
