"""Numbers of one value type as numbers of another, and scaled integers, by docs/numerics.md and by the names
of types alone."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np

from samhw.lang.reference.relation import Array

__all__ = ["CONVERSIONS", "NARROW"]


def _narrowed(x: Array, *, mantissa: int, least: int, greatest: float, beyond: float) -> Array:
    """The nearest number of a floating-point type, of two the even one.

    Args:
        mantissa: its bits.
        least: the exponent below which numbers lie as close as there.
        greatest: the greatest number; what rounds to more is `beyond`.
    """
    x = np.asarray(x, np.float64)
    exponent = np.maximum(np.frexp(np.where(np.isfinite(x), x, 0))[1] - 1, least)
    step = np.ldexp(1.0, exponent - mantissa)
    rounded = np.rint(x / step) * step
    return np.where(np.abs(rounded) > greatest, np.copysign(beyond, x), rounded)


def _flushed(x: Array, *, mantissa: int) -> Array:
    """As `_narrowed`, of a type with the exponents of f32 and without subnormals."""
    greatest = (2 - 2.0**-mantissa) * 2.0**127
    found = _narrowed(x, mantissa=mantissa, least=-(2**20), greatest=greatest, beyond=np.inf)
    return np.where(np.abs(found) < 2.0**-126, np.copysign(0.0, found), found)


NARROW: dict[str, Callable[[Array], Array]] = {
    "f8e4m3": partial(_narrowed, mantissa=3, least=-6, greatest=448.0, beyond=np.nan),
    "f8e5m2": partial(_narrowed, mantissa=2, least=-14, greatest=57344.0, beyond=np.inf),
}
"""Functions that round to a number of another type."""

_FLOATS: dict[str, Callable[[Array], Array]] = {
    **NARROW,
    "bf16": partial(_flushed, mantissa=7),
    "f32": partial(_flushed, mantissa=23),
}


def _whole(x: Array) -> Array:
    """The nearest whole number. One that the type lacks ends a run."""
    x = np.asarray(x)
    return x if x.dtype.kind == "i" else np.rint(x)


def _fixed(x: Array, *, width: int, fraction: int) -> Array:
    units = np.rint(np.ldexp(np.where(np.isnan(x), 0, x).astype(np.float64), fraction))
    end = 2.0 ** (width - 1)
    return np.clip(units, -end, end - 1) * 2.0**-fraction


def _scaled(x: Array, multiplier: Array, shift: Array, *, width: int) -> Array:
    """x * multiplier / 2**shift to the nearest whole number of a type, ties to even."""
    x, m, s = (np.rint(part).astype(np.int64) for part in np.broadcast_arrays(x, multiplier, shift))
    product = x * m
    cut = product >> s
    twice_rest, unit = 2 * (product - (cut << s)), np.int64(1) << s
    up = (twice_rest > unit) | ((twice_rest == unit) & (cut & 1 == 1))
    end = 1 << width - 1
    found: Array = np.clip(cut + up, -end, end - 1)
    return found


class _Conversions(dict[str, Callable[..., Array]]):
    """Functions by what `Call.called` says."""

    def __missing__(self, called: str) -> Callable[..., Array]:
        function, _, kind = called.partition(" ")
        sizes = [int(size) for size in re.findall(r"\d+", kind)]
        made: Callable[..., Array]
        if function == "scale":
            made = partial(_scaled, width=sizes[0])
        elif kind in _FLOATS:
            made = _FLOATS[kind]
        elif kind.startswith("fixed"):
            made = partial(_fixed, width=sizes[0], fraction=sizes[1])
        else:
            made = _whole
        self[called] = made
        return made


CONVERSIONS = _Conversions()
"""The functions whose results have another type than their operands."""
