"""What takes the place of some elements: along indices, a slice, or everywhere."""

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F

from samhw.frontend.functions import eq, select
from samhw.importers.core import Hints, UnsupportedError, Value, contract
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.gather import letters
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Known

__all__: list[str] = []


@operator("copy", "copy_", masked=True)
def import_copy(importer: Importer, x: Operand, source: Operand, *_: object) -> Value:
    return importer.views.expand(importer.value(source), importer.shape(x))


@operator("index_put", "index_put_", "_unsafe_index_put")
def import_index_put(
    importer: Importer,
    x: Operand,
    indices: Sequence[Operand | None],
    source: Operand,
    accumulate: bool = False,
) -> Value:
    shape = importer.shape(x)
    if any(0 in importer.shape(each) for each in (source, *(i for i in indices if i is not None))):
        return importer.value(x)
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    given = [index for index in indices if index is not None]
    if any(importer.masks.is_condition(index) for index in given):
        if len(given) == 1 and importer.shape(source) in ([], [1]) and not accumulate:
            (condition,) = given
            rank = len(importer.shape(condition))
            spread = _followed_by(importer.value(condition), len(shape) - dims[0] - rank)
            return importer.elementwise(select, spread, source, x)
        raise UnsupportedError("puts several elements by a condition", "use torch.where")
    sizes = [shape[dim] for dim in dims]
    matrix = importer.indices.one_hot_of(given, sizes, once=not accumulate)
    places = len(matrix.modes) - len(sizes)
    own, inside = letters(len(shape), "a"), letters(places, "A")
    # The places of dimensions that are apart stand in front.
    front = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    rest = [dim for dim in range(len(shape)) if dim not in dims]
    order = [*rest[:front], None, *rest[front:]]
    goal = "".join(inside if dim is None else own[dim] for dim in order)
    reached = importer.build.shape(matrix)[:places]
    target = [size for dim in order for size in (reached if dim is None else (shape[dim],))]
    spread = importer.views.expand(importer.value(source), target)
    named = "".join(own[dim] for dim in dims)
    made = contract(importer.tensors, f"{inside}{named},{goal}->{own}", matrix, spread)
    if accumulate:
        return importer.add(made, x)
    counts = importer.indices.counts_of(given, sizes)
    modes = dict(zip(dims, counts.modes, strict=True))
    return _put(importer, x, made, replace(counts, modes=tuple(modes.get(d, ()) for d in range(len(shape)))))


@operator("index_copy", "index_copy_")
def import_index_copy(importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand) -> Value:
    before: list[Operand | None] = [None] * (dim % len(importer.shape(x)))
    return import_index_put(importer, x, [*before, ids], source)


@operator("index_fill", "index_fill_")
def import_index_fill(importer: Importer, x: Operand, dim: int, ids: Operand, number: Operand) -> Value:
    if 0 in importer.shape(ids):
        return importer.value(x)
    dim %= len(importer.shape(x))
    counts = importer.indices.counts_of([ids], [importer.shape(x)[dim]])
    return _put(importer, x, number, _followed_by(counts, len(importer.shape(x)) - dim - 1))


@operator("scatter", "scatter_")
def import_scatter(importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand) -> Value:
    """A number, or elements of a tensor, to a place each; of several for one the last."""
    shape, part = importer.shape(x), importer.shape(ids)
    if 0 in part:
        return importer.value(x)
    dim %= len(shape)
    padding = [n for d in reversed(range(len(shape))) for n in (0, 0 if d == dim else shape[d] - part[d])]

    def grown(made: Value) -> Value:
        found = importer.call("constant_pad_nd", made, padding) if any(padding) else made
        assert isinstance(found, Value)
        return found

    counts = grown(importer.indices.counts(ids, dim, shape[dim]))
    if not importer.shape(source):
        return _put(importer, x, source, counts)
    held = importer.value(source)
    for d, size in enumerate(part):
        held = importer.views.slice(held, d, 0, size)
    own = letters(len(shape), "a")
    out = own[:dim] + "Z" + own[dim + 1 :]
    matrix = importer.indices.placing(ids, dim, shape[dim], once=True)
    return _put(
        importer, x, grown(contract(importer.tensors, f"{out}{own[dim]},{own}->{out}", matrix, held)), counts
    )


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
    places = range(*slice(start, end, step).indices(size))
    return _at_places(importer, x, source, dim, places)


@operator("select_scatter", masked=True)
def import_select_scatter(importer: Importer, x: Operand, source: Operand, dim: int, place: int) -> Value:
    rank = len(importer.shape(x))
    held = importer.value(source)
    modes = list(held.modes)
    modes.insert(dim % rank, ())
    place %= importer.shape(x)[dim]
    return _at_places(importer, x, replace(held, modes=tuple(modes)), dim, range(place, place + 1))


def _at_places(importer: Importer, x: Operand, source: Operand, dim: int, places: range) -> Value:
    """With other elements at known places along a dimension."""
    if any(isinstance(each, Value) and each.mask is not None for each in (x, source)):
        (x, around), (source, inside) = importer.masks.apart(x), importer.masks.apart(source)
        shown = replace(_at_places(importer, around, inside, dim, places), condition=True)
        return importer.masks.masked(_at_places(importer, x, source, dim, places), shown)
    size, rank = importer.shape(x)[dim], len(importer.shape(x))
    if not places:
        return importer.value(x)
    if len(places) == size:
        return importer.value(source)
    if places.step == 1:
        before, behind = places.start, size - places.stop
        padding = [0] * (2 * (rank - 1 - dim % rank)) + [before, behind]
        made = importer.call("constant_pad_nd", source, padding)
        assert isinstance(made, Value)
    else:
        held = F.one_hot(torch.tensor(places), size).T.float().contiguous()
        made = importer.views.product_along(
            importer.value(source), dim, importer.constant(held, "places", Hints("csr"))
        )
    named = torch.zeros(size)
    named[list(places)] = 1
    return _put(
        importer, x, made, _followed_by(importer.value(Known(named, "places")), rank - 1 - dim % rank)
    )


def _put(importer: Importer, x: Operand, made: Operand, counts: Value) -> Value:
    """What was made where anything goes, and what stands there elsewhere."""
    if isinstance(x, Known) and x.held is None and not x.dense().any() and isinstance(made, Value):
        return made
    return importer.elementwise(lambda n, old, new: select(eq(n, 0), old, new), counts, x, made)


def _followed_by(x: Value, count: int) -> Value:
    """With dimensions of extent 1 behind it."""
    return replace(x, modes=(*x.modes, *[()] * count))
