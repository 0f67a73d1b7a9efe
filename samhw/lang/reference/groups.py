"""Reducing what comes piece by piece to fewer indices."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from samhw.lang.reference.domain import Reduction
from samhw.lang.reference.lookup import Lookup
from samhw.lang.reference.relation import Array, Points

__all__ = ["Groups"]


class Groups:
    """Reduces the values of points that are equal along some indices.

    Args:
        indices: those indices. The pieces come in the order of the first one.
        emit: takes the points over them and what was reduced, as soon as no later piece can add to it.
    """

    def __init__(
        self,
        indices: Sequence[str],
        extents: Mapping[str, int],
        emit: Callable[[Points, Sequence[Array]], None],
    ) -> None:
        self._indices = tuple(indices)
        self._extents = [extents[index] for index in indices]
        self._emit = emit
        self._pending: list[tuple[Points, list[Array]]] = []
        self._by: list[np.ufunc] = []
        self._merged = 0

    def add(self, points: Points, values: Sequence[Reduction]) -> None:
        """One more piece; the first axis of the values is that of the points."""
        self._by = [by for by, _ in values]
        piece = self._reduced(Points(self._indices, points.rows(self._indices)), [a for _, a in values])
        if self._pending and self._indices and piece[0].count:
            before = max(int(p.coords[0].max(initial=-1)) for p, _ in self._pending)
            if int(piece[0].coords[0].min()) > before:
                self.finish()
        self._pending.append(piece)
        if sum(p.count for p, _ in self._pending) > 2 * self._merged + (1 << 16):
            self._merge()

    def finish(self) -> None:
        """Gives what is left."""
        self._merge()
        self._emit(*self._pending[0])
        self._pending, self._merged = [], 0

    def _merge(self) -> None:
        if len(self._pending) > 1:
            coords = np.concatenate([points.coords for points, _ in self._pending], axis=1)
            columns = zip(*(arrays for _, arrays in self._pending), strict=True)
            values = [np.concatenate(column) for column in columns]
            self._pending = [self._reduced(Points(self._indices, coords), values)]
        self._merged = self._pending[0][0].count

    def _reduced(self, points: Points, values: Sequence[Array]) -> tuple[Points, list[Array]]:
        if not points.count:
            return points, list(values)
        lookup = Lookup(points.coords, self._extents)
        starts, order = lookup.starts(), lookup.order
        if len(starts) == points.count and order is None:
            return points, list(values)
        sums = [
            by.reduceat(a if order is None else a[order], starts, axis=0)
            for by, a in zip(self._by, values, strict=True)
        ]
        return Points(self._indices, points.coords[:, lookup.distinct()]), sums
