"""The coordinates of a support as a table: vectorised joins over what is stored."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["CoordinateTable", "TooManyError", "counts_by_row", "distinct", "join", "turns", "union"]

Column = NDArray[np.int64]


class TooManyError(Exception):
    """A join would look at more pairs than it may."""


@dataclass(frozen=True, eq=False)
class CoordinateTable:
    """Distinct coordinates over the indices of `columns`, of `rows` rows, and at each of them everything
    along the `free` indices, which have these extents."""

    columns: Mapping[str, Column]
    free: Mapping[str, int]
    rows: int

    @property
    def count(self) -> float:
        """How many coordinates there are."""
        return float(self.rows) * prod(map(float, self.free.values()))

    @classmethod
    def whole(cls, free: Mapping[str, int]) -> "CoordinateTable":
        """Everything along some indices."""
        return cls({}, free, 1)

    def onto(self, kept: Collection[str]) -> "CoordinateTable":
        """What is left over some of the indices."""
        free = {index: extent for index, extent in self.free.items() if index in kept}
        rows = self.rows if all(self.free.values()) else 0
        columns = {index: column for index, column in self.columns.items() if index in kept}
        if len(columns) == len(self.columns):
            return CoordinateTable(columns, free, rows) if rows else empty(columns, free)
        return distinct(columns, free, rows)

    def renamed(self, names: Mapping[str, str]) -> "CoordinateTable":
        """The same under other names."""
        return CoordinateTable(
            {names[index]: column for index, column in self.columns.items()},
            {names[index]: extent for index, extent in self.free.items()},
            self.rows,
        )

    def where(self, chosen: NDArray[np.bool_]) -> "CoordinateTable":
        """Some of the rows."""
        columns = {index: column[chosen] for index, column in self.columns.items()}
        return CoordinateTable(columns, self.free, int(chosen.sum()))

    def among(self, index: str, values: Column) -> "CoordinateTable":
        """Only the coordinates of an index that are among sorted, distinct values."""
        if index in self.free:
            values = values[values < self.free[index]]
            return self.listed(index, values)
        column = self.columns[index]
        place = np.minimum(np.searchsorted(values, column), max(len(values) - 1, 0))
        found = values[place] == column if len(values) else np.zeros(len(column), bool)
        return self.where(found)

    def listed(self, index: str, values: Column | None = None) -> "CoordinateTable":
        """The same with an index that is free as a column, of all its coordinates or some."""
        if values is None:
            values = np.arange(self.free[index])
        free = {other: extent for other, extent in self.free.items() if other != index}
        columns = {other: np.repeat(column, len(values)) for other, column in self.columns.items()}
        columns[index] = np.tile(values, self.rows)
        return CoordinateTable(columns, free, self.rows * len(values))


def empty(columns: Collection[str], free: Mapping[str, int]) -> CoordinateTable:
    """Nothing, over those indices."""
    return CoordinateTable({index: np.zeros(0, np.int64) for index in columns}, free, 0)


def distinct(columns: Mapping[str, Column], free: Mapping[str, int], rows: int) -> CoordinateTable:
    """Rows that may repeat, each once."""
    if not columns:
        return CoordinateTable({}, free, min(rows, 1))
    _, first = np.unique(_keys(list(columns.values())), return_index=True)
    found = {index: column[first] for index, column in columns.items()}
    return CoordinateTable(found, free, len(first))


def union(relations: Sequence[CoordinateTable], most: float) -> CoordinateTable:
    """What is in one relation at least. All are over the same indices.

    Raises:
        TooManyError: where coordinates that are free in one of them would have to be listed, and are more
            than `most`.
    """
    listed = {index for relation in relations for index in relation.columns}
    parts = []
    for relation in relations:
        for index in listed.intersection(relation.free):
            if float(relation.rows) * relation.free[index] > most:
                raise TooManyError
            relation = relation.listed(index)
        parts.append(relation)
    names = list(parts[0].columns)
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in names}
    rows = sum(part.rows for part in parts)
    return distinct(columns, parts[0].free, rows)


def join(
    a: CoordinateTable, b: CoordinateTable, kept: Collection[str], most: float
) -> tuple[CoordinateTable, float]:
    """What is in both, over the indices that are kept; and how many pairs of rows were looked at.

    A product that leaves out what its factors have in common is one of sparse matrices.

    Raises:
        TooManyError: for more pairs than `most`.
    """
    common = [index for index in a.columns if index in b.columns]
    free = {i: n for i, n in {**a.free, **b.free}.items() if i not in a.columns and i not in b.columns}
    left, right = _common_keys(a, b, common)
    counts = np.bincount(right, minlength=int(left.max(initial=0)) + 1)[left]
    pairs = float(counts.sum())
    if pairs > most:
        raise TooManyError
    kept_columns = [i for i in (*a.columns, *b.columns) if i in kept]
    own_a = [i for i in a.columns if i in kept and i not in common]
    own_b = [i for i in b.columns if i in kept and i not in common]
    if pairs == 0 or not all(free.values()):
        return empty(dict.fromkeys(kept_columns), {i: n for i, n in free.items() if i in kept}), pairs
    if common and own_a and own_b and not any(index in kept for index in common):
        return _product(a, b, (own_a, own_b), (left, right), free).onto(kept), pairs
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, "left")
    entry = np.repeat(np.arange(a.rows), counts)
    offset = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    partner = order[np.repeat(first, counts) + offset]
    columns = {index: column[entry] for index, column in a.columns.items()}
    columns |= {i: column[partner] for i, column in b.columns.items() if i not in columns}
    return CoordinateTable(columns, free, len(entry)).onto(kept), pairs


def turns(relation: CoordinateTable, dealt: CoordinateTable, index: str) -> Column:
    """For each row of a relation, which one in its fiber its coordinate of an index is, from 0 on.

    Args:
        dealt: the fibers, over the index and those outside of it.
    """
    if index in dealt.free:
        return relation.columns[index]
    outer = [name for name in dealt.columns if name != index and name in relation.columns]
    ours, theirs = _common_keys(relation, dealt, [*outer, index])
    fiber = _common_keys(relation, dealt, outer)[1]
    # Keys go up with the coordinates, so that sorted ones are those of a fiber after the other.
    keys, first = np.unique(theirs, return_index=True)
    fiber = fiber[first]
    begins = np.flatnonzero(np.r_[True, fiber[1:] != fiber[:-1]])
    place = np.arange(len(keys)) - np.repeat(begins, np.diff(np.r_[begins, len(keys)]))
    found: Column = place[np.minimum(np.searchsorted(keys, ours), max(len(keys) - 1, 0))]
    return found


def counts_by_row(
    relations: Sequence[CoordinateTable], outer: Sequence[str], most: float
) -> list[NDArray[np.float64]]:
    """For each relation, how many coordinates it has over each of those over the outer indices, in the order
    of these; of all that any of the relations has.

    Raises:
        TooManyError: where there would be more than `most` of them.
    """
    listed = []
    for relation in relations:
        for index in outer:
            if index in relation.free:
                if float(relation.rows) * relation.free[index] > most:
                    raise TooManyError
                relation = relation.listed(index)
        listed.append(relation)
    columns = [np.concatenate([relation.columns[index] for relation in listed]) for index in outer]
    rows, place = np.unique(_keys(columns), return_inverse=True)
    parts = np.split(place, np.cumsum([relation.rows for relation in listed])[:-1])
    return [
        np.bincount(part, minlength=len(rows)).astype(np.float64) * prod(relation.free.values())
        for part, relation in zip(parts, listed, strict=True)
    ]


def _product(
    a: CoordinateTable,
    b: CoordinateTable,
    own: tuple[Sequence[str], Sequence[str]],
    keys: tuple[Column, Column],
    free: Mapping[str, int],
) -> CoordinateTable:
    """The pairs of their own indices that meet at a key."""
    inner = 1 + max(int(key.max(initial=0)) for key in keys)
    sides = []
    for relation, names in zip((a, b), own, strict=True):
        _, first, place = np.unique(
            _keys([relation.columns[name] for name in names]), return_index=True, return_inverse=True
        )
        sides.append((first, place, [relation.columns[name][first] for name in names]))
    matrices = [
        scipy.sparse.csr_array((np.ones(len(key), np.int32), (place, key)), shape=(len(first), inner))
        for key, (first, place, _) in zip(keys, sides, strict=True)
    ]
    found = (matrices[0] @ matrices[1].T.tocsr()).tocoo()
    rows = (found.row, found.col)
    columns = {
        name: column[row].astype(np.int64)
        for names, row, (_, _, values) in zip(own, rows, sides, strict=True)
        for name, column in zip(names, values, strict=True)
    }
    return CoordinateTable(columns, free, len(found.row))


def _common_keys(a: CoordinateTable, b: CoordinateTable, common: Sequence[str]) -> tuple[Column, Column]:
    """A number from 0 on for each row of both, equal where the common columns are."""
    if not common:
        return np.zeros(a.rows, np.int64), np.zeros(b.rows, np.int64)
    columns = [np.concatenate([a.columns[index], b.columns[index]]) for index in common]
    keys = _keys(columns)
    if keys.max(initial=0) > 4 * len(keys) + 1024:
        _, keys = np.unique(keys, return_inverse=True)
    return keys[: a.rows], keys[a.rows :]


def _keys(columns: Sequence[Column]) -> Column:
    """A number for each row, equal for equal rows."""
    keys = columns[0].astype(np.int64)
    bound = int(keys.max(initial=0)) + 1
    for column in columns[1:]:
        size = int(column.max(initial=0)) + 1
        if bound * size >= 1 << 62:
            _, keys = np.unique(keys, return_inverse=True)
            bound = len(keys) + 1
        keys = keys * size + column
        bound *= size
    return keys
