"""sigmoid and silu, from exp(-|x|) and a reciprocal."""

from samhw.graph.numerics.exponential import exp2, times_log2_e
from samhw.graph.numerics.float_format import FloatFormat, Parts
from samhw.graph.numerics.lanes import Bits, select, shift_right, smaller
from samhw.graph.numerics.reciprocal import reciprocal_table
from samhw.graph.numerics.working import working

__all__ = ["sigmoid", "silu"]


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
