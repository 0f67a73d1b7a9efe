"""ragged: every coordinate below the length of the fiber."""

import numpy as np

from samhw.tensors.formats.arrays import (
    IntArray,
    check_length,
    check_lengths,
    check_pos,
    check_positions,
    ends,
)
from samhw.tensors.formats.level import Arrays, Below, Bools, LevelNode, LevelType, Packing, Rows, StoredLevel

__all__ = ["Ragged"]


class Ragged(LevelType):
    """The coordinates from 0 to the length that each fiber has: position p above has the positions from
    ``pos[p]`` to ``pos[p + 1] - 1``."""

    name = "ragged"
    is_matrix_format = True
    stores_fill = True
    levels_by_place = 1
    arrays = ("pos",)
    scanner = LevelNode("scan_ragged", arrays)

    def pack(self, at: Packing) -> tuple[Arrays, IntArray, int]:
        # Fibers are as long as their greatest coordinates ask for.
        lengths = np.zeros(at.count, np.int64)
        np.maximum.at(lengths, at.position, at.crd + 1)
        pos = ends(lengths)
        check_positions(int(pos[-1]), "a ragged level")
        return {"pos": pos}, pos[at.position] + at.crd, int(pos[-1])

    def unpack(self, level: StoredLevel, rows: Rows, is_stored: Bools) -> tuple[Rows, Bools]:
        pos = level.arrays["pos"]
        lengths = np.diff(pos)
        crd = np.arange(pos[-1]) - np.repeat(pos[:-1], lengths)
        return [*(np.repeat(row, lengths) for row in rows), crd], np.repeat(is_stored, lengths)

    def check(self, level: StoredLevel, depth: int, fibers: int, below: Below) -> int:
        pos = level.arrays["pos"]
        check_length(f"pos{depth}", pos, fibers + 1)
        count = int(pos[-1])
        check_pos(depth, pos, fibers, count)
        check_lengths(depth, np.diff(pos), "runs to", level.size)
        return count

    def most_positions(self, fibers: int, extent: int, entries: int) -> int:
        return min(fibers * extent, entries)

    def capacities(self, fibers: int, extent: int, positions: int) -> dict[str, int]:
        return {"pos": fibers + 1}
