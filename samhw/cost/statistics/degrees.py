"""Statistics that are upper bounds: degree constraints, and chains of them.

A degree constraint says that there are at most `most` coordinates over some indices for each coordinate over
others. All that is stored, and all that is made of it, has such constraints; from nothing, one after the
other leads to all indices of a support, and the product of a chain is a bound for how many coordinates that
has (the chain bound of Galley, finch-tensor). It is the least over all chains, which is a shortest path.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.cost.statistics.statistics import Stock, TensorStatistics, block_coordinates, stored_coordinates
from samhw.cost.statistics.support import (
    AllOf,
    AnyOf,
    Entries,
    Every,
    Onto,
    Relabelled,
    Shifted,
    Support,
    Thinned,
)
from samhw.tensors import Tensor

__all__ = ["DegreeConstraint", "DegreeStatistics"]


_Degree = tuple[frozenset[int], frozenset[int], float]
"""A constraint between the modes of a tensor."""


class DegreeConstraint(NamedTuple):
    """For each coordinate over the indices `given` there are at most `most` over the indices `found`."""

    given: frozenset[str]
    found: frozenset[str]
    most: float


class DegreeStatistics(TensorStatistics):
    """Bounds from the data themselves, or, of tensors without data, from shapes and numbers of entries."""

    kind = "degrees"
    is_bound = True

    def __init__(self, stocks: Mapping[str, Stock]):
        super().__init__()
        self._stocks = dict(stocks)
        self._of_tensors: dict[str, tuple[_Degree, ...]] = {
            name: tuple(_of_size(stock)) for name, stock in stocks.items()
        }
        self._rows: dict[str, NDArray[np.int64]] = {}
        self._known: dict[Support, tuple[DegreeConstraint, ...]] = {}

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor], masks: Collection[str] = ()) -> "DegreeStatistics":
        """The constraints of tensors; of masks, only what is not zero counts."""
        rows = {n: stored_coordinates(t, is_mask=n in masks) for n, t in tensors.items()}
        made = cls({name: Stock(t.shape, rows[name].shape[1]) for name, t in tensors.items()})
        for name, coordinates in rows.items():
            made._of_tensors[name] += tuple(_of_coordinates(coordinates))
        made._rows = rows
        return made

    @property
    def stocks(self) -> Mapping[str, Stock]:
        return self._stocks

    def _counted(self, support: Support) -> float:
        return self.bound(support, (), support.indices)

    def bound(self, support: Support, given: Collection[str], found: Collection[str]) -> float:
        """The most coordinates over the indices `found` for each coordinate over `given`; infinite if no
        constraint says."""
        return _shortest(self.constraints(support), frozenset(given), frozenset(found))

    def constraints(self, support: Support) -> tuple[DegreeConstraint, ...]:
        """What holds for a support."""
        if support not in self._known:
            self._known[support] = tuple(self._computed(support))
        return self._known[support]

    def _computed(self, support: Support) -> Iterator[DegreeConstraint]:
        match support:
            case Every(index, extent):
                yield DegreeConstraint(frozenset(), frozenset({index}), extent)
            case Entries(tensor, names, block):
                for below, above, number in self._of_blocks(tensor, block):
                    yield DegreeConstraint(
                        frozenset(names[n] for n in below), frozenset(names[n] for n in above), number
                    )
            case AllOf(parts):
                for part in parts:
                    yield from self.constraints(part)
            case AnyOf(parts):
                # A coordinate is one of some part.
                for given, found in _questions(support.indices):
                    most = sum(self.bound(part, given, found) for part in parts)
                    yield DegreeConstraint(given, found, most)
            case Onto(of, kept):
                for given, found in _questions(kept):
                    yield DegreeConstraint(given, found, self.bound(of, given, found))
            case Relabelled(of, pairs):
                yield from _with_names(self.constraints(of), dict(pairs))
            case Shifted(of, index, to, _):
                same = {name: name for name in of.indices}
                yield from _with_names(self.constraints(of), {**same, index: to})
            case Thinned(of):
                yield from self.constraints(of)
            case _:
                raise TypeError(f"{support} is no support")

    def _of_blocks(self, tensor: str, block: tuple[int, ...]) -> Sequence[_Degree]:
        """The degrees of a tensor, or those of its blocks."""
        if not block:
            return self._of_tensors[tensor]
        stock = self._stocks[tensor]
        # No entry lies in more than one block.
        found = [*_of_size(replace(stock.in_blocks(block), entries=stock.entries))]
        if tensor in self._rows:
            found += _of_coordinates(block_coordinates(self._rows[tensor], block))
        return found


def _questions(indices: frozenset[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """For which indices a support that was computed has constraints: from nothing or one index to all, and
    from nothing to one."""
    yield frozenset(), indices
    for index in sorted(indices):
        yield frozenset({index}), indices
        yield frozenset(), frozenset({index})


def _with_names(
    constraints: Iterable[DegreeConstraint], names: Mapping[str, str]
) -> Iterator[DegreeConstraint]:
    for given, found, most in constraints:
        yield DegreeConstraint(frozenset(names[i] for i in given), frozenset(names[i] for i in found), most)


def _shortest(
    constraints: Collection[DegreeConstraint], start: frozenset[str], goal: frozenset[str]
) -> float:
    """The least product of constraints one after the other, from some indices to others."""
    best: dict[frozenset[str], float] = {start: 1.0}
    left = [(1.0, 0, start)]
    pushed = 0
    while left:
        cost, _, reached = heappop(left)
        if goal <= reached:
            return cost
        if cost > best.get(reached, inf):
            continue
        for given, found, most in constraints:
            if given <= reached and not found <= reached:
                more, total = reached | found, cost * most
                if total < best.get(more, inf):
                    best[more] = total
                    pushed += 1
                    heappush(left, (total, pushed, more))
    return inf


def _of_size(stock: Stock) -> Iterator[_Degree]:
    """What shape and number of entries say."""
    for mode, size in enumerate(stock.shape):
        yield frozenset(), frozenset({mode}), size
    yield frozenset(), frozenset(range(len(stock.shape))), stock.entries


def _of_coordinates(coordinates: NDArray[np.int64]) -> Iterator[_Degree]:
    """What the coordinates say: how many a mode has, and how many there are for one of them."""
    every = frozenset(range(len(coordinates)))
    for mode in every:
        _, counts = np.unique(coordinates[mode], return_counts=True)
        yield frozenset(), frozenset({mode}), len(counts)
        yield frozenset({mode}), every, int(counts.max(initial=0))
