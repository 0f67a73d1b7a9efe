"""Tensors as the reference holds them: values at coordinates, and zero everywhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.lang.reference.lookup import Integers, Lookup
from samhw.tensors import Tensor

__all__ = ["Array", "Mask", "Points", "Provenance", "Relation", "gathered"]

Array = NDArray[np.number]
Mask = NDArray[np.bool_]

_NEARLY_FULL = 0.25
"""The share of the points from which on an array for all of them is cheaper than coordinates."""


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct coordinates over some indices, and everything along all others.

    Attributes:
        coords: of shape (len(indices), n). No indices and n = 1 are everything, n = 0 is nothing.
    """

    indices: tuple[str, ...]
    coords: Integers

    @classmethod
    def everything(cls) -> "Points":
        """Every coordinate."""
        return cls((), np.zeros((0, 1), np.int64))

    @classmethod
    def nothing(cls) -> "Points":
        """No coordinate."""
        return cls((), np.zeros((0, 0), np.int64))

    @classmethod
    def along(cls, index: str, extent: int) -> "Points":
        """Each coordinate of an index by itself."""
        return cls((index,), np.arange(extent)[None])

    @property
    def count(self) -> int:
        """How many coordinates there are."""
        return len(self.coords.T)

    def density(self, extents: Mapping[str, int]) -> float:
        """The share of all points that they are."""
        return self.count / max(1, prod(extents[index] for index in self.indices))

    def rows(self, indices: Sequence[str]) -> Integers:
        """The coordinates along some of the indices."""
        return self.coords[[self.indices.index(index) for index in indices]]

    def onto(self, indices: Sequence[str], extents: Mapping[str, int]) -> "Points":
        """What is left when all other indices are left out."""
        if set(indices) == set(self.indices):
            return self
        rows = self.rows(indices)
        distinct = Lookup(rows, [extents[index] for index in indices]).distinct()
        return Points(tuple(indices), rows[:, distinct])

    def all_along(self, index: str, extents: Mapping[str, int]) -> "Points":
        """The points, with every other one that differs from one of them in that index alone."""
        rest = [other for other in self.indices if other != index]
        if len(rest) == len(self.indices):
            return self
        if not rest or not self.count:
            return Points.everything() if self.count else Points.nothing()
        return self.onto(rest, extents)


@dataclass(frozen=True, eq=False)
class Relation:
    """A tensor over named indices: at each of some points an array along the other indices.

    Attributes:
        points: where there is anything.
        dense: the other indices.
        values: of shape (..., number of points, extents of `dense`), with the parts that a domain keeps of an
            element in the axes before.
        extents: of the indices.
        plain: these are plain numbers still, without such parts.
        provenance: of running maxima and minima, which elements they are.
    """

    points: Points
    dense: tuple[str, ...]
    values: Array
    extents: Mapping[str, int]
    plain: bool = False
    provenance: "Provenance | None" = None

    @classmethod
    def of(cls, tensor: Tensor | ArrayLike) -> "Relation":
        """A tensor, or a dense array, with its modes "0", "1", ... as indices."""
        if not isinstance(tensor, Tensor):
            array = np.asarray(tensor)
            return cls(Points.everything(), modes(array.ndim), array[None], _extents(array.shape), plain=True)
        if tensor.format.is_all_dense:
            return cls.of(tensor.to_dense())
        coords, vals = tensor.to_coo(drop_zeros=True)
        names = modes(tensor.rank)
        found = cls(Points(names, coords), (), vals, _extents(tensor.shape), plain=True)
        return found.filled(names) if found.is_nearly_full else found

    @property
    def lead(self) -> int:
        """The number of axes for the parts of an element."""
        return self.values.ndim - 1 - len(self.dense)

    @property
    def indices(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.points.indices, *self.dense)

    @property
    def is_nearly_full(self) -> bool:
        """Whether an array for all points would be no more than a few times as large."""
        places = prod(self.extents[index] for index in self.points.indices)
        return bool(self.points.indices) and self.points.count >= _NEARLY_FULL * places

    def renamed(self, names: Mapping[str, str]) -> "Relation":
        """The same under other names of the indices."""
        points = Points(tuple(names[index] for index in self.points.indices), self.points.coords)
        return replace(
            self,
            points=points,
            dense=tuple(names[index] for index in self.dense),
            extents={names[index]: extent for index, extent in self.extents.items()},
            provenance=self.provenance and self.provenance.renamed(names),
        )

    def listed(self) -> "Relation":
        """With coordinates along every index, where something is not zero."""
        found = np.nonzero((self.values != 0).any(axis=tuple(range(self.lead))))
        inner = np.array(found[1:], np.int64).reshape(len(self.dense), len(found[0]))
        coords = np.concatenate([self.points.coords[:, found[0]], inner])
        values = self.values[(slice(None),) * self.lead + found]
        return replace(self, points=Points(self.indices, coords), dense=(), values=values, provenance=None)

    def filled(self, indices: Sequence[str]) -> "Relation":
        """With everything along every index, in this order."""
        if not self.points.indices and self.points.count and self.dense == tuple(indices):
            return self
        values = gathered(self, Points.everything(), indices)
        provenance = self.provenance and replace(self.provenance, since=self.provenance.since.filled(indices))
        return replace(
            self, points=Points.everything(), dense=tuple(indices), values=values, provenance=provenance
        )

    def to_array(self) -> Array:
        """A dense array, with the modes "0", "1", ... as axes."""
        filled = self.filled(modes(len(self.indices)))
        return filled.values[(slice(None),) * self.lead + (0,)]


@dataclass(frozen=True, eq=False)
class Provenance:
    """Which elements the values of a relation are, so that two that are the same one are known to be equal to
    the bit, however uncertain they are.

    Attributes:
        source: what the elements are of.
        rows: the indices that say in which row of elements a value is.
        since: for each value, the number of its element in its row; plain, over the same indices. Values of
            two relations with one source are one element where row and number are the same.
    """

    source: object
    rows: tuple[str, ...]
    since: Relation

    def renamed(self, names: Mapping[str, str]) -> "Provenance":
        """The same under other names of the indices."""
        rows = tuple(names[index] for index in self.rows)
        return Provenance(self.source, rows, self.since.renamed(names))


def _extents(shape: Sequence[int]) -> dict[str, int]:
    return dict(zip(modes(len(shape)), shape, strict=True))


def modes(rank: int) -> tuple[str, ...]:
    """The names of a tensor's modes as indices."""
    return tuple(map(str, range(rank)))


def gathered(
    relation: Relation,
    points: Points,
    axes: Sequence[str],
    lookups: dict[tuple[str, ...], Lookup] | None = None,
) -> Array:
    """The values at each of some points, along all other indices: an array of shape (..., n, axes).

    Axes of indices that the points have, or the relation has not, have extent 1. So has the first one, if the
    points have no index of the relation.

    Args:
        lookups: where to keep what it takes to find entries, for more points over the same indices.
    """
    fixed = [index for index in relation.dense if index in points.indices]
    rest = [index for index in relation.dense if index not in points.indices]
    behind = relation.lead + 1
    order = [behind + relation.dense.index(index) for index in (*fixed, *rest)]
    values = relation.values.transpose((*range(behind), *order))
    spread = [index for index in relation.points.indices if index not in points.indices]
    if not relation.points.indices and relation.points.count:
        found = values[_index(relation, 0, *points.rows(fixed))] if fixed else values
    else:
        found = _entries(relation, values, points, fixed, {} if lookups is None else lookups)
    # The axes in their order, and those that are missing.
    present = [*spread, *rest]
    ranks = sorted(range(len(present)), key=lambda n: list(axes).index(present[n]))
    found = found.transpose((*range(behind), *(behind + n for n in ranks)))
    sizes = dict(zip((present[n] for n in ranks), found.shape[behind:], strict=True))
    return found.reshape((*found.shape[:behind], *(sizes.get(index, 1) for index in axes)))


def _entries(
    relation: Relation,
    values: Array,
    points: Points,
    fixed: Sequence[str],
    lookups: dict[tuple[str, ...], Lookup],
) -> Array:
    """The values at points, zero where there is no entry: of shape (..., n, `spread`, ...), where `spread`
    are the indices that entries have and the points have not.

    Args:
        values: those of the relation, with the axes of the indices `fixed` after that of the entries.
    """
    known = tuple(index for index in relation.points.indices if index in points.indices)
    spread = [index for index in relation.points.indices if index not in points.indices]
    if known not in lookups:
        lookups[known] = Lookup(relation.points.rows(known), [relation.extents[index] for index in known])
    lookup = lookups[known]
    lead, rest = values.shape[: relation.lead], values.shape[relation.lead + 1 + len(fixed) :]
    at = points.rows(fixed)
    if spread or not lookup.count:
        point, entry = lookup.pairs(points.rows(known), points.count)
        shape = (*lead, points.count, *(relation.extents[index] for index in spread), *rest)
        found: Array = np.zeros(shape, values.dtype)
        place = _index(relation, point, *relation.points.rows(spread)[:, entry])
        found[place] = values[_index(relation, entry, *at[:, point])]
        return found
    entry, is_there = lookup.entries(points.rows(known))
    found = values[_index(relation, entry, *at)]
    if not is_there.all():
        found[_index(relation, ~is_there)] = 0
    return found


def _index(relation: Relation, *places: object) -> tuple[Any, ...]:
    """What takes those places along the axes after the parts of an element."""
    return (*(slice(None),) * relation.lead, *places)
