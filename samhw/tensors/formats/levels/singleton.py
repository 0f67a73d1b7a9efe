"""singleton: one coordinate for each position above, as in the inner levels of a coordinate list."""

from collections.abc import Callable, Sequence

import numpy as np

from samhw.errors import InputError
from samhw.tensors.formats.arrays import IntArray, check_coordinates, check_length
from samhw.tensors.formats.level import Arrays, Below, Bools, LevelNode, LevelType, Packing, Rows, StoredLevel
from samhw.tensors.formats.levels.compressed import Compressed

__all__ = ["Singleton"]


class Singleton(LevelType):
    """Exactly one coordinate, ``crd[p]``, for each position p above; below dense levels, for each combination
    of their coordinates."""

    name = "singleton"
    is_branchless = True
    arrays = ("crd",)
    scanner = LevelNode("scan_singleton", arrays)
    mlir = ("singleton",)

    @property
    def loaded(self) -> LevelType:
        """Compressed: the coordinates of a stream increase, and those of a list repeat."""
        return Compressed()

    def misplaced(self, levels: Sequence[LevelType], depth: int) -> str | None:
        return None if depth else "a singleton level must follow another level"

    def pack(self, at: Packing) -> tuple[Arrays, IntArray, int]:
        crd = np.full(at.count, -1)
        crd[at.position] = at.crd
        if (crd < 0).any() or (crd[at.position] != at.crd).any():
            raise InputError(
                f"format {at.format} stores exactly one point for each position above level {at.depth}, but "
                f"some of the {at.count:,} positions have none or several; use a compressed level"
            )
        return {"crd": crd}, at.position, at.count

    def unpack(self, level: StoredLevel, rows: Rows, is_stored: Bools) -> tuple[Rows, Bools]:
        return [*rows, level.arrays["crd"]], is_stored

    def check(self, level: StoredLevel, depth: int, fibers: int, below: Below) -> int:
        check_length(f"crd{depth}", level.arrays["crd"], fibers)
        check_coordinates(depth, level.arrays["crd"], level.size)
        return fibers

    def most_positions(self, fibers: int, extent: int, entries: int) -> int:
        return fibers

    def capacities(self, fibers: int, extent: int, positions: int) -> dict[str, int]:
        return {"crd": positions}

    def read_back(self, take: Callable[[str, int], IntArray], fibers: int, size: int) -> int:
        take("crd", fibers)
        return fibers
