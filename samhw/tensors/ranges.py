"""Tensors cut into ranges of rows, which are the coordinates of their outermost level; and ranges that have
equally much work."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.tensors.tensor import Tensor

__all__ = ["RangeLimit", "even_ranges", "in_ranges", "row_entries", "row_work"]

Counts = NDArray[np.int64]
"""A number for each row."""


class RangeLimit(NamedTuple):
    """What a range has room for: at most so much in all, of what each row takes."""

    each: Counts
    most: int


def even_ranges(work: Counts, count: int, limits: Sequence[RangeLimit] = ()) -> list[int] | None:
    """Where each of `count` ranges of rows begins, and where the last one ends: so that the range with the
    most work has as little as can be. None where no ranges have room for all rows.

    Args:
        work: of each row, at least 1.
        limits: what each range has room for.
    """
    sums = [np.concatenate([[0], np.cumsum(each)]) for each in (work, *(limit.each for limit in limits))]
    rows = len(work)

    def ends(most: int) -> list[int]:
        """With as much in each range as there is room for, one after the other."""
        found = [0]
        for _ in range(count):
            tops = zip(sums, (most, *(limit.most for limit in limits)), strict=True)
            first = found[-1]
            found.append(min(int(np.searchsorted(s, s[first] + top, "right")) - 1 for s, top in tops))
        return found

    low, high = int(work.max(initial=0)), int(work.sum())
    if ends(high)[-1] < rows:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if ends(middle)[-1] == rows else (middle + 1, high)
    return ends(high)


def row_entries(tensor: Tensor) -> Counts:
    """The values that each row stores, padding of inner dense levels included."""
    coords, _ = tensor.to_coo()
    outermost = tensor.format.mode_order[0]
    found: Counts = np.bincount(coords[outermost], minlength=tensor.shape[outermost])
    return found


def row_work(tensors: Sequence[Tensor]) -> Counts:
    """What the rows of tensors make to do: a row 1, and each entry that a sparse one stores in it 1."""
    rows = tensors[0].shape[tensors[0].format.mode_order[0]]
    sparse = [row_entries(tensor) for tensor in tensors if tensor.format.is_sparse]
    return np.ones(rows, np.int64) + sum(sparse, np.zeros(rows, np.int64))


def in_ranges(tensor: Tensor, ends: Sequence[int]) -> list[Tensor]:
    """The tensors of ranges of rows, whose rows count from 0.

    Args:
        ends: as `even_ranges` gives them.
    """
    outermost = tensor.format.mode_order[0]
    coords, vals = tensor.to_coo()
    order = np.argsort(coords[outermost], kind="stable")
    coords, vals = coords[:, order], vals[order]
    cuts = np.searchsorted(coords[outermost], ends)
    found = []
    for (first, end), (start, stop) in zip(pairwise(ends), pairwise(cuts), strict=True):
        own = coords[:, start:stop].copy()
        own[outermost] -= first
        shape = (*tensor.shape[:outermost], end - first, *tensor.shape[outermost + 1 :])
        found.append(Tensor.from_coo(own, vals[start:stop], shape, tensor.format))
    return found
