"""What is put to some places of a tensor: along indices, a slice, or everywhere."""

from collections.abc import Sequence
from dataclasses import replace

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.placement import AtIndices, AtSlice, along, at, followed_by, put
from samhw.importers.torch.registry import operator
from samhw.lang.functions import select

__all__: list[str] = []


@operator("copy", masked=True)
def import_copy(importer: Importer, x: Operand, source: Operand, *_: object) -> Value:
    return importer.views.expand(importer.value(source), importer.shape(x))


# Along index tensors


@operator("index_put", "_unsafe_index_put")
def import_index_put(
    importer: Importer,
    x: Operand,
    indices: Sequence[Operand | None],
    source: Operand,
    accumulate: bool = False,
) -> Value:
    if any(0 in importer.shape(each) for each in (source, *(i for i in indices if i is not None))):
        return importer.value(x)
    places = AtIndices(importer, importer.shape(x), indices)
    given = [index for index in indices if index is not None]
    if any(importer.masks.is_condition(index) for index in given):
        if len(given) == 1 and importer.shape(source) in ([], [1]) and not accumulate:
            (condition,) = given
            behind = len(importer.shape(x)) - places.dims[0] - len(importer.shape(condition))
            spread = followed_by(importer.value(condition), behind)
            return importer.elementwise(select, spread, source, x)
        raise UnsupportedError("puts several elements by a condition", "use torch.where")
    return put(importer, x, places, source, "sum" if accumulate else "last")


@operator("index_copy", "index_fill")
def import_index_copy(importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand) -> Value:
    """A slice of the source for each index, or a number."""
    if 0 in importer.shape(ids):
        return importer.value(x)
    return put(importer, x, at(importer, x, dim, ids), source, "last")


@operator("index_add")
def import_index_add(
    importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand, *, alpha: float = 1
) -> Value:
    if 0 in importer.shape(source):
        return importer.value(x)
    scaled = source if alpha == 1 else importer.elementwise(lambda e: e * alpha, source)
    return put(importer, x, at(importer, x, dim, ids), scaled, "sum")


@operator("index_reduce")
def import_index_reduce(
    importer: Importer,
    x: Operand,
    dim: int,
    ids: Operand,
    source: Operand,
    reduce: str,
    *,
    include_self: bool = True,
) -> Value:
    if 0 in importer.shape(source):
        return importer.value(x)
    return put(importer, x, at(importer, x, dim, ids), source, reduce, include_self=include_self)


@operator("scatter")
def import_scatter(importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand) -> Value:
    """A number, or elements of a tensor, to a place each."""
    return import_scatter_reduce(importer, x, dim, ids, source, "last")


@operator("scatter_add")
def import_scatter_add(importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand) -> Value:
    return import_scatter_reduce(importer, x, dim, ids, source, "sum")


@operator("scatter_reduce")
def import_scatter_reduce(
    importer: Importer,
    x: Operand,
    dim: int,
    ids: Operand,
    source: Operand,
    reduce: str,
    *,
    include_self: bool = True,
) -> Value:
    part = importer.shape(ids)
    if 0 in part:
        return importer.value(x)
    if importer.shape(source):
        # As much of it as there are indices.
        for d, size in enumerate(part):
            source = importer.views.slice(importer.value(source), d, 0, size)
    return put(importer, x, along(importer, x, dim, ids), source, reduce, include_self=include_self)


# Along slices


@operator("slice_scatter", masked=True)
def import_slice_scatter(
    importer: Importer,
    x: Operand,
    source: Operand,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    size = importer.shape(x)[dim]
    return _in_slice(importer, x, source, dim, range(*slice(start, end, step).indices(size)))


@operator("select_scatter", masked=True)
def import_select_scatter(importer: Importer, x: Operand, source: Operand, dim: int, place: int) -> Value:
    rank = len(importer.shape(x))
    held = importer.value(source)
    modes = list(held.modes)
    modes.insert(dim % rank, ())
    place %= importer.shape(x)[dim]
    return _in_slice(importer, x, replace(held, modes=tuple(modes)), dim, range(place, place + 1))


def _in_slice(importer: Importer, x: Operand, source: Operand, dim: int, places: range) -> Value:
    """With other elements in a slice of a dimension."""
    shape = importer.shape(x)
    if not places:
        return importer.value(x)
    if any(isinstance(each, Value) and each.mask is not None for each in (x, source)):
        (x, around), (source, inside) = importer.masks.apart(x), importer.masks.apart(source)
        shown = replace(_in_slice(importer, around, inside, dim, places), condition=True)
        return importer.masks.masked(_in_slice(importer, x, source, dim, places), shown)
    if len(places) == shape[dim]:
        return importer.value(source)
    return put(importer, x, AtSlice(importer, shape, dim % len(shape), places), source, "last")
