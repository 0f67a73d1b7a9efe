"""What all levels need of their arrays: rules that these obey, and limits of what is stored."""

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.limits import WORD, check_memory

__all__ = [
    "MAX_POSITIONS",
    "check_coordinates",
    "check_increasing",
    "check_length",
    "check_lengths",
    "check_pos",
    "check_positions",
    "ends",
    "run_starts",
]

IntArray = npt.NDArray[np.int64]

MAX_POSITIONS = 2**30
"""The most values a tensor may store: past this, a dense level on a sparse tensor was surely a mistake."""


def check_positions(count: int, what: str) -> None:
    """Refuse storage that cannot have been meant.

    Raises
    ------
    InputError
        When ``count`` exceeds ``MAX_POSITIONS``, or the memory there is.
    """
    if count > MAX_POSITIONS:
        raise InputError(f"{what} would store {count} values: use compressed levels for a tensor so large")
    check_memory(
        WORD * count, f"{what}, with {count:,} values,", "use compressed levels for a tensor so large"
    )


def run_starts(entries: int, *rows: IntArray) -> npt.NDArray[np.bool_]:
    """Whether each of ``entries`` columns of the rows differs from the one before it."""
    starts = np.zeros(entries, bool)
    starts[:1] = True
    for row in rows:
        starts[1:] |= row[1:] != row[:-1]
    return starts


def ends(lengths: IntArray) -> IntArray:
    """Where each of some fibers begins that lie one after the other, and where the last one ends."""
    pos = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=pos[1:])
    return pos


def check_length(name: str, array: npt.NDArray[np.generic], expected: int) -> None:
    """Raises InputError for an array of another length."""
    if array.shape != (expected,):
        raise InputError(f"{name} has shape {array.shape} but the levels above it ask for {expected} entries")


def check_pos(depth: int, pos: IntArray, fibers: int, entries: int) -> None:
    """Raises InputError for what does not say where fibers begin."""
    check_length(f"pos{depth}", pos, fibers + 1)
    if pos[0] != 0 or pos[-1] != entries:
        raise InputError(
            f"pos{depth} runs from {pos[0]} to {pos[-1]} but must run from 0 to {entries}, "
            f"the length of crd{depth}"
        )
    if (drops := np.flatnonzero(pos[1:] < pos[:-1])).size:
        at = int(drops[0])
        raise InputError(f"pos{depth} must not decrease, but entry {at + 1} is {pos[at + 1]} after {pos[at]}")


def check_coordinates(depth: int, crd: IntArray, size: int) -> None:
    """Raises InputError for coordinates outside of an extent."""
    if (outside := np.flatnonzero((crd < 0) | (crd >= size))).size:
        at = int(outside[0])
        raise InputError(f"crd{depth} entry {at} is {crd[at]} but coordinates there run from 0 to {size - 1}")


def check_lengths(depth: int, lengths: IntArray, what: str, most: int) -> None:
    """Raises InputError for fibers that have more coordinates than they can."""
    if (outside := np.flatnonzero((lengths < 0) | (lengths > most))).size:
        at = int(outside[0])
        raise InputError(
            f"fiber {at} of level {depth} {what} {lengths[at]} coordinates, but it can have 0 to {most}"
        )


def check_increasing(depth: int, pos: IntArray, crds: list[IntArray]) -> None:
    """Raises InputError where, within a fiber, the tuples of coordinates of a level and of those below do not
    increase."""
    entries = len(crds[0])
    starts_fiber = np.zeros(entries + 1, bool)
    starts_fiber[pos] = True
    increases = starts_fiber[1:entries]
    equal = np.ones_like(increases)
    for crd in crds:
        increases = increases | (equal & (crd[:-1] < crd[1:]))
        equal &= crd[:-1] == crd[1:]
    if (wrong := np.flatnonzero(~increases)).size:
        at = int(wrong[0])
        before, after = (tuple(int(crd[entry]) for crd in crds) for entry in (at, at + 1))
        raise InputError(
            f"crd{depth} must increase within a fiber, but entry {at + 1} is {after} after {before}: "
            "sort the coordinates and add up duplicates"
        )
