"""Rounding to whole numbers."""

from samhw.graph.numerics.float_arithmetic import canonical
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.lanes import Bits, clip, select, shift_right_sticky

__all__ = ["nearest_integer"]


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
