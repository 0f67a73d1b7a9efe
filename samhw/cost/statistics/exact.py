"""Statistics from the stored coordinates themselves: exact, or of a sample.

A count is that of a relation, which is joined from what is stored. Where a join would look at too many pairs,
the coordinates of one index are sampled, each with a probability in proportion to how often it occurs (a
systematic sample; Horvitz and Thompson's estimate): those that occur most are certain to be in it.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import cast

import numpy as np
from numpy.typing import NDArray

from samhw.cost.statistics.coordinate_table import (
    Column,
    CoordinateTable,
    TooManyError,
    counts_by_row,
    empty,
    join,
    turns,
    union,
)
from samhw.cost.statistics.statistics import (
    Dealt,
    Kind,
    RowCounts,
    Stock,
    TensorStatistics,
    block_coordinates,
    stored_coordinates,
)
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

__all__ = ["DataStatistics"]

Bounds = Mapping[str, Column]
"""By index, the sorted coordinates that are asked for."""

MOST: Mapping[Kind, int] = {"exact": 1 << 22, "sampled": 1 << 15}
"""The pairs that the joins of one count look at; beyond, they take a sample."""

ROWS_IN_A_RUN = 64
"""Of a sample of rows."""

KEPT_ROWS = 1 << 23
"""Rows of relations that are kept for further counts."""


class DataStatistics(TensorStatistics):
    """Of tensors whose coordinates are at hand.

    Args:
        tensors: the inputs.
        masks: those of which only what is not zero counts.
        kind: `exact` or `sampled`, which samples far earlier.
        most: the pairs that the joins of one count may look at, instead of what the kind has.
    """

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        kind: Kind = "exact",
        *,
        masks: Collection[str] = (),
        most: int | None = None,
    ):
        super().__init__()
        self.kind = kind
        self._most = MOST[kind] if most is None else most
        self._tensors = dict(tensors)
        self._masks = frozenset(masks)
        self._kept: OrderedDict[tuple[Support, frozenset[str]], CoordinateTable] = OrderedDict()
        self._known: dict[tuple[str, tuple[int, ...]], NDArray[np.int64]] = {}
        self._extents: dict[tuple[Support, str], int] = {}
        self._left = 0.0

    @cached_property
    def stocks(self) -> Mapping[str, Stock]:
        return {name: Stock(t.shape, self._coordinates(name).shape[1]) for name, t in self._tensors.items()}

    def _counted(self, support: Support) -> float:
        try:
            return self._within(lambda: self._evaluated(support, support.indices, {}).count)
        except TooManyError:
            return self._sampled(support)

    def _most_dealt(self, support: Support, dealt: tuple[Dealt, ...]) -> float:
        try:
            found = self._evaluated_within(support)
            lane, share = np.zeros(found.rows, np.int64), 1.0
            for one in dealt:
                if one.index in found.free:
                    extent = found.free[one.index]
                    share *= -(-extent // one.lanes) / extent if extent else 1.0
                elif one.of.indices <= found.columns.keys() | found.free.keys():
                    lane = (
                        lane * one.lanes + turns(found, self._evaluated_within(one.of), one.index) % one.lanes
                    )
                else:
                    share /= one.lanes
        except TooManyError:
            return super()._most_dealt(support, dealt)
        most = float(np.bincount(lane).max(initial=0))
        return most * share * found.count / found.rows if found.rows else 0.0

    def _by_row(self, supports: tuple[Support, ...], outer: tuple[str, ...]) -> RowCounts | None:
        extent = self._extent(supports[0], outer[0])
        for step in (1, 8, 64, 512):
            # Of every few runs of rows one: neighbours stay beside each other.
            every = np.arange(extent)
            bounds = {} if step == 1 else {outer[0]: every[every // ROWS_IN_A_RUN % step == 0]}
            try:
                tables = [self._evaluated_within(support, bounds) for support in supports]
                if all(table.free.keys() >= set(outer) for table in tables):
                    return None
                return counts_by_row(tables, outer, self._most)
            except TooManyError:
                continue
        return None

    def _evaluated_within(self, support: Support, bounds: Bounds = MappingProxyType({})) -> CoordinateTable:
        self._left = float(self._most)
        return self._evaluated(support, support.indices, bounds)

    def _within(self, count: Callable[[], float]) -> float:
        """A count by as many pairs as it may look at."""
        self._left = float(self._most)
        return count()

    # A sample

    def _sampled(self, support: Support) -> float:
        """The estimate from a sample that is as large as may be."""
        for index in self._indices_to_sample(support):
            coordinates, occurrences = self._occurrences(support, index)
            size = min(len(coordinates), 1 << 12)
            while size:
                values, weights = _systematic(coordinates, occurrences, size)
                try:
                    return self._within(lambda: self._weighted(support, index, values, weights))  # noqa: B023
                except TooManyError:
                    size //= 2
        return self._assumed(support)

    def _weighted(self, support: Support, index: str, values: Column, weights: NDArray[np.float64]) -> float:
        found = self._evaluated(support, support.indices, {index: values})
        if not found.rows:
            return 0.0
        share = float(weights[np.searchsorted(values, found.columns[index])].sum())
        return share * found.count / found.rows

    def _indices_to_sample(self, support: Support) -> list[str]:
        """The indices, those first that the largest tensor has of those that do not store everything: what
        does is not gone through."""
        sizes = dict.fromkeys(sorted(support.indices), 0.0)
        for part in _stored_parts(support):
            columns = self._stored(part).columns
            for index in columns.keys() & sizes.keys():
                sizes[index] = max(sizes[index], self.stocks[part.tensor].entries)
        return sorted(sizes, key=lambda index: -sizes[index])

    def _occurrences(self, support: Support, index: str) -> tuple[Column, NDArray[np.int64]]:
        """The coordinates that an index may have, and how often each occurs in the largest tensor."""
        parts = support.parts if isinstance(support, AllOf) else (support,)
        with_index = [p for p in parts if isinstance(p, Entries) and index in p.indices]
        if not with_index:
            every = np.arange(self._extent(support, index))
            return every, np.ones(len(every), np.int64)
        largest = max(with_index, key=lambda part: self.stocks[part.tensor].entries)
        relation = self._stored(largest)
        if index in relation.free:
            every = np.arange(relation.free[index])
            return every, np.ones(len(every), np.int64)
        return cast(
            "tuple[Column, NDArray[np.int64]]", np.unique(relation.columns[index], return_counts=True)
        )

    def _extent(self, support: Support, index: str) -> int:
        """The extent of an index of a support, whose parts may be parts of each other many times."""
        found = self._extents.get((support, index))
        if found is None:
            found = self._extents[support, index] = self._computed_extent(support, index)
        return found

    def _computed_extent(self, support: Support, index: str) -> int:
        match support:
            case Every(_, extent):
                return extent
            case Entries(_, names):
                return self._shape(support)[names.index(index)]
            case AllOf(parts) | AnyOf(parts):
                return min(self._extent(part, index) for part in parts if index in part.indices)
            case Relabelled(of, names):
                return self._extent(of, next(inner for inner, outer in names if outer == index))
            case Shifted(of, inner, to, distance):
                return self._extent(of, inner) + distance if index == to else self._extent(of, index)
            case Onto(of) | Thinned(of):
                return self._extent(of, index)
        raise TypeError(f"{support} is no support")

    def _assumed(self, support: Support) -> float:
        """Where even one coordinate has too many pairs: everything."""
        found = 1.0
        for index in support.indices:
            found *= self._extent(support, index)
        return found

    # Relations

    def _evaluated(self, support: Support, kept: Collection[str], bounds: Bounds) -> CoordinateTable:
        """The coordinates of a support over the indices that are kept, within bounds."""
        bounds = {index: values for index, values in bounds.items() if index in support.indices}
        kept = support.indices.intersection(kept)
        if bounds or isinstance(support, Every | Entries | Relabelled):
            return self._computed(support, kept, bounds)
        key = (support, kept)
        if key not in self._kept:
            self._kept[key] = self._computed(support, kept, bounds)
            while sum(relation.rows for relation in self._kept.values()) > KEPT_ROWS and len(self._kept) > 1:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _computed(self, support: Support, kept: frozenset[str], bounds: Bounds) -> CoordinateTable:
        match support:
            case Every(index, extent):
                found = CoordinateTable.whole({index: extent})
            case Entries():
                found = self._stored(support)
            case AllOf(parts):
                return self._met(parts, kept, bounds)
            case AnyOf(parts):
                found = self._joined(support, parts, kept, bounds)
            case Relabelled(of, names):
                inner = {outer: name for name, outer in names}
                inside = {inner[index]: values for index, values in bounds.items()}
                found = self._evaluated(of, {inner[index] for index in kept}, inside)
                return found.renamed(dict(names))
            case Onto(of):
                return self._evaluated(of, kept, bounds)
            case Shifted():
                found = self._shifted(support, bounds)
            case Thinned(of, share):
                found = _thinned(self._evaluated(of, of.indices, bounds), share)
            case _:
                raise TypeError(f"{support} is no support")
        for index, values in bounds.items():
            if index in found.free or index in found.columns:
                found = found.among(index, values)
        return found.onto(kept)

    def _stored(self, support: Entries) -> CoordinateTable:
        """What a tensor stores; what stores everything is free."""
        shape = self._shape(support)
        free = dict(zip(support.names, shape, strict=True))
        size = prod(shape)
        coordinates = self._coordinates(support.tensor, support.block)
        if coordinates.shape[1] == size and size:
            return CoordinateTable.whole(free)
        return CoordinateTable(dict(zip(support.names, coordinates, strict=True)), {}, coordinates.shape[1])

    def _shape(self, support: Entries) -> tuple[int, ...]:
        """The extents of what a tensor stores: of its modes, or of blocks along them."""
        shape = self._tensors[support.tensor].shape
        return Stock(shape, 0).in_blocks(support.block).shape

    def _coordinates(self, name: str, block: tuple[int, ...] = ()) -> NDArray[np.int64]:
        """The coordinates that a tensor stores, of shape (rank, n), or those of its blocks."""
        if (name, block) not in self._known:
            stored = stored_coordinates(self._tensors[name], is_mask=name in self._masks)
            self._known[name, block] = block_coordinates(stored, block)
        return self._known[name, block]

    def _joined(
        self, support: AnyOf, parts: tuple[Support, ...], kept: frozenset[str], b: Bounds
    ) -> CoordinateTable:
        found = [self._evaluated(part, kept, b) for part in parts]
        found = [relation for relation in found if relation.rows]
        if not found:
            return empty(kept, {})
        return found[0] if len(found) == 1 else union(found, self._left)

    def _shifted(self, support: Shifted, bounds: Bounds) -> CoordinateTable:
        others = {index: values for index, values in bounds.items() if index != support.to}
        found = self._evaluated(support.of, support.of.indices, others)
        if support.index in found.free:
            found = found.listed(support.index)
        found = found.renamed({**{i: i for i in support.of.indices}, support.index: support.to})
        moved = found.columns[support.to] + support.distance
        return CoordinateTable({**found.columns, support.to: moved}, found.free, found.rows)

    def _met(self, parts: tuple[Support, ...], kept: frozenset[str], bounds: Bounds) -> CoordinateTable:
        """The join of parts, the smallest first, then those that have an index in common with what is there;
        an index that is not kept goes as soon as no other part has it."""
        # What is stored is at hand; all else is computed when its turn comes, within what is there by then.
        ready = {part: self._evaluated(part, part.indices, bounds) for part in parts if _is_leaf(part)}
        left = list(parts)
        found = CoordinateTable.whole({})
        inside = dict(bounds)
        while left:
            part = min(left, key=lambda p: _turn(p, found, ready))
            left.remove(part)
            needed = kept.union(*(other.indices for other in left))
            relation = ready.get(part)
            if relation is None:
                relation = self._evaluated(part, part.indices, inside)
            alone = relation.onto(needed.union(found.columns, found.free))
            found, pairs = join(found, alone, needed, self._left)
            self._left -= pairs
            if bounds:
                inside |= {index: np.unique(column) for index, column in found.columns.items()}
        return found


def _is_leaf(part: Support) -> bool:
    return isinstance(part, Every | Entries)


def _turn(
    part: Support, found: CoordinateTable, ready: Mapping[Support, CoordinateTable]
) -> tuple[bool, bool, float]:
    """What sorts the parts of a join: those in touch with what is there, those at hand, the smaller ones."""
    relation = ready.get(part)
    apart = bool(found.columns) and part.indices.isdisjoint(found.columns)
    return apart, relation is None, relation.rows if relation else 0.0


def _stored_parts(support: Support) -> list[Entries]:
    """The stored tensors that a support meets or joins, not through other names."""
    match support:
        case Entries():
            return [support]
        case AllOf(parts) | AnyOf(parts):
            return [stored for part in parts for stored in _stored_parts(part)]
        case Onto(of) | Thinned(of):
            return _stored_parts(of)
    return []


def _systematic(
    coordinates: Column, occurrences: NDArray[np.int64], size: int
) -> tuple[Column, NDArray[np.float64]]:
    """Some of the coordinates, and what each counts for."""
    step = occurrences.sum() / max(size, 1)
    ends = np.cumsum(occurrences)
    chosen = np.unique(np.searchsorted(ends, (np.arange(size) + 0.5) * step, "right"))
    chosen = chosen[chosen < len(coordinates)]
    return coordinates[chosen], np.maximum(1.0, step / occurrences[chosen])


def _thinned(relation: CoordinateTable, share: float) -> CoordinateTable:
    """About a share of the rows, by a hash of their coordinates: everywhere the same ones."""
    for index in list(relation.free):
        relation = relation.listed(index)
    key = np.full(relation.rows, 0x9E3779B97F4A7C15, np.uint64)
    for index in sorted(relation.columns):
        key = (key ^ relation.columns[index].astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    return relation.where(key.astype(np.float64) < share * 2.0**64)
