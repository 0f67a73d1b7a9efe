"""Finding coordinates among others, and taking long work in pieces."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Integers", "Lookup", "pieces"]

Integers = NDArray[np.int64]

_LARGEST_KEY = np.iinfo(np.int64).max


class Lookup:
    """Finds columns of coordinates among given ones, by one number for each column.

    Args:
        rows: of shape (indices, n).
        extents: of the indices.
    """

    def __init__(self, rows: Integers, extents: Sequence[int]):
        self.count = rows.shape[1]
        self._extents = extents
        self._ranks: dict[int, Integers] = {}
        keys = self._keys(rows, learn=True)
        self._order: Integers | None = None
        if (keys[1:] < keys[:-1]).any():
            self._order = np.argsort(keys, kind="stable")
            keys = keys[self._order]
        self._sorted = keys

    def _keys(self, rows: Integers, learn: bool = False) -> Integers:
        """A number for each column, in lexicographic order; -1 for one that can be none of the given.

        Where the product of the extents is too large for a number, the first coordinates are replaced by
        their rank among the given ones.
        """
        keys = np.zeros(rows.shape[1], np.int64)
        radix = 1
        for n, (row, extent) in enumerate(zip(rows, self._extents, strict=True)):
            if radix * extent > _LARGEST_KEY:
                if learn:
                    self._ranks[n] = np.unique(keys)
                ranks = self._ranks[n]
                found = np.minimum(np.searchsorted(ranks, keys), max(len(ranks) - 1, 0))
                known = ranks[found] == keys if len(ranks) else np.zeros(len(keys), bool)
                keys = np.where(known, found, -1)
                radix = len(ranks)
            if n and (keys < 0).any():
                keys = np.where(keys < 0, -1, keys * extent + row)
            else:
                keys = keys * extent + row if n else row
            radix *= extent
        return keys

    def distinct(self) -> Integers:
        """Where each of the given columns is, the first one of those that are equal; in order."""
        starts = self.starts()
        return starts if self._order is None else self._order[starts]

    def starts(self) -> Integers:
        """Where runs of equal columns start, with the columns in `order`."""
        changes = np.ones(self.count, bool)
        changes[1:] = self._sorted[1:] != self._sorted[:-1]
        return np.flatnonzero(changes)

    @property
    def order(self) -> Integers | None:
        """What sorts the given columns, stably; None if they are sorted."""
        return self._order

    def ranges(self, rows: Integers, count: int) -> tuple[Integers, Integers]:
        """For each of `count` columns, from where to where the given ones, in `order`, are equal to it."""
        keys = self._keys(rows) if len(rows) else np.zeros(count, np.int64)
        first, last = (np.searchsorted(self._sorted, keys, side) for side in ("left", "right"))
        return first, last

    def at(self, positions: Integers) -> Integers:
        """Which of the given columns are at these positions of the order."""
        return positions if self._order is None else self._order[positions]

    def entries(self, rows: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """For each column one of the given that is equal to it, and whether there is one."""
        keys = self._keys(rows)
        if not self.count:
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        position = np.minimum(np.searchsorted(self._sorted, keys), self.count - 1)
        return self.at(position), self._sorted[position] == keys

    def pairs(self, rows: Integers, count: int) -> tuple[Integers, Integers]:
        """All pairs of one of `count` columns and a given one that are equal."""
        first, last = self.ranges(rows, count)
        left, position = spread(first, last)
        return left, self.at(position)


def spread(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """The numbers of all ranges one after another, each with the number of its range before it."""
    counts = last - first
    which = np.repeat(np.arange(len(counts)), counts)
    start = np.cumsum(counts) - counts
    return which, np.arange(len(which)) - (start - first)[which]


def pieces(counts: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of neighbours whose counts add up to about `most`, at least one each."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + most, "right")))
        yield start, stop
        start = stop
