"""Index tensors: elements at the places that numbers name."""

from collections.abc import Mapping, Sequence

import numpy as np

from samhw.errors import InputError
from samhw.frontend import Access, Indirect
from samhw.reference.lookup import Integers
from samhw.reference.relation import Points, Relation, modes

__all__ = ["gathered_at", "place_name", "places_of"]


def place_name(mode: int) -> str:
    """What stands for the places of a mode: no index of a program has such a name."""
    return f"place {mode}"


def gathered_at(access: Access, tensors: Mapping[str, Relation]) -> Relation:
    """The elements of a tensor at the places that an access with index tensors names, over its variables.

    Raises:
        InputError: for a place that the tensor has not.
    """
    source = tensors[access.tensor]
    filled = source.filled(modes(len(access.indices)))
    sizes = _sizes(access, tensors)
    at = []
    for mode, index in enumerate(access.indices):
        if isinstance(index, Indirect):
            numbers = _numbers(index, tensors, access, source.extents[str(mode)])
            at.append(_spread(numbers, index.names, access.variables))
        else:
            (name,) = index.variables
            at.append(_spread(np.arange(sizes[name]), (name,), access.variables))
    values = filled.values[(slice(None),) * (filled.lead + 1) + tuple(at)]
    shape = (*values.shape[: filled.lead + 1], *(sizes[name] for name in access.variables))
    values = np.broadcast_to(values, shape)
    return Relation(Points.everything(), access.variables, values, sizes, filled.plain)


def places_of(lhs: Access, tensors: Mapping[str, Relation], shape: Sequence[int]) -> Relation:
    """A one at each place of a result that index tensors name, over their variables and the places of the
    modes. Raises as `gathered_at` does."""
    named = {mode: index for mode, index in enumerate(lhs.indices) if isinstance(index, Indirect)}
    variables = tuple(dict.fromkeys(name for index in named.values() for name in index.names))
    sizes = _sizes(Access(lhs.tensor, tuple(named.values())), tensors)
    rows = list(np.indices([sizes[name] for name in variables]).reshape(len(variables), -1))
    for mode, index in named.items():
        numbers = _spread(_numbers(index, tensors, lhs, shape[mode]), index.names, variables)
        rows.append(np.broadcast_to(numbers, [sizes[name] for name in variables]).reshape(-1))
    extents = sizes | {place_name(mode): shape[mode] for mode in named}
    points = Points((*variables, *map(place_name, named)), np.array(rows))
    return Relation(points, (), np.ones(points.count), extents, plain=True)


def _sizes(access: Access, tensors: Mapping[str, Relation]) -> dict[str, int]:
    """The extents of the variables of an access."""
    sizes: dict[str, int] = {}
    for mode, index in enumerate(access.indices):
        if isinstance(index, Indirect):
            own = tensors[index.tensor].extents
            sizes |= {name: own[str(place)] for place, name in enumerate(index.names)}
        else:
            sizes[index.variables[0]] = tensors[access.tensor].extents[str(mode)]
    return sizes


def _numbers(index: Indirect, tensors: Mapping[str, Relation], access: Access, extent: int) -> Integers:
    """The places that an index tensor names, below an extent."""
    numbers = tensors[index.tensor].to_array()
    if (numbers != np.round(numbers)).any() or ((numbers < 0) | (numbers >= extent)).any():
        raise InputError(
            f"The index tensor '{index.tensor}' of '{access}' names a place outside of 0 to {extent - 1}; "
            "fix its numbers."
        )
    return numbers.astype(np.int64)


def _spread(array: Integers, own: Sequence[str], variables: Sequence[str]) -> Integers:
    """An array over some variables, with an axis for each of all variables."""
    order = sorted(range(len(own)), key=lambda axis: variables.index(own[axis]))
    held = dict(zip((own[axis] for axis in order), array.transpose(order).shape, strict=True))
    return array.transpose(order).reshape([held.get(name, 1) for name in variables])
