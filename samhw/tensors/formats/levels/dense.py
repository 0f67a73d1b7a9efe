"""dense: every coordinate, so that nothing is stored."""

from collections.abc import Callable

import numpy as np

from samhw.tensors.formats.arrays import IntArray, check_positions
from samhw.tensors.formats.level import Arrays, Below, Bools, LevelNode, LevelType, Packing, Rows, StoredLevel

__all__ = ["Dense"]


class Dense(LevelType):
    """Every coordinate from 0 to size - 1: position p above has the positions from p * size on."""

    name = "dense"
    is_full = True
    stores_fill = True
    scanner = LevelNode("scan_dense")
    locator = LevelNode("locate")
    writer = LevelNode("write_dense")
    mlir = ("dense", "batch")

    def pack(self, at: Packing) -> tuple[Arrays, IntArray, int]:
        count = at.count * at.size
        check_positions(count, f"format {at.format} at level {at.depth}")
        return {}, at.position * at.size + at.crd, count

    def unpack(self, level: StoredLevel, rows: Rows, is_stored: Bools) -> tuple[Rows, Bools]:
        size = level.size
        crd = np.tile(np.arange(size), len(is_stored))
        return [*(np.repeat(row, size) for row in rows), crd], np.repeat(is_stored, size)

    def check(self, level: StoredLevel, depth: int, fibers: int, below: Below) -> int:
        return fibers * level.size

    def most_positions(self, fibers: int, extent: int, entries: int) -> int:
        return fibers * extent

    def read_back(self, take: Callable[[str, int], IntArray], fibers: int, size: int) -> int:
        return fibers * size
