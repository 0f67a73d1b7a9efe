"""Sums of several relations, at a cost that follows what each of them stores."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from samhw.lang.reference.domain import Domain
from samhw.lang.reference.lookup import Lookup
from samhw.lang.reference.pieces import side_by_side
from samhw.lang.reference.relation import Array, Points, Relation

__all__ = ["added"]

Assembled = Callable[[Sequence[tuple[Points, Array]]], Relation]


def added(domain: Domain, terms: Sequence[Relation], kept: Sequence[str], assembled: Assembled) -> Relation:
    """The sum of some relations over the same indices, left to right.

    As long as they have their points along the same indices, only what is stored is added: where a relation
    has nothing, it adds nothing. So parts that do not meet, of however many there are, are put together in
    one go.

    Args:
        kept: the indices.
        assembled: makes a relation of pieces, as `Contraction.assembled` does.
    """
    found, *rest = terms
    while rest:
        count = next((n for n, term in enumerate(rest) if not _are_alike(found, term)), len(rest))
        if count:
            found = _point_by_point(domain, [found, *rest[:count]])
        else:
            count = 1
            pieces = side_by_side([found, rest[0]], kept)
            found = assembled([(points, domain.add(one, other)) for points, (one, other) in pieces])
        rest = rest[count:]
    return found


def _are_alike(one: Relation, other: Relation) -> bool:
    """Both have points along the same indices, and the same axes along all others."""
    indices = one.points.indices
    return bool(indices) and set(indices) == set(other.points.indices) and one.dense == other.dense


def _point_by_point(domain: Domain, terms: Sequence[Relation]) -> Relation:
    """The sum of relations that are alike: at each point of what is there, the first value, then the second
    one is added to it, and so on."""
    first = terms[0]
    indices, axis = first.points.indices, first.lead
    coords = np.concatenate([term.points.rows(indices) for term in terms], axis=1)
    values = np.concatenate([term.values for term in terms], axis=axis)
    lookup = Lookup(coords, [first.extents[index] for index in indices])
    starts = lookup.starts()
    counts = np.diff(starts, append=lookup.count)
    at = lookup.at(starts)
    total = values.take(at, axis)
    # With the axis of the points in front, whatever lies before it.
    points = np.moveaxis(total, axis, 0)
    for nth in range(1, int(np.max(counts, initial=1))):
        more = np.flatnonzero(counts > nth)
        further = values.take(lookup.at(starts[more] + nth), axis)
        points[more] = np.moveaxis(domain.add(total.take(more, axis), further), axis, 0)
    return replace(first, points=Points(indices, coords[:, at]), values=total, provenance=None)
