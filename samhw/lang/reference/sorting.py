"""The elements of rows in order: the greatest first, NaN before all numbers, and of equals the first."""

from dataclasses import dataclass

import numpy as np

from samhw.lang.reference.lookup import Integers
from samhw.lang.reference.relation import Array, Mask

__all__ = ["Uncertain", "best", "descending", "row_numbers", "taken"]

Keys = tuple[Array, Array]
"""What ascends in the order of elements, but for their coordinates: the most significant key first."""


def descending(op: str, value: Array) -> Keys:
    """The keys by which elements stand in order, the greatest, or for "min" the least, first."""
    is_nan = np.isnan(value)
    number = np.where(is_nan, 0, value)
    if op == "max":
        # Of whole numbers, the least one has no negative.
        number = ~number if number.dtype.kind == "i" else -number
    return ~is_nan, number


def row_numbers(starts: Integers, count: int) -> Integers:
    """For each of this many elements, the number of its row."""
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, count)))


def best(op: str, value: Array, counts: Mask, at: Integers, starts: Integers, k: int) -> Integers:
    """The places of the best k elements of each row, in order, row by row; -1 after the last one that
    counts."""
    rows = row_numbers(starts, len(at))
    order = np.lexsort((at, *descending(op, value)[::-1], ~counts, rows))
    found = np.full((len(starts), k), -1)
    rank = np.arange(len(at)) - starts[rows]
    # Sorted, each row still lies where it was.
    shown = (rank < k) & counts[order]
    found[rows[shown], rank[shown]] = order[shown]
    return found.reshape(-1)


def taken(a: Array, places: Integers) -> Array:
    """The elements at places along the last axis, and zero for the place -1."""
    if not a.shape[-1]:
        return np.zeros((*a.shape[:-1], len(places)), a.dtype)
    return np.where(places >= 0, a[..., places], 0)


@dataclass(frozen=True)
class Uncertain:
    """Elements of rows that are only known within limits.

    Attributes:
        least, most: the limits, as `descending` has them: `most` stands where an element may stand at the
            first, `least` where it may stand at the last.
        counts: an element surely counts; every one may.
        at: coordinates.
        starts: where rows begin.
    """

    least: Keys
    most: Keys
    counts: Mask
    at: Integers
    starts: Integers

    def ranks(self) -> tuple[Integers, Integers]:
        """The first and the last rank in its row that each element may have, counted from 0."""
        every = np.ones(len(self.at), bool)
        first = self._before(self.least, self.counts, self.most, itself=False)
        # Another one is after an element for sure, or may come before it.
        return first, self._before(self.most, every, self.least, itself=True) - 1

    def _before(self, keys: Keys, counts: Mask, others: Keys, *, itself: bool) -> Integers:
        """For each element, how many of its row that count have keys before its `others`. Two keys are equal
        only if they belong to one element, which then counts if `itself` does."""
        n, rows = len(self.at), row_numbers(self.starts, len(self.at))
        is_key = np.repeat([True, False], n)
        both = [np.concatenate(pair) for pair in zip(keys, others, strict=True)]
        order = np.lexsort((is_key != itself, np.tile(self.at, 2), *both[::-1], np.tile(rows, 2)))
        passed = np.empty(2 * n, np.int64)
        passed[order] = np.cumsum((is_key & np.tile(counts, 2))[order])
        in_rows = np.bincount(rows, counts, len(self.starts)).astype(np.int64)
        before = np.cumsum(in_rows) - in_rows
        return passed[n:] - before[rows]
