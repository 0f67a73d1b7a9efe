"""How far a program is from what it was made of, and how far it may be, element by element.

A tolerance for a whole array, such as one of its greatest element, is blind to every other element.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from samhw.errors import RunError
from samhw.lang import Program
from samhw.lang.reference import Bounded, Rounding, difference, evaluate_with_bounds
from samhw.tensors import Tensor

__all__ = ["SINGLE", "differences", "exactly", "greatest_difference", "in_float64", "in_single", "parts_of"]

Array = npt.NDArray[np.float64]

SINGLE = 2.0**29
"""How much coarser f32 is than float64: so much greater are its bounds, to first order."""

_FEW = 2.0**-49
"""Of an element: what a few operations in float64 may make."""

_FLOAT64 = Rounding(2.0**-53, 2.0**-155, float(np.finfo(np.float64).max), numbers=2.0**-24)
"""A type as fine as float64: bounds in it stay far from where they grow without end. Numbers are rounded that
f32 does not have."""


def in_float64(program: Program, tensors: Mapping[str, Tensor]) -> dict[str, Bounded]:
    """The results of a program, with the bounds of float64."""
    return evaluate_with_bounds(program, tensors, _FLOAT64)


def in_single(program: Program, tensors: Mapping[str, Tensor]) -> dict[str, Bounded]:
    """The results of a program in float64, with 16 times the bounds of f32: what is rounded to integers may be
    off by one where these do not tell which is nearer."""
    return evaluate_with_bounds(program, tensors, replace(Rounding.floating(19), numbers=2.0**-24))


def parts_of(found: Mapping[str, Bounded]) -> list[dict[str, npt.NDArray[np.generic]]]:
    """The values of all results, then their bounds, then where they are open: each goes the way from the
    program's results to the source's."""
    return [{name: part[n] for name, part in found.items()} for n in range(len(Bounded._fields))]


def exactly(value: npt.ArrayLike) -> Bounded:
    """What no program has computed, and so has to be equal."""
    held = np.asarray(value)
    return Bounded(held, np.zeros(held.shape), np.zeros(held.shape, bool))


def differences(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> Array:
    """How far each element is off: not at all from an equal infinity or from NaN where both are, and
    infinitely far from NaN elsewhere."""
    return difference(np.asarray(ours, np.float64), np.asarray(theirs, np.float64))


def greatest_difference(
    found: Bounded,
    wanted: npt.ArrayLike,
    *,
    name: str,
    source: str = "function",
    cause: str = "",
    scale: float = 1,
    own: Array | float = 0,
) -> float:
    """How far the program is from its source, at the element where it is furthest.

    Where the bound proves nothing, an element may be off by what a few operations make. Where a sum may
    overflow in some order, anything agrees with an infinity or NaN.

    Args:
        found: a result, with the bounds of float64.
        wanted: what the source gives.
        name: of the program.
        source: what it was made of, in a word.
        cause: what else than a bug makes it differ, in words that a comma ends.
        scale: how many times the bounds of float64 the two may differ by.
        own: how far the source itself may be off, element by element.

    Raises:
        RunError: for another shape, or where an element is further than that.
    """
    theirs = np.asarray(wanted, np.float64)
    if found.value.shape != theirs.shape:
        raise RunError(
            f"The {source} gives the shape {theirs.shape}, and its program {found.value.shape}; "
            "please report this as a bug."
        )
    apart = np.where(found.open & ~np.isfinite(theirs), 0, differences(found.value, theirs))
    with np.errstate(invalid="ignore", over="ignore"):
        few = np.where(np.isfinite(theirs), np.abs(theirs), 0) * (_FEW * scale)
        bound = found.bound * scale
    allowed = np.where(np.isfinite(bound), bound, few) + few / 4 + own + 1e-30
    off = apart > allowed
    if off.any():
        raise RunError(
            f"The program of '{name}' is off by {float(apart[off].max()):g} from the {source}; {cause}please "
            "report this as a bug."
        )
    return float(apart.max(initial=0.0))
