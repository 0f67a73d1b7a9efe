"""Reshapes and concatenations: elements at other coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from samhw.lang import Access, Concat
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.relation import Points, Relation

__all__ = ["concatenated", "elements", "reshaped"]


def elements(domain: Domain, relation: Relation) -> Relation:
    """The relation with a domain's elements."""
    values = domain.exact(relation.values) if relation.plain else relation.values
    return replace(relation, values=values, plain=False)


def reshaped(operand: Relation, access: Access, kept: Sequence[str], extents: Mapping[str, int]) -> Relation:
    """All elements in row-major order, in another shape."""
    sizes = {index: extents[index] for index in kept}
    shape = tuple(sizes.values())
    if not operand.points.indices and operand.points.count:
        filled = operand.filled(access.names)
        values = filled.values.reshape((*filled.values.shape[: filled.lead + 1], *shape))
        return Relation(filled.points, tuple(kept), values, sizes, filled.plain)
    listed = operand.listed()
    place = np.zeros(listed.points.count, np.int64)
    for index, row in zip(access.names, listed.points.rows(access.names), strict=True):
        place = place * operand.extents[index] + row
    # A scalar has no coordinates; NumPy refuses to say so of several places.
    coords = np.array(np.unravel_index(place, shape) if shape else (), np.int64)
    coords = coords.reshape(len(shape), len(place))
    return Relation(Points(tuple(kept), coords), (), listed.values, sizes, listed.plain)


def concatenated(
    domain: Domain, concat: Concat, leaves: Mapping[Access, Relation], kept: Sequence[str]
) -> Relation:
    """The parts, each after those before it along an index."""
    index = concat.index
    parts = [elements(domain, leaves[access]) for access in concat.operands]
    lengths = [part.extents[index] for part in parts]
    extents = {**parts[0].extents, index: sum(lengths)}
    lead = parts[0].lead
    if all(not part.points.indices and part.points.count for part in parts):
        values = [part.filled(kept).values for part in parts]
        whole = np.concatenate(values, axis=lead + 1 + list(kept).index(index))
        return Relation(Points.everything(), tuple(kept), whole, extents)
    listed = [part.listed() for part in parts]
    starts = accumulate(lengths, initial=0)
    rows = [part.points.rows(kept) for part in listed]
    for row, start in zip(rows, starts, strict=False):
        row[list(kept).index(index)] += start
    return Relation(
        Points(tuple(kept), np.concatenate(rows, axis=1)),
        (),
        np.concatenate([part.values for part in listed], axis=lead),
        extents,
    )
