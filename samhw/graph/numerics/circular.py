"""sin and cos, of the fraction of a quarter turn that is left of the angle."""

from decimal import Context, Decimal, localcontext
from functools import cache

import numpy as np
from numpy.typing import NDArray

from samhw.graph.numerics.float_format import FloatFormat, Parts
from samhw.graph.numerics.piecewise import PI, Piecewise, fit, working
from samhw.graph.numerics.straight_line import Bits, bit_length, clip, lookup, select

__all__ = ["circle_table", "cos", "linear_below", "sin", "window_table"]

_SHAPE = {7: (5, 1), 23: (7, 2)}
"""By mantissa: index bits of a group and degree."""

_HALF = Decimal("0.5")


@cache
def circle_table(f: FloatFormat) -> Piecewise:
    """Of t quarter turns, 0 <= t < 1/2: in group 0 the sine over 2 t, in group 1 the cosine. 0.7 to 1."""
    index_bits, degree = _SHAPE[f.mantissa]
    groups = [(Decimal(0), _HALF), (Decimal(1), _HALF)]
    return fit(_circle, groups, index_bits=index_bits, degree=degree, fraction=working(f))


def _circle(x: Decimal) -> Decimal:
    """Group 1 begins at 1."""
    return _series(x - 1, 0) if x >= 1 else _series(x, 1) / (2 * x)


def _series(t: Decimal, first: int) -> Decimal:
    """The cosine of t quarter turns, whose power series begins with 1, or the sine, which begins with t pi/2.

    Args:
        first: the power that it begins with, 0 or 1.
    """
    angle = t * PI / 2
    total = term = angle if first else Decimal(1)
    n = first
    while abs(term) > Decimal("1e-88"):
        n += 2
        term = -term * angle * angle / (n * (n - 1))
        total += term
    return total


def linear_below(f: FloatFormat) -> int:
    """The exponent below which sin(a) is a and cos(a) is 1, to a sixth and half of a**2: -5 or -13."""
    return -(f.mantissa + 3) // 2


@cache
def window_table(f: FloatFormat) -> tuple[NDArray[np.int64], ...]:
    """For each exponent from `linear_below` on, the bits of 2/pi that count, in three pieces from the top.

    What lies above gives whole turns, and what lies below is lost after the 2 * `working(f)` fraction bits
    that are kept of a product. The lower two pieces have `working(f)` bits each.
    """
    fraction = working(f)
    rows = []
    with localcontext(Context(prec=90)):
        for exponent in range(linear_below(f), f.bias + 1):
            window = int(2 / PI * (1 << exponent + 2 * fraction + 1)) % (1 << 2 * fraction + f.mantissa + 3)
            upper, low = divmod(window, 1 << fraction)
            rows.append([*divmod(upper, 1 << fraction), low])
    return tuple(np.array(rows, dtype=np.int64).T.copy())


def _quarter_turns(f: FloatFormat, x: Parts) -> Bits:
    """|x| in quarter turns modulo 4, with 2 * `working(f)` fraction bits; of no meaning below exponents of
    `linear_below`."""
    fraction, lost = working(f), f.mantissa + 1
    windows = window_table(f)
    index = clip(x.exponent - f.bias - linear_below(f), 0, len(windows[0]) - 1)
    high, middle, low = (x.significand * lookup(column, index) for column in windows)
    upper = (high & (1 << f.mantissa + 3) - 1) << 2 * fraction - lost
    return upper + (middle << fraction - lost) + (low >> lost) & (1 << 2 * fraction + 2) - 1


def _sine(f: FloatFormat, y: Bits) -> tuple[Bits, Bits]:
    """The sine of y quarter turns, y modulo 4 with 2 * `working(f)` fraction bits, as sign and magnitude.

    In each eighth of a turn it is the sine or the cosine of the distance to a multiple of a quarter turn, at
    most 1/2. The distance of every number has its leading one in its upper half. What is lost of it there is
    less than a part in 2**(mantissa + 5).
    """
    fraction = working(f)
    octant, rest = y >> 2 * fraction - 1 & 7, y & (1 << 2 * fraction - 1) - 1
    distance = select(octant & 1 == 1, (1 << 2 * fraction - 1) - 1 - rest, rest)
    by_cosine = octant + 1 >> 1 & 1
    position = distance >> fraction - 1
    zeros = fraction - bit_length(position)
    factor = select(by_cosine == 1, 1 << fraction, (distance << zeros) >> fraction - 2)
    product = factor * circle_table(f)(position, fraction, by_cosine)
    top = product >> 2 * fraction
    exponent = select(by_cosine == 1, f.bias - 1, f.bias - 2 - zeros) + top
    magnitude = f.round(0, exponent, product << 1 - top, extra=2 * fraction - f.mantissa)
    return octant >> 2, magnitude


def sin(f: FloatFormat, a: Bits) -> Bits:
    """sin(a), a in radians; NaN for infinities."""
    x = f.take_apart(a)
    sign, magnitude = _sine(f, _quarter_turns(f, x))
    linear = x.exponent < f.bias + linear_below(f)
    result = select(linear, a, f.pack(x.sign ^ sign, magnitude))
    result = select(x.zero, f.pack(x.sign, 0), result)
    return select(x.infinite | x.nan, f.nan, result)


def cos(f: FloatFormat, a: Bits) -> Bits:
    """cos(a), a in radians; NaN for infinities."""
    x = f.take_apart(a)
    sign, magnitude = _sine(f, _quarter_turns(f, x) + (1 << 2 * working(f)))
    result = select(x.exponent < f.bias + linear_below(f), f.one, f.pack(sign, magnitude))
    return select(x.infinite | x.nan, f.nan, result)
