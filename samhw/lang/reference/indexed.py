"""Elements at other coordinates: gathers and scatters, reshapes and concatenations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod

import numpy as np

from samhw.errors import InputError
from samhw.lang import Access, ComputedIndex, Concat, IndexExpr, Indirect
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.lookup import Integers
from samhw.lang.reference.relation import Mask, Points, Relation, modes

__all__ = ["concatenated", "elements", "gathered_at", "place_name", "places_of", "reshaped"]


def place_name(mode: int) -> str:
    """What stands for the places of a mode: no index of a program has such a name."""
    return f"place {mode}"


def gathered_at(access: Access, tensors: Mapping[str, Relation], extents: Mapping[str, int]) -> Relation:
    """The elements of a tensor at the places that an access names or computes, over its variables.

    Args:
        extents: of every variable.

    Raises:
        InputError: for a place that the tensor has not, if an index tensor names it.
    """
    source = tensors[access.tensor]
    filled = source.filled(modes(len(access.indices)))
    sizes = {name: extents[name] for name in access.variables}
    at, inside = [], np.ones((), bool)
    for mode, index in enumerate(access.indices):
        numbers, is_inside = _places(index, tensors, access, sizes, source.extents[str(mode)])
        at.append(_spread(numbers, index.variables, access.variables))
        inside = inside & _spread(is_inside, index.variables, access.variables)
    values = filled.values[(slice(None),) * (filled.lead + 1) + tuple(at)]
    shape = (*values.shape[: filled.lead + 1], *sizes.values())
    values = np.where(inside, np.broadcast_to(values, shape), np.zeros((), values.dtype))
    return Relation(Points.everything(), access.variables, values, sizes, filled.plain)


def places_of(
    lhs: Access, tensors: Mapping[str, Relation], shape: Sequence[int], extents: Mapping[str, int]
) -> Relation:
    """A one at each place of a result that an access names or computes, over the variables of what does, and
    the places of the modes. Raises as `gathered_at` does."""
    found = {mode: i for mode, i in enumerate(lhs.indices) if isinstance(i, Indirect | ComputedIndex)}
    variables = tuple(dict.fromkeys(name for index in found.values() for name in index.variables))
    sizes = {name: extents[name] for name in variables}
    rows = list(np.indices(list(sizes.values())).reshape(len(variables), prod(sizes.values())))
    inside = np.ones(list(sizes.values()), bool)
    for mode, index in found.items():
        numbers, is_inside = _places(index, tensors, lhs, sizes, shape[mode])
        spread = _spread(numbers, index.variables, variables)
        rows.append(np.broadcast_to(spread, inside.shape).reshape(-1))
        inside = inside & _spread(is_inside, index.variables, variables)
    every = sizes | {place_name(mode): shape[mode] for mode in found}
    coords = np.array(rows)[:, inside.reshape(-1)]
    points = Points((*variables, *map(place_name, found)), coords)
    return Relation(points, (), np.ones(points.count), every, plain=True)


def _places(
    index: IndexExpr, tensors: Mapping[str, Relation], access: Access, sizes: Mapping[str, int], extent: int
) -> tuple[Integers, Mask]:
    """The places of an index along a mode of some extent, over the variables of the index, and which of them
    the mode has."""
    shape = [sizes[name] for name in index.variables]
    match index:
        case Indirect():
            numbers = _numbers(index, tensors, access, extent)
            return numbers, np.ones(shape, bool)
        case ComputedIndex():
            own = np.indices(shape)
            steps = [factor * own[axis] for axis, (_, factor) in enumerate(index.terms)]
            numbers = np.full(shape, index.offset, np.int64) + sum(steps)
            if index.outside == "wrap":
                numbers = numbers % extent
            kept = np.clip(numbers, 0, extent - 1)
            return kept, np.asarray((kept == numbers) | (index.outside == "clamp"))
    (size,) = shape
    return np.arange(size), np.ones(size, bool)


def _numbers(index: Indirect, tensors: Mapping[str, Relation], access: Access, extent: int) -> Integers:
    """The places that an index tensor names, below an extent, over its variables."""
    numbers = tensors[index.tensor].to_array()
    if (numbers != np.round(numbers)).any() or ((numbers < 0) | (numbers >= extent)).any():
        raise InputError(
            f"The index tensor '{index.tensor}' of '{access}' names a place outside of 0 to {extent - 1}; "
            "fix its numbers."
        )
    found: Integers = numbers.astype(np.int64)
    return found


def _spread(array: Integers | Mask, own: Sequence[str], variables: Sequence[str]) -> Integers:
    """An array over some variables, with an axis for each of all variables."""
    order = sorted(range(len(own)), key=lambda axis: variables.index(own[axis]))
    held = dict(zip((own[axis] for axis in order), array.transpose(order).shape, strict=True))
    spread: Integers = array.transpose(order).reshape([held.get(name, 1) for name in variables])
    return spread


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
