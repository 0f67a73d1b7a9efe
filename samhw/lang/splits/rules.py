"""The built-in rules.

Rows shared so that each of some parts has about equally many entries.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heapreplace

import numpy as np
from numpy.typing import NDArray

from samhw.lang.splits.partition import Coordinates, Places, SplitRule, TensorPart, rows_of
from samhw.tensors import Format

__all__ = ["Blocks", "Columns", "Dia", "Diagonal", "Even", "Hyb", "Rows", "evenly_shared"]


@dataclass(frozen=True)
class Rows(SplitRule):
    """Consecutive coordinates of the first mode: part p has those from p * ceil(m / count) on."""

    count: int

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 1)
        return _slices(self.count, fmt.compressed_in(0), "rows")

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        return _slice(coords[0], shape[0], self.count)

    def telling_modes(self, rank: int) -> tuple[int, ...]:
        return (0,)


@dataclass(frozen=True)
class Even(SplitRule):
    """Coordinates of the first mode, so that each part has about equally many entries (`evenly_shared`)."""

    count: int

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 1)
        return _slices(self.count, fmt.compressed_in(0), "rows, evenly filled")

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        part = np.zeros(shape[0], np.int64)
        for n, rows in enumerate(evenly_shared(np.bincount(coords[0], minlength=shape[0]), self.count)):
            part[rows] = n
        place: Places = part[coords[0]]
        return place

    def telling_modes(self, rank: int) -> tuple[int, ...]:
        return (0,)


@dataclass(frozen=True)
class Columns(SplitRule):
    """Consecutive coordinates of the last mode, as `Rows` has those of the first."""

    count: int

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 2)
        return _slices(self.count, fmt.compressed_in(fmt.rank - 1), "columns")

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        return _slice(coords[-1], shape[-1], self.count)

    def telling_modes(self, rank: int) -> tuple[int, ...]:
        return (rank - 1,)


@dataclass(frozen=True)
class Diagonal(SplitRule):
    """The diagonal of a matrix, one entry in each row, and the rest in a format that is given."""

    rest: str

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 2, 2)
        return (
            TensorPart("diagonal", Format.parse("dcsr", 2), "the diagonal"),
            TensorPart("rest", Format.parse(self.rest, 2), "what is beside the diagonal"),
        )

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        return np.where(coords[0] == coords[1], 0, 1)


@dataclass(frozen=True)
class Dia(SplitRule):
    """The diagonals of a matrix of which at least a share is stored, and the rest in a format that is given.
    The share is of what lies inside of the matrix."""

    density: float
    rest: str

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 2, 2)
        full = f"the diagonals that are {self.density:g} full"
        return (
            TensorPart("dia", replace(Format.parse("dia", 2), mode_order=fmt.mode_order), full),
            TensorPart("rest", Format.parse(self.rest, 2), "what is on other diagonals"),
        )

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        found, number, stored = np.unique(coords[1] - coords[0], return_inverse=True, return_counts=True)
        inside = np.minimum(shape[0], shape[1] - found) - np.maximum(0, -found)
        is_full = stored >= self.density * inside
        return np.where(is_full[number], 0, 1)


@dataclass(frozen=True)
class Blocks(SplitRule):
    """The square blocks of a matrix of which at least a share of all cells is stored, and the rest in a
    format that is given. A block at the edge has fewer cells inside of the matrix; its share is of these."""

    side: int
    density: float
    rest: str

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 2, 2)
        b = self.side
        return (
            TensorPart(
                "blocks", Format.parse("dcsr", 2), f"the {b}x{b} blocks that are {self.density:g} full"
            ),
            TensorPart(
                "rest", Format.parse(self.rest, 2), f"what is in blocks less than {self.density:g} full"
            ),
        )

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        across = -(-shape[1] // self.side)
        block = coords // self.side
        found, number, stored = np.unique(
            block[0] * across + block[1], return_inverse=True, return_counts=True
        )
        height = np.minimum(self.side, shape[0] - found // across * self.side)
        width = np.minimum(self.side, shape[1] - found % across * self.side)
        is_full = stored >= self.density * height * width
        return np.where(is_full[number], 0, 1)


@dataclass(frozen=True)
class Hyb(SplitRule):
    """Buckets by the lengths of rows, in each of some parts by columns: `hyb(c,k)` of SparseTIR.

    In each part the rows of 2^(q-1) + 1 to 2^q entries are in bucket q, whose rows have 2^q cells; those that
    have more than 2^k are cut into several rows of the last bucket. What a row has less than cells is
    padding. Of a tensor of a rank above 2, a row is what has all coordinates but the last in common.
    (SparseTIR, `ColumnPartHyb` in src/sparse/format.cc.)
    """

    columns: int
    log: int
    """k: the logarithm of the number of cells in the widest bucket."""

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 2)
        stored = Format.compressed(fmt.rank, fmt.mode_order)
        found = []
        for part in range(self.columns):
            for q in range(self.log + 1):
                name = f"w{2**q}" if self.columns == 1 else f"c{part}_w{2**q}"
                where = "" if self.columns == 1 else f" in part {part} of {self.columns} of the columns"
                found.append(TensorPart(name, stored, f"{self._lengths(q)}{where}", 2**q))
        return tuple(found)

    def _lengths(self, q: int) -> str:
        if q == self.log:
            least = 2 ** (q - 1) + 1 if q else 1
            return f"the rows of {least} or more"
        return f"the rows of {2**q}" if q < 2 else f"the rows of {2 ** (q - 1) + 1} to {2**q}"

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        part = _slice(coords[-1], shape[-1], self.columns)
        _, number, lengths = np.unique(
            rows_of(coords, shape) * self.columns + part, return_inverse=True, return_counts=True
        )
        widths = 2 ** np.arange(self.log + 1)
        bucket = np.minimum(np.searchsorted(widths, lengths), self.log)
        place: Places = part * (self.log + 1) + bucket[number]
        return place

    def telling_modes(self, rank: int) -> tuple[int, ...]:
        return tuple(range(rank - 1)) if self.columns == 1 else ()


def _slices(count: int, fmt: Format, what: str) -> tuple[TensorPart, ...]:
    return tuple(TensorPart(str(n), fmt, f"part {n} of {count} of the {what}") for n in range(count))


def _slice(coord: Places, extent: int, count: int) -> Places:
    """The part of each coordinate, where each part has equally many, but for the last ones."""
    part: Places = coord // max(1, -(-extent // count))
    return part


def evenly_shared(
    lengths: NDArray[np.int64], count: int, room: Sequence[int] | None = None
) -> list[list[int]]:
    """The rows of each part, the longest first.

    The longest rows first, each goes to the part that has the fewest entries so far; the fullest part has at
    most 4/3 of what is possible (Graham, Bounds on multiprocessing timing anomalies, 1969), if every part has
    room for as many rows as come.

    Args:
        lengths: of the rows, in entries.
        room: how many rows each part has room for, in all as many as there are; by default any number, and
            rows without entries are in no part.
    """
    parts: list[list[int]] = [[] for _ in range(count)]
    filled = [(0, n) for n in range(count) if room is None or room[n]]
    rows = np.argsort(-lengths, kind="stable")
    for row in (rows if room is not None else rows[: np.count_nonzero(lengths)]).tolist():
        entries, part = filled[0]
        parts[part].append(row)
        if room is not None and len(parts[part]) == room[part]:
            heappop(filled)
        else:
            heapreplace(filled, (entries + int(lengths[row]), part))
    return parts
