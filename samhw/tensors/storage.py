"""Between coordinate lists and stored levels. Everything here is vectorised: no loop runs over nonzeros.

*Level coordinates* are an integer array of shape (levels, n): the coordinate of each of n entries at each
stored level, outermost level first. For a format without blocks they are the tensor's coordinates in mode
order.
"""

import math
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.limits import WORD, check_memory
from samhw.tensors.format import Ell, Format, LevelType
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

__all__ = [
    "MAX_POSITIONS",
    "build_levels",
    "check_positions",
    "expand_levels",
    "from_level_coords",
    "run_starts",
    "singletons_below",
    "sort_order",
    "to_level_coords",
]

MAX_POSITIONS = 2**30
"""The most values a tensor may store: past this, a dense level on a sparse tensor was surely a mistake."""


def to_level_coords(format: Format, coords: IntArray) -> IntArray:
    """Tensor coordinates (rank, n) to level coordinates (levels, n)."""
    is_natural = format.mode_order == tuple(range(format.rank))
    ordered = coords if is_natural else coords[list(format.mode_order)]
    if format.block is None:
        return ordered
    sizes = np.array(format.block_shape)[:, None]
    return np.concatenate([ordered // sizes, ordered % sizes])


def from_level_coords(format: Format, level_coords: IntArray) -> IntArray:
    """Level coordinates (levels, n) to tensor coordinates (rank, n)."""
    if format.block is not None:
        sizes = np.array(format.block_shape)[:, None]
        level_coords = level_coords[: format.rank] * sizes + level_coords[format.rank :]
    return level_coords[np.argsort(format.mode_order)]


def sort_order(coords: IntArray, sizes: tuple[int, ...]) -> IntArray | slice:
    """What takes the columns of ``coords`` (levels, n) in lexicographic order, stably: a permutation, or a
    slice if they are in order."""
    if math.prod(sizes) > np.iinfo(np.int64).max:
        return np.lexsort(coords[::-1])
    # One key per entry sorts four times as fast as lexsort.
    key = np.zeros(coords.shape[1], np.int64)
    for size, row in zip(sizes, coords, strict=True):
        key *= size
        key += row
    return np.argsort(key, kind="stable") if (key[1:] < key[:-1]).any() else slice(None)


def build_levels(
    format: Format, sizes: tuple[int, ...], level_coords: IntArray
) -> tuple[tuple[Level, ...], IntArray, int]:
    """The stored levels of sorted, distinct level coordinates.

    Returns the levels, the position of each entry in ``vals``, and the number of positions.

    Raises
    ------
    InputError
        When dense levels would need more than ``MAX_POSITIONS`` values, when a singleton level below dense
        ones would have to store none or several coordinates somewhere, and when an ell level has no room for
        those of a fiber.
    """
    levels: list[Level] = []
    entries = level_coords.shape[1]
    position = np.zeros(entries, np.int64)
    count = 1
    for depth, (type_, size) in enumerate(zip(format.levels, sizes, strict=True)):
        if type_ is LevelType.dense:
            levels.append(DenseLevel(size))
            count *= size
            check_positions(count, f"format {format} at level {depth}")
            position = position * size + level_coords[depth]
        elif type_ is LevelType.ragged:
            ragged, position = _ragged(size, count, position, level_coords[depth])
            levels.append(ragged)
            count = int(ragged.pos[-1])
        elif type_ is LevelType.dia:
            dia = DiaLevel(size, count, np.unique(level_coords[1] - level_coords[0]))
            levels.append(dia)
            position += count * np.searchsorted(dia.off, level_coords[1] - level_coords[0])
            count *= len(dia.off)
            check_positions(count, f"format {format}, with {len(dia.off):,} diagonals,")
        elif isinstance(type_, Ell):
            check_positions(count * type_.width, f"format {format} at level {depth}")
            ell, position = _ell(format, size, type_.width, count, position, level_coords[depth])
            levels.append(ell)
            count *= type_.width
        elif type_ is LevelType.compressed:
            # A compressed level and the singletons below it share their positions: one for each distinct
            # tuple of their coordinates.
            group = slice(depth, depth + 1 + singletons_below(format, depth))
            first = run_starts(entries, position, *level_coords[group])
            # The array, and what it is made of.
            what = f"format {format}, with {count + 1:,} positions at level {depth},"
            check_memory(3 * WORD * (count + 1), what, "use 'csf' for a tensor with so many empty fibers")
            pos = np.zeros(count + 1, np.int64)
            np.cumsum(np.bincount(position[first], minlength=count), out=pos[1:])
            crds = level_coords[group][:, first]
            levels.append(CompressedLevel(size, pos, crds[0]))
            levels += [
                SingletonLevel(inner, crd) for inner, crd in zip(sizes[group][1:], crds[1:], strict=True)
            ]
            position = np.cumsum(first) - 1
            count = crds.shape[1]
        elif len(levels) == depth:
            # Below dense levels; those below compressed ones are there already.
            if entries != count or (np.bincount(position, minlength=count) != 1).any():
                raise InputError(
                    f"format {format} stores exactly one point for each position above level {depth}, but "
                    f"some of the {count:,} positions have none or several; use a compressed level"
                )
            crd = np.empty(count, np.int64)
            crd[position] = level_coords[depth]
            levels.append(SingletonLevel(size, crd))
    return tuple(levels), position, count


def _ragged(size: int, fibers: int, fiber: IntArray, crd: IntArray) -> tuple[RaggedLevel, IntArray]:
    """A ragged level whose fibers are as long as their greatest coordinates ask for, and the position of each
    entry."""
    lengths = np.zeros(fibers, np.int64)
    np.maximum.at(lengths, fiber, crd + 1)
    pos = np.zeros(fibers + 1, np.int64)
    np.cumsum(lengths, out=pos[1:])
    check_positions(int(pos[-1]), "a ragged level")
    return RaggedLevel(size, pos), pos[fiber] + crd


def _ell(
    format: Format, size: int, width: int, fibers: int, fiber: IntArray, crd: IntArray
) -> tuple[EllLevel, IntArray]:
    """An ell level, and the position of each entry. The padding is zero."""
    first = run_starts(len(crd), fiber, crd)
    cnt = np.bincount(fiber[first], minlength=fibers)
    most = int(cnt.max(initial=0))
    if most > width:
        raise InputError(
            f"format {format} has room for {width} coordinates in each row, but one has {most}; use a width "
            f"of {most}, or 'csr'"
        )
    # The coordinates of a fiber come one behind the other.
    before = np.cumsum(cnt) - cnt
    position = fiber * width + np.cumsum(first) - 1 - before[fiber]
    stored = np.zeros(fibers * width, np.int64)
    stored[position] = crd
    return EllLevel(size, width, cnt, stored), position


def expand_levels(levels: tuple[Level, ...]) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """The level coordinates (levels, n) of every position, in storage order; and whether each is stored, and
    no padding."""
    is_stored = np.ones(1, bool)
    rows: list[IntArray] = []
    for level in levels:
        count = len(is_stored)
        match level:
            case DenseLevel(size=size):
                rows = [np.repeat(row, size) for row in rows]
                rows.append(np.tile(np.arange(size), count))
                is_stored = np.repeat(is_stored, size)
            case CompressedLevel(pos=pos, crd=crd):
                lengths = np.diff(pos)
                rows = [np.repeat(row, lengths) for row in rows]
                rows.append(crd)
                is_stored = np.repeat(is_stored, lengths)
            case RaggedLevel(pos=pos):
                lengths = np.diff(pos)
                rows = [np.repeat(row, lengths) for row in rows]
                rows.append(np.arange(pos[-1]) - np.repeat(pos[:-1], lengths))
                is_stored = np.repeat(is_stored, lengths)
            case EllLevel(width=width, cnt=cnt, crd=crd):
                rows = [np.repeat(row, width) for row in rows]
                rows.append(crd)
                room = np.tile(np.arange(width), count) < np.repeat(cnt, width)
                is_stored = np.repeat(is_stored, width) & room
            case DiaLevel(size=size, off=off):
                rows = [np.tile(row, len(off)) for row in rows]
                crd = rows[-1] + np.repeat(off, count)
                rows.append(crd)
                is_stored = (crd >= 0) & (crd < size)
            case SingletonLevel(crd=crd):
                rows.append(crd)
    return np.array(rows, np.int64).reshape(len(levels), len(is_stored)), is_stored


def run_starts(entries: int, *rows: IntArray) -> npt.NDArray[np.bool_]:
    """Whether each of ``entries`` columns of the rows differs from the one before it."""
    starts = np.zeros(entries, bool)
    starts[:1] = True
    for row in rows:
        starts[1:] |= row[1:] != row[:-1]
    return starts


def singletons_below(format: Format, level: int) -> int:
    """The number of singleton levels that directly follow that level."""
    return len(list(takewhile(lambda below: below is LevelType.singleton, format.levels[level + 1 :])))


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
