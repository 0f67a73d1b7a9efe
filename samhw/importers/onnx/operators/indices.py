"""Index tensors, as matrices with a one for each index: the host makes them of indices that it knows, and
those that hardware computes are compared with all places."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from samhw.errors import InputError
from samhw.importers.core import Arguments, Hints, HostArray, UnsupportedError, Value, letters
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import Array, Held, NodeCall, Operand
from samhw.lang.functions import eq, select
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__ = ["hot"]


def hot(
    importer: NodeImporter, ids: Sequence[Operand], sizes: Sequence[int], *, beyond: bool = False
) -> Value:
    """For each place in index tensors of one shape, a one at the coordinates that they name together, which
    stand after the places.

    Args:
        beyond: what is out of range names nothing, instead of being an error.
    """
    if not all(isinstance(each, Held) for each in ids):
        return _compared(importer, ids, sizes)
    given = [each for each in ids if isinstance(each, Held)]

    def made(arrays: Sequence[Array]) -> HostArray:
        shape = arrays[0].shape
        named = [_checked(array.reshape(-1), size, beyond) for array, size in zip(arrays, sizes, strict=True)]
        count = prod(shape)
        rows = np.stack(np.unravel_index(np.arange(count), shape)) if shape else np.zeros((0, count), int)
        values: Array = np.all([inside for _, inside in named], axis=0).astype(np.float32)
        coords = np.concatenate([rows, np.stack([places for places, _ in named])])
        return HostArray((*shape, *sizes), values, coords)

    rank = given[0].array.ndim
    levels = ", ".join([*["dense"] * rank, *["singleton"] * len(sizes)])
    hints = Hints(f"({levels})" if rank else "csf" if len(sizes) > 1 else "dense")
    example, name = made([each.array for each in given]), f"{given[0].name}_hot"
    if all(each.fetch is None for each in given):
        return importer.build.constant(example, name, hints)

    def fetch(arguments: Arguments) -> HostArray:
        return made([each.of(arguments) for each in given])

    return importer.build.input(("hot", *given, *sizes), name, example, fetch, hints)


def _checked(ids: Array, size: int, beyond: bool) -> tuple[Array, Array]:
    """Places below a size, of indices that may count from the end; and which of them there are."""
    where = np.where(ids < 0, ids + size, ids).astype(np.int64)
    inside = (where >= 0) & (where < size)
    if not beyond and not inside.all():
        raise InputError(f"An index lies outside of 0 to {size - 1}; fix the indices.")
    return np.where(inside, where, 0), inside


def _compared(importer: NodeImporter, ids: Sequence[Operand], sizes: Sequence[int]) -> Value:
    """Comparisons with all places."""
    found = importer.named_places(
        [importer.value(index) for index in ids],
        sizes,
        lambda size: importer.value(Held(np.arange(size, dtype=np.float32), f"places_{size}")),
    )
    return replace(importer.materialized(found), condition=True)


def _contract(importer: NodeImporter, equation: str, ones: Value, x: Value, reduction: str = "sum") -> Value:
    by_first = ones.condition or reduction != "sum"
    return importer.contract(equation, ones, x, reduction=reduction, by_first=by_first)


@operator("Gather", hosted=True)
def import_gather(importer: NodeImporter, call: NodeCall, x: Operand, ids: Operand) -> Value:
    held = importer.value(x)
    rank, axis = len(held.modes), call.get("axis", 0) % len(held.modes)
    size = importer.build.shape(held)[axis]
    if isinstance(ids, Held) and ids.fetch is None and ids.array.ndim < 2:
        places = _checked(ids.array.reshape(-1), size, False)[0]
        made = _in_line(importer, held, axis, [int(place) for place in places])
        return made if ids.array.ndim else replace(made, modes=(*made.modes[:axis], *made.modes[axis + 1 :]))
    ones = hot(importer, [ids], [size])
    own, places_of = letters(rank), letters(len(ones.modes) - 1, "A")
    return _contract(
        importer, f"{places_of}{own[axis]},{own}->{own[:axis]}{places_of}{own[axis + 1 :]}", ones, held
    )


def _in_line(importer: NodeImporter, x: Value, dim: int, places: Sequence[int]) -> Value:
    """Elements at places that are known: a slice if they are evenly spaced."""
    steps = set(np.diff(places))
    if len(places) == 1 or (len(steps) == 1 and min(steps) > 0):
        step = int(steps.pop()) if steps else 1
        return importer.views.slice(x, dim, places[0], len(places), step)
    return importer.views.index_select(x, dim, places)


@operator("GatherElements", hosted=True)
def import_gather_elements(importer: NodeImporter, call: NodeCall, x: Operand, ids: Operand) -> Value:
    held = importer.value(x)
    shape, want = importer.build.shape(held), importer.shape(ids)
    axis = call.get("axis", 0) % len(shape)
    for dim, size in enumerate(want):
        if dim != axis and size != shape[dim]:
            held = importer.views.slice(held, dim, 0, size)
    ones = hot(importer, [ids], [shape[axis]])
    own = letters(len(shape))
    places = own[:axis] + "Z" + own[axis + 1 :]
    return _contract(importer, f"{places}{own[axis]},{own}->{places}", ones, held)


def _columns(importer: NodeImporter, ids: Operand) -> list[Operand]:
    """The last mode of an index tensor, taken apart."""
    count = importer.shape(ids)[-1]
    if isinstance(ids, Held):
        return [_column(ids, n) for n in range(count)]
    found: list[Operand] = []
    for n in range(count):
        part = importer.views.slice(importer.value(ids), len(ids.modes) - 1, n, 1)
        found.append(replace(part, modes=part.modes[:-1]))
    return found


def _column(ids: Held, n: int) -> Held:
    fetch = ids.fetch
    given = None if fetch is None else (lambda arguments: fetch(arguments)[..., n])
    return Held(ids.array[..., n], ids.name, given, ids.sources)


@operator("GatherND", hosted=True)
def import_gather_nd(importer: NodeImporter, call: NodeCall, x: Operand, ids: Operand) -> Value:
    held, batch = importer.value(x), call.get("batch_dims", 0)
    shape, columns = importer.build.shape(held), _columns(importer, ids)
    ones = hot(importer, columns, shape[batch : batch + len(columns)])
    own, rank = letters(len(shape)), len(ones.modes) - len(columns)
    places = own[:batch] + letters(rank - batch, "A")
    named = own[batch : batch + len(columns)]
    return _contract(importer, f"{places}{named},{own}->{places}{own[batch + len(columns) :]}", ones, held)


# Writes


_REDUCTIONS = {"none": "sum", "add": "sum", "max": "max", "min": "min"}


def _written(
    importer: NodeImporter,
    x: Value,
    ones: Value,
    updates: Value,
    equation: tuple[str, str, str],
    reduction: str,
) -> Value:
    """What is written to places of a tensor, and its own elements elsewhere.

    Args:
        equation: the letters of the ones, of the updates, and of the result.
    """
    if reduction not in _REDUCTIONS:
        raise UnsupportedError(f"multiplies by what is written ('{reduction}')", "gather, multiply and write")
    spots, given, out = equation
    made = importer.materialized(
        _contract(
            importer,
            f"{spots},{given}->{out}",
            ones,
            importer.tensors.expanded(updates),
            _REDUCTIONS[reduction],
        )
    )
    if reduction == "add":
        return importer.elementwise(lambda a, b: a + b, x, made)
    every = importer.tensors.expanded(
        importer.value(Held(np.ones(importer.build.shape(updates), np.float32), "ones"))
    )
    counts = importer.materialized(importer.contract(f"{spots},{given}->{out}", ones, every))
    if reduction == "none":
        return importer.elementwise(lambda n, old, new: select(eq(n, 0), old, new), counts, x, made)
    held = importer.materialized(x)
    better = max_ if reduction == "max" else min_
    return importer.elementwise(
        lambda n, old, new: select(eq(n, 0), old, better(old, new)), counts, held, made
    )


def _check_once(ids: Sequence[Held], rows: Sequence[Array], sizes: Sequence[int]) -> None:
    """Raises for constants of which two name one place, of which none is the last."""
    named = [_checked(each.array.reshape(-1), size, True)[0] for each, size in zip(ids, sizes, strict=True)]
    every = np.stack([*(row.reshape(-1) for row in rows), *named])
    if np.unique(every, axis=1).shape[1] != every.shape[1]:
        raise UnsupportedError("writes to one place several times", "add what is written (reduction='add')")


@operator("ScatterElements", "Scatter")
def import_scatter_elements(
    importer: NodeImporter, call: NodeCall, x: Operand, ids: Operand, updates: Operand
) -> Value:
    held = importer.value(x)
    shape, want = importer.build.shape(held), importer.shape(ids)
    axis, reduction = call.get("axis", 0) % len(shape), call.get("reduction", "none")
    if reduction == "none":
        given = Held(importer.decided(ids, "places"), "places")
        rows = [n for dim, n in enumerate(np.indices(want)) if dim != axis]
        _check_once([given], rows, [shape[axis]])
        ids = given
    given_updates = importer.value(updates)
    own = letters(len(shape))
    for dim, size in enumerate(want):
        if dim != axis and size != shape[dim]:
            given_updates = importer.views.placed(given_updates, dim, 0, shape[dim])
            ids = _beyond(importer, ids, dim, shape[dim])
    ones = hot(importer, [ids], [shape[axis]], beyond=True)
    places = own[:axis] + "Z" + own[axis + 1 :]
    return _written(importer, held, ones, given_updates, (f"{places}{own[axis]}", places, own), reduction)


def _beyond(importer: NodeImporter, ids: Operand, dim: int, size: int) -> Held:
    """An index tensor with more places, which name nothing."""
    array = importer.decided(ids, "places").astype(np.int64)
    widths = [(0, size - array.shape[n]) if n == dim else (0, 0) for n in range(array.ndim)]
    return Held(np.pad(array, widths, constant_values=-(1 << 40)), "places")


@operator("ScatterND")
def import_scatter_nd(
    importer: NodeImporter, call: NodeCall, x: Operand, ids: Operand, updates: Operand
) -> Value:
    held, reduction = importer.value(x), call.get("reduction", "none")
    shape = importer.build.shape(held)
    if reduction == "none":
        ids = Held(importer.decided(ids, "places"), "places")
    columns = _columns(importer, ids)
    count = len(columns)
    known = [each for each in columns if isinstance(each, Held)]
    if reduction == "none":
        _check_once(known, [], shape[:count])
    ones = hot(importer, columns, shape[:count])
    own, places = letters(len(shape)), letters(len(ones.modes) - count, "A")
    return _written(
        importer,
        held,
        ones,
        importer.value(updates),
        (f"{places}{own[:count]}", places + own[count:], own),
        reduction,
    )


@operator("OneHot")
def import_one_hot(
    importer: NodeImporter, call: NodeCall, ids: Operand, depth: Operand, values: Operand
) -> Value:
    (size,) = importer.ints(depth)
    if isinstance(ids, Held):
        held = ids
        fetch = held.fetch
        ids = Held(
            held.array.astype(np.int64),
            held.name,
            None if fetch is None else (lambda arguments: fetch(arguments).astype(np.int64)),
            held.sources,
        )
    ones = hot(importer, [ids], [size], beyond=True)
    rank = len(ones.modes)
    axis = call.get("axis", -1) % rank
    modes = [*ones.modes[:-1]]
    modes.insert(axis, ones.modes[-1])
    off, on = (replace(importer.views.slice(importer.value(values), 0, n, 1), modes=()) for n in (0, 1))
    placed = importer.materialized(replace(ones, modes=tuple(modes)))
    return importer.elementwise(lambda o, a, b: select(eq(o, 0), a, b), placed, off, on)


@operator("Compress")
def import_compress(importer: NodeImporter, call: NodeCall, x: Operand, condition: Operand) -> Operand:
    """By a condition that is known."""
    if not isinstance(condition, Held):
        return refuse_shapes(importer, call)
    (places,) = np.nonzero(importer.decided(condition, "a condition"))
    held, axis = importer.value(x), call.get("axis")
    if axis is None:
        held, axis = importer.views.view(held, [-1]), 0
    axis %= len(held.modes)
    if not len(places):
        shape = importer.build.shape(held)
        return importer.empty([*shape[:axis], 0, *shape[axis + 1 :]], x)
    return _in_line(importer, held, axis, [int(place) for place in places])


@operator("NonZero", "Unique", "NonMaxSuppression")
def refuse_shapes(importer: NodeImporter, call: NodeCall, *_: Operand | None) -> Value:
    raise UnsupportedError("gives a shape that depends on data", "do this after the run")
