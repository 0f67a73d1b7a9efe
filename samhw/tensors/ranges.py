"""Tensors cut into ranges of rows, which are the coordinates of their outermost level; and ranges that have
equally much work."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.tensors.tensor import Tensor

__all__ = ["Along", "RangeLimit", "even_ranges", "in_ranges", "row_entries", "row_works"]

Counts = NDArray[np.int64]
"""A number for each row."""
Along = tuple[Tensor, Sequence[str]]
"""A tensor, and the dimension of each of its modes."""


class RangeLimit(NamedTuple):
    """What a range has room for: at most so much in all, of what each row takes."""

    each: Counts
    most: int


def even_ranges(works: Sequence[Counts], count: int, limits: Sequence[RangeLimit] = ()) -> list[int] | None:
    """Where each of `count` ranges of rows begins, and where the last one ends: so that the range with the
    most work of some kind has as little as can be. None where no ranges have room for all rows.

    Args:
        works: of each kind that of each row, at least 1. What does one kind does not wait for another one.
        limits: what each range has room for.
    """
    sums = [np.concatenate([[0], np.cumsum(each)]) for each in (*works, *(limit.each for limit in limits))]
    rows = len(works[0])

    def ends(most: int) -> list[int]:
        """With as much in each range as there is room for, one after the other."""
        found = [0]
        for _ in range(count):
            tops = zip(sums, (*(most for _ in works), *(limit.most for limit in limits)), strict=True)
            first = found[-1]
            found.append(min(int(np.searchsorted(s, s[first] + top, "right")) - 1 for s, top in tops))
        return found

    low, high = (max(int(of(work)) for work in works) for of in (_greatest, np.sum))
    if ends(high)[-1] < rows:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if ends(middle)[-1] == rows else (middle + 1, high)
    return ends(high)


def _greatest(work: Counts) -> int:
    return int(work.max(initial=0))


def row_entries(tensor: Tensor) -> Counts:
    """The values that each row stores, those that fill dense levels included."""
    outermost = tensor.format.mode_order[0]
    rows = tensor.shape[outermost]
    if tensor.format.is_all_dense:
        return np.full(rows, prod(tensor.shape) // max(rows, 1))
    coords, _ = tensor.to_coo()
    found: Counts = np.bincount(coords[outermost], minlength=rows)
    return found


def row_works(cut: Iterable[Along], whole: Iterable[Along] = (), written: Iterable[int] = ()) -> list[Counts]:
    """The kinds of work that rows make, as `even_ranges` takes them. To read: each row 1, and each entry of a
    sparse tensor as much as other tensors store in the row that it leads to, at least 1. To scan: for each
    row the compressed outermost level of another tensor, and 1. To write: for each row of a dense result its
    values, and 1.

    Args:
        cut: the tensors whose rows these are.
        whole: those that are read as a whole.
        written: the values in a row of each dense result of rank 2 or more.
    """
    cut = list(cut)
    first, _ = cut[0]
    inner = {dimensions[mode] for tensor, dimensions in cut for mode in tensor.format.mode_order[1:]}
    lengths: dict[str, list[Counts]] = {}
    scanned = []
    for tensor, dimensions in whole:
        if tensor.rank and (dimension := dimensions[tensor.format.mode_order[0]]) in inner:
            own = row_entries(tensor)
            if tensor.rank > 1:
                lengths.setdefault(dimension, []).append(own)
            if not tensor.format.levels[0].is_full:
                scanned.append(np.count_nonzero(own))
    work = np.ones(first.shape[first.format.mode_order[0]], np.int64)
    for tensor, dimensions in cut:
        if tensor.format.is_sparse:
            coords, _ = tensor.to_coo()
            outermost, *others = tensor.format.mode_order
            each = np.zeros(coords.shape[1], np.int64)
            for mode in others:
                each += sum((own[coords[mode]] for own in lengths.get(dimensions[mode], ())), start=each * 0)
            np.add.at(work, coords[outermost], np.maximum(each, 1))
    return [work, *(np.full_like(work, count + 1) for count in (*scanned, *written))]


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
