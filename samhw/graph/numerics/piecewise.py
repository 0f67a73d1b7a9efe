"""What the nonlinear functions share: tables of polynomials in fixed point, by which the units evaluate a
smooth function; the working precision, constants, and where tables are read.

The coefficients are part of the definition. They come from the function itself, in decimal arithmetic that
rounds correctly, so that every machine computes the same table when it is first needed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from samhw.graph.numerics.float_format import FloatFormat, Parts
from samhw.graph.numerics.straight_line import Bits, clip, lookup, select, shift_right

__all__ = ["BINADES", "PI", "Piecewise", "constant", "fit", "locate", "stored_width", "working"]

DecimalFunction = Callable[[Decimal], Decimal]

_DIGITS = 90
"""Enough for the cancellation in the tail of the normal distribution (gelu), and plenty for all others."""

_NODES = {
    degree: tuple(map(Decimal, nodes.split()))
    for degree, nodes in {
        0: "0",
        1: "0.1464466 0.8535534",
        2: "0.0669873 0.5 0.9330127",
        3: "0.0380602 0.3086583 0.6913417 0.9619398",
    }.items()
}
"""By degree, where in its segment a polynomial meets the function: Chebyshev's points, or the only one."""


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A function on groups of segments, a polynomial on each. The segments of a group are equally wide."""

    columns: tuple[NDArray[np.int64], ...]
    """The coefficients by degree, one for each segment, in units of 2**-fraction."""
    index_bits: int
    """A group has 2**index_bits segments."""
    fraction: int
    """Fraction bits of coefficients and values."""

    def __call__(self, position: Bits, bits: int, group: Bits = 0) -> Bits:
        """The value at `position`, a fraction of the group with that many bits, in units of 2**-fraction.

        The leading bits choose the segment, the others are the variable, from 0 to 1. Horner's rule: each
        product is cut, toward minus infinity, to the fraction bits before the next coefficient is added.
        """
        t_bits = bits - self.index_bits
        index = (group << self.index_bits) + (position >> t_bits)
        t = position & (1 << t_bits) - 1
        value = lookup(self.columns[-1], index)
        for column in self.columns[-2::-1]:
            value = lookup(column, index) + (value * t >> t_bits)
        return value

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Bits of each coefficient as stored, by degree: with a sign bit where any of them is negative."""
        return tuple(map(stored_width, self.columns))

    @property
    def bits(self) -> int:
        """The size of the table."""
        return len(self.columns[0]) * sum(self.widths)


def stored_width(column: NDArray[np.int64]) -> int:
    """The bits that hold every integer of a column."""
    least, greatest = int(column.min()), int(column.max())
    return max(max(greatest, -least - 1).bit_length() + (least < 0), 1)


def fit(
    function: DecimalFunction,
    groups: Iterable[tuple[Decimal, Decimal]],
    *,
    index_bits: int,
    degree: int,
    fraction: int,
) -> Piecewise:
    """The table of a function. `groups`: where each group of segments starts, and how wide it is in all."""
    rows = []
    with localcontext(Context(prec=_DIGITS)):
        for start, span in groups:
            width = span / (1 << index_bits)
            for segment in range(1 << index_bits):
                left = start + segment * width
                points = [(node, function(left + node * width)) for node in _NODES[degree]]
                rows.append([round(c * (1 << fraction)) for c in _interpolate(points)])
    return Piecewise(tuple(np.array(rows, dtype=np.int64).T.copy()), index_bits, fraction)


def _interpolate(points: list[tuple[Decimal, Decimal]]) -> list[Decimal]:
    """Coefficients, by degree, of the polynomial through the points."""
    nodes = [x for x, _ in points]
    differences = [y for _, y in points]
    for order in range(1, len(points)):
        for i in range(len(points) - 1, order - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order])
    coefficients = [Decimal(0)] * len(points)
    for node, difference in zip(reversed(nodes), reversed(differences), strict=True):
        # coefficients := coefficients * (x - node) + difference
        shifted = [Decimal(0), *coefficients[:-1]]
        coefficients = [up - node * same for up, same in zip(shifted, coefficients, strict=True)]
        coefficients[0] += difference
    return coefficients


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
