"""The rules that stored levels obey, checked on storage that came from outside."""

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.format import Format
from samhw.tensors.levels import (
    CompressedLevel,
    DenseLevel,
    DiaLevel,
    EllLevel,
    IntArray,
    Level,
    RaggedLevel,
    SingletonLevel,
)
from samhw.tensors.storage import singletons_below

__all__ = ["check_storage"]


def check_storage(
    shape: tuple[int, ...], format: Format, levels: tuple[Level, ...], vals: npt.NDArray[np.generic]
) -> None:
    """Check that the arrays are a well-formed tensor of that shape and format.

    Raises
    ------
    InputError
        Naming the first level, array and entry that break a rule.
    """
    Format.of(format, len(shape))
    if tuple(level.type for level in levels) != format.levels:
        raise InputError(f"the stored levels are not those of format {format}: build them with that format")
    count = 1
    for depth, (level, size) in enumerate(zip(levels, format.level_sizes(shape), strict=True)):
        if level.size != size:
            raise InputError(f"level {depth} has size {level.size} but the shape {shape} asks for {size}")
        match level:
            case DenseLevel():
                count *= size
            case CompressedLevel(pos=pos, crd=crd):
                _check_pos(depth, pos, count, len(crd))
                _check_crd(depth, crd, size)
                count = len(crd)
            case SingletonLevel(crd=crd):
                _check_length(f"crd{depth}", crd, count)
                _check_crd(depth, crd, size)
            case EllLevel():
                _check_ell(depth, level, count)
                count *= level.width
            case RaggedLevel(pos=pos):
                _check_length(f"pos{depth}", pos, count + 1)
                count = int(pos[-1])
                _check_pos(depth, pos, len(pos) - 1, count)
                _check_lengths(depth, np.diff(pos), "runs to", size)
            case DiaLevel(off=off):
                _check_offsets(depth, off, level.rows, size)
                count *= len(off)
    _check_length("vals", vals, count)
    for depth, level in enumerate(levels):
        if isinstance(level, CompressedLevel):
            singletons = levels[depth + 1 : depth + 1 + singletons_below(format, depth)]
            crds = [level.crd, *(below.crd for below in singletons if isinstance(below, SingletonLevel))]
            _check_increasing(depth, level.pos, crds)


def _check_length(name: str, array: npt.NDArray[np.generic], expected: int) -> None:
    if array.shape != (expected,):
        raise InputError(f"{name} has shape {array.shape} but the levels above it ask for {expected} entries")


def _check_pos(depth: int, pos: IntArray, fibers: int, entries: int) -> None:
    _check_length(f"pos{depth}", pos, fibers + 1)
    if pos[0] != 0 or pos[-1] != entries:
        raise InputError(
            f"pos{depth} runs from {pos[0]} to {pos[-1]} but must run from 0 to {entries}, "
            f"the length of crd{depth}"
        )
    if (drops := np.flatnonzero(pos[1:] < pos[:-1])).size:
        at = int(drops[0])
        raise InputError(f"pos{depth} must not decrease, but entry {at + 1} is {pos[at + 1]} after {pos[at]}")


def _check_crd(depth: int, crd: IntArray, size: int) -> None:
    if (outside := np.flatnonzero((crd < 0) | (crd >= size))).size:
        at = int(outside[0])
        raise InputError(f"crd{depth} entry {at} is {crd[at]} but coordinates there run from 0 to {size - 1}")


def _check_ell(depth: int, level: EllLevel, fibers: int) -> None:
    _check_length(f"cnt{depth}", level.cnt, fibers)
    _check_length(f"crd{depth}", level.crd, fibers * level.width)
    _check_lengths(depth, level.cnt, "has", level.width)
    pos = np.concatenate([[0], np.cumsum(level.cnt)])
    stored = level.crd[np.tile(np.arange(level.width), fibers) < np.repeat(level.cnt, level.width)]
    _check_crd(depth, stored, level.size)
    _check_increasing(depth, pos, [stored])


def _check_lengths(depth: int, lengths: IntArray, what: str, most: int) -> None:
    if (outside := np.flatnonzero((lengths < 0) | (lengths > most))).size:
        at = int(outside[0])
        raise InputError(
            f"fiber {at} of level {depth} {what} {lengths[at]} coordinates, but it can have 0 to {most}"
        )


def _check_offsets(depth: int, off: IntArray, rows: int, size: int) -> None:
    if (outside := np.flatnonzero((off <= -rows) | (off >= size))).size:
        at = int(outside[0])
        raise InputError(
            f"off{depth} entry {at} is {off[at]}, but diagonals there run from {1 - rows} to {size - 1}"
        )
    if (wrong := np.flatnonzero(off[1:] <= off[:-1])).size:
        at = int(wrong[0])
        raise InputError(f"off{depth} must increase, but entry {at + 1} is {off[at + 1]} after {off[at]}")


def _check_increasing(depth: int, pos: IntArray, crds: list[IntArray]) -> None:
    """Within a fiber, the tuples of coordinates of a compressed level and its singletons must increase."""
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
