"""dia: the diagonals of a matrix."""

from collections.abc import Sequence

import numpy as np

from samhw.errors import InputError
from samhw.tensors.formats.arrays import IntArray, check_positions
from samhw.tensors.formats.level import Arrays, Below, Bools, LevelNode, LevelType, Packing, Rows, StoredLevel

__all__ = ["Diagonals"]


class Diagonals(LevelType):
    """Below row r of a dense level, the coordinates ``r + off[d]``, at the positions ``d * rows + r``, as far
    as they lie inside of the matrix; what lies outside is padding.

    ``off`` increases; ``cnt`` is the number of diagonals, in an array of one entry.
    """

    name = "dia"
    is_matrix_format = True
    stores_fill = True
    is_compact = False
    levels_by_place = 2
    arrays = ("cnt", "off")
    scanner = LevelNode("scan_dia", arrays, extents={"rows": 1, "extent": 0})

    def misplaced(self, levels: Sequence[LevelType], depth: int) -> str | None:
        if depth == 1 and len(levels) == 2 and levels[0].is_full:
            return None
        return "a dia level is that of the columns of a matrix, below a dense one of its rows"

    def pack(self, at: Packing) -> tuple[Arrays, IntArray, int]:
        diagonal = at.crd - at.coords[at.depth - 1]
        off = np.unique(diagonal)
        count = at.count * len(off)
        check_positions(count, f"format {at.format}, with {len(off):,} diagonals,")
        position = at.position + at.count * np.searchsorted(off, diagonal)
        return {"cnt": np.array([len(off)]), "off": off}, position, count

    def unpack(self, level: StoredLevel, rows: Rows, is_stored: Bools) -> tuple[Rows, Bools]:
        off = level.arrays["off"]
        rows = [np.tile(row, len(off)) for row in rows]
        crd = rows[-1] + np.repeat(off, len(is_stored))
        return [*rows, crd], (crd >= 0) & (crd < level.size)

    def check(self, level: StoredLevel, depth: int, fibers: int, below: Below) -> int:
        cnt, off = level.arrays["cnt"], level.arrays["off"]
        if cnt.tolist() != [len(off)]:
            raise InputError(f"cnt{depth} is {cnt.tolist()}, and has to be {[len(off)]}")
        if (outside := np.flatnonzero((off <= -fibers) | (off >= level.size))).size:
            at = int(outside[0])
            raise InputError(
                f"off{depth} entry {at} is {off[at]}, but diagonals there run from {1 - fibers} to "
                f"{level.size - 1}"
            )
        if (wrong := np.flatnonzero(off[1:] <= off[:-1])).size:
            at = int(wrong[0])
            raise InputError(f"off{depth} must increase, but entry {at + 1} is {off[at + 1]} after {off[at]}")
        return fibers * len(off)

    def most_positions(self, fibers: int, extent: int, entries: int) -> int:
        return min(fibers * (fibers + extent), entries)

    def capacities(self, fibers: int, extent: int, positions: int) -> dict[str, int]:
        return {"cnt": 1, "off": min(positions, fibers + extent)}
