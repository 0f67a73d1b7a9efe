"""Places that are computed with, as in ``xs[2 * i + 1]``, where they are affine in the steps of loops."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from samhw.lang.nested.dataflow import Buffer, Constants, ElementRead, Equation, ListView, Positions
from samhw.lang.nested.indices import Affine, constant

__all__ = ["affine_place"]


def affine_place(buffers: Mapping[str, Buffer], read: ElementRead) -> Affine | None:
    """The index that a whole number is, where sums, differences and multiples of positions make it, as in
    ``xs[2 * i + 1]``; None for any other element."""
    buffer = buffers[read.buffer]
    indices = [i if isinstance(i, Affine) else affine_place(buffers, i) for i in read.indices]
    values = {dim.name: index for dim, index in zip(buffer.dims, indices, strict=True) if index is not None}
    if len(values) < len(indices):
        return None
    match buffer:
        case Positions(dims=(dim,)):
            return values[dim.name]
        case Constants(dims=dims, shape=(), value=value):
            return _constant(value, [values[dim.name] for dim in dims])
        case ListView(source=source):
            return affine_place(buffers, source.substituted(values))
        case Equation(operation=operation, arguments=arguments):
            return _combined(
                operation.name, [affine_place(buffers, a.substituted(values)) for a in arguments]
            )
    return None


def _combined(name: str, parts: Sequence[Affine | None]) -> Affine | None:
    match name, parts:
        case "negative", [Affine() as one]:
            return one * -1
        case "add", [Affine() as one, Affine() as other]:
            return one + other
        case "subtract", [Affine() as one, Affine() as other]:
            return one - other
        case "multiply", [Affine() as one, Affine() as other] if not other.terms:
            return one * other.offset
        case "multiply", [Affine() as one, Affine() as other] if not one.terms:
            return other * one.offset
    return None


def _constant(value: npt.NDArray[np.generic], indices: Sequence[Affine]) -> Affine | None:
    """A whole number, or the one that a list of them has at a known place."""
    place = tuple(index.offset for index in indices)
    inside = all(0 <= at < extent for at, extent in zip(place, value.shape, strict=True))
    if not inside or any(index.terms for index in indices):
        return None
    found = float(value[place])
    return constant(int(found)) if found.is_integer() else None
