"""What the nonlinear functions share: the working precision, constants, and where tables are read."""

from decimal import Context, Decimal, localcontext

from samhw.graph.numerics.float_format import FloatFormat, Parts
from samhw.graph.numerics.lanes import Bits, clip, select, shift_right

__all__ = ["BINADES", "PI", "constant", "locate", "working"]

_GUARD = 7
"""Fraction bits of intermediates beyond the mantissa."""

PI = Decimal(
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170680"
)

BINADES = (
    (Decimal(0), Decimal(1)),
    (Decimal(1), Decimal(1)),
    (Decimal(2), Decimal(2)),
    (Decimal(4), Decimal(4)),
    (Decimal(8), Decimal(8)),
)
"""Groups of segments for a magnitude below 16: start and span. From 1 on each binade is a group."""


def working(f: FloatFormat) -> int:
    """Fraction bits of intermediates and tables: 30 for f32, 14 for bf16."""
    return f.mantissa + _GUARD


def constant(value: Decimal, fraction: int) -> int:
    """A constant in units of 2**-fraction, rounded to nearest."""
    with localcontext(Context(prec=60)):
        return round(value * (1 << fraction))


def locate(f: FloatFormat, x: Parts) -> tuple[Bits, Bits]:
    """The group of `BINADES` for a magnitude below 16, and the position in it with `working(f)` bits."""
    exponent = x.exponent - f.bias
    left_aligned = x.significand << _GUARD
    inside_one = shift_right(left_aligned, clip(-exponent, 0, 63))
    inside_binade = left_aligned & (1 << working(f)) - 1
    return clip(exponent + 1, 0, len(BINADES) - 1), select(exponent < 0, inside_one, inside_binade)
