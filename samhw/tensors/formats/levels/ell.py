"""ell(w): the coordinates that are there, in room for w of them in each fiber."""

from dataclasses import dataclass

import numpy as np

from samhw.errors import InputError
from samhw.tensors.formats.arrays import (
    IntArray,
    check_coordinates,
    check_increasing,
    check_length,
    check_lengths,
    check_positions,
    ends,
    run_starts,
)
from samhw.tensors.formats.level import Arrays, Below, Bools, LevelNode, LevelType, Packing, Rows, StoredLevel

__all__ = ["Ell"]


@dataclass(frozen=True, eq=False, repr=False)
class Ell(LevelType):
    """Room for ``width`` coordinates in each fiber: those of fiber f are the first ``cnt[f]`` entries of
    ``crd`` from ``f * width`` on, in increasing order. What is left of the room is padding.

    ``cnt`` has one entry per position of the level above; ``crd`` has ``width`` of them, padding included.
    """

    width: int

    name = "ell"
    notation = "ell(w)"
    is_matrix_format = True
    is_compact = False
    arrays = ("cnt", "crd")

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InputError(f"an ell level of {self.width} coordinates is impossible: use 1 or more")

    @property
    def scanner(self) -> LevelNode:
        return LevelNode("scan_ell", self.arrays, {"width": self.width})

    def pack(self, at: Packing) -> tuple[Arrays, IntArray, int]:
        check_positions(at.count * self.width, f"format {at.format} at level {at.depth}")
        first = run_starts(len(at.crd), at.position, at.crd)
        cnt = np.bincount(at.position[first], minlength=at.count)
        most = int(cnt.max(initial=0))
        if most > self.width:
            raise InputError(
                f"format {at.format} has room for {self.width} coordinates in each row, but one has {most}; "
                f"use a width of {most}, or 'csr'"
            )
        # The coordinates of a fiber come one after the other.
        position = at.position * self.width + np.cumsum(first) - 1 - ends(cnt)[at.position]
        crd = np.zeros(at.count * self.width, np.int64)
        crd[position] = at.crd
        return {"cnt": cnt, "crd": crd}, position, len(crd)

    def unpack(self, level: StoredLevel, rows: Rows, is_stored: Bools) -> tuple[Rows, Bools]:
        rows = [np.repeat(row, self.width) for row in rows]
        return [*rows, level.arrays["crd"]], np.repeat(is_stored, self.width) & self._holds(level)

    def check(self, level: StoredLevel, depth: int, fibers: int, below: Below) -> int:
        cnt, crd = level.arrays["cnt"], level.arrays["crd"]
        check_length(f"cnt{depth}", cnt, fibers)
        check_length(f"crd{depth}", crd, fibers * self.width)
        check_lengths(depth, cnt, "has", self.width)
        stored = crd[self._holds(level)]
        check_coordinates(depth, stored, level.size)
        check_increasing(depth, ends(cnt), [stored])
        return len(crd)

    def most_positions(self, fibers: int, extent: int, entries: int) -> int:
        return fibers * self.width

    def capacities(self, fibers: int, extent: int, positions: int) -> dict[str, int]:
        return {"cnt": fibers, "crd": positions}

    def _holds(self, level: StoredLevel) -> Bools:
        """Whether each place of the room has a coordinate."""
        cnt = level.arrays["cnt"]
        held: Bools = np.tile(np.arange(self.width), len(cnt)) < np.repeat(cnt, self.width)
        return held
