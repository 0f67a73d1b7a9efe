"""compressed: the coordinates that are there, and where each fiber begins."""

from collections.abc import Callable
from itertools import takewhile

import numpy as np

from samhw.limits import WORD, check_memory
from samhw.tensors.formats.arrays import (
    IntArray,
    check_coordinates,
    check_increasing,
    check_pos,
    ends,
    run_starts,
)
from samhw.tensors.formats.level import Arrays, Below, Bools, LevelNode, LevelType, Packing, Rows, StoredLevel

__all__ = ["Compressed"]


class Compressed(LevelType):
    """The present coordinates: those of fiber f are ``crd[pos[f]:pos[f + 1]]``, in increasing order.

    ``pos`` has one entry more than the level above has positions; ``crd`` has one entry per position.
    """

    name = "compressed"
    arrays = ("pos", "crd")
    scanner = LevelNode("scan_compressed", arrays)
    writer = LevelNode("write_compressed", arrays, extents={})
    mlir = ("compressed", "loose_compressed", "structured", "block2_4")

    def pack(self, at: Packing) -> tuple[Arrays, IntArray, int]:
        # With the branchless levels below it shares its positions: one for each distinct tuple.
        first = run_starts(len(at.position), at.position, *at.tuples)
        # The array, and what it is made of.
        what = f"format {at.format}, with {at.count + 1:,} positions at level {at.depth},"
        check_memory(3 * WORD * (at.count + 1), what, "use 'csf' for a tensor with this many empty fibers")
        pos = ends(np.bincount(at.position[first], minlength=at.count))
        return {"pos": pos, "crd": at.crd[first]}, np.cumsum(first) - 1, int(pos[-1])

    def unpack(self, level: StoredLevel, rows: Rows, is_stored: Bools) -> tuple[Rows, Bools]:
        lengths = np.diff(level.arrays["pos"])
        rows = [np.repeat(row, lengths) for row in rows]
        return [*rows, level.arrays["crd"]], np.repeat(is_stored, lengths)

    def check(self, level: StoredLevel, depth: int, fibers: int, below: Below) -> int:
        pos, crd = level.arrays["pos"], level.arrays["crd"]
        check_pos(depth, pos, fibers, len(crd))
        check_coordinates(depth, crd, level.size)
        # In tuples with the branchless levels below; those of another length, their own check refuses.
        tuples = takewhile(lambda inner: inner.type.is_branchless, below)
        crds = [crd, *(inner.arrays["crd"] for inner in tuples)]
        if all(each.shape == crd.shape for each in crds):
            check_increasing(depth, pos, crds)
        return len(crd)

    def most_positions(self, fibers: int, extent: int, entries: int) -> int:
        return min(fibers * extent, entries)

    def capacities(self, fibers: int, extent: int, positions: int) -> dict[str, int]:
        return {"pos": fibers + 1, "crd": positions}

    def read_back(self, take: Callable[[str, int], IntArray], fibers: int, size: int) -> int:
        positions = int(take("pos", fibers + 1)[-1])
        take("crd", positions)
        return positions
