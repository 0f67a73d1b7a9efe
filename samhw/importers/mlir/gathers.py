"""Elements that are taken from a tensor, or put into it, at places known before the run: by matrices that
have a one for each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.importers.core import NO_HINTS, Arguments, Hints, HostArray, UnsupportedError, Value, contract
from samhw.importers.mlir.compute import Compute
from samhw.importers.mlir.frame import Frame, Held, result_type
from samhw.importers.mlir.hosted import Hosted, Places, unknown_places
from samhw.importers.mlir.idioms import number_of
from samhw.importers.mlir.interpreted_loops import check_places
from samhw.importers.mlir.operation import MlirOperation
from samhw.importers.mlir.reduction_bodies import reduction_of
from samhw.lang.expr import Access, Literal

__all__ = ["gather", "gathered", "scatter"]

Array = npt.NDArray[np.float64]


def _of_places(
    compute: Compute,
    label: str,
    held: Hosted | Places,
    make: Callable[[Any], HostArray],
    kinds: Sequence[str] = (),
) -> Value:
    """What the host makes of places, as an input: for the data of each run, unless they are constant.

    Args:
        make: makes it of the arrays of `held`.
        kinds: the levels that store it; dense ones by default.
    """
    hints = Hints(f"({', '.join(kinds)})") if kinds else NO_HINTS
    example = make(held.example)
    if held.constant:
        return compute.build.constant(example, label, hints)

    def fetch(arguments: Arguments) -> HostArray:
        try:
            return make(held.fetch(arguments))
        except UnsupportedError as error:
            raise InputError(f"A run {error}") from None

    return compute.build.input((label, object()), label, example, fetch, hints)


def gathered(compute: Compute, source: Value, places: Places, loops: int) -> Value:
    """The elements of a value at some places, with a mode for each loop.

    Raises:
        UnsupportedError: for a place that the value does not have.
    """
    if isinstance(source.expr, Literal):
        return Value(((),) * loops, source.expr)
    shape = compute.build.shape(source)
    for array, size in zip(places.example, shape, strict=True):
        check_places(array, size)
    value = source
    modes: list[int | None] = list(range(len(shape)))  # The dimensions; negative numbers are loops.
    for dims, own in _groups(places.example):
        (first, *others) = dims
        steps = _progression(places.example[first]) if places.constant and not others else None
        if steps is not None and len(own) < 2:
            at = modes.index(first)
            value = compute.moves.slice_one(value, at, *steps)
            modes[at] = -1 - own[0] if own else None
            continue
        matrix = _matrix(compute, places, dims, own, shape)
        after = [m for m in modes if m not in dims] + [-1 - loop for loop in own]
        letters = {m: chr(ord("A") + n) for n, m in enumerate(dict.fromkeys([*modes, *after]))}
        taken = "".join(letters[m] for m in [*(-1 - loop for loop in own), *dims])
        has, gives = ("".join(letters[m] for m in row) for row in (modes, after))
        value = contract(compute.tensors, f"{taken},{has}->{gives}", matrix, value)
        modes = after
    rows: list[tuple[str, ...]] = [()] * loops
    for mode, indices in zip(modes, value.modes, strict=True):
        if mode is not None:
            rows[-1 - mode] = indices
    return replace(value, modes=tuple(rows))


def gather(frame: Frame, op: MlirOperation, place: int) -> Held:
    """`tensor.gather`: a slice of a tensor for each row of places."""
    source, rows = frame.first(op), frame.hosted.of(frame.operand(op, 1))
    dims, shape, kind = op.attributes.get("gather_dims"), frame.shape(source), result_type(op, place)
    if not isinstance(dims, list) or len(set(dims)) != len(dims):
        raise UnsupportedError("names no dimensions to gather along", "give it gather_dims([n])")
    if rows is None:
        raise unknown_places("takes slices at a place")
    batch = rows.example.shape[:-1]
    others = [dim for dim in range(len(shape)) if dim not in dims]
    loops = len(batch) + len(others)

    def arrays(held: Array) -> list[Array]:
        found = []
        for dim, size in enumerate(shape):
            axes = [1] * loops
            if dim in dims:
                axes[: len(batch)] = batch
                found.append(held[..., dims.index(dim)].reshape(axes))
            else:
                axes[len(batch) + others.index(dim)] = size
                found.append(np.arange(float(size)).reshape(axes))
        return found

    places = Places(arrays(rows.example), lambda run: arrays(rows.fetch(run)), rows.constant)
    value = gathered(frame.compute, source, places, loops)
    if len(kind.shape) == loops:
        return value
    own = iter(value.modes[len(batch) :])
    kept = [() if dim in dims else next(own) for dim in range(len(shape))]
    return replace(value, modes=(*value.modes[: len(batch)], *kept))


def _groups(arrays: Sequence[Array]) -> list[tuple[list[int], list[int]]]:
    """Dimensions whose places have loops in common, and these loops."""
    groups: list[tuple[list[int], list[int]]] = []
    for dim, array in enumerate(arrays):
        dims, own = [dim], {axis for axis, size in enumerate(array.shape) if size > 1}
        for group in [group for group in groups if own.intersection(group[1])]:
            groups.remove(group)
            dims, own = [*group[0], *dims], own.union(group[1])
        groups.append((dims, sorted(own)))
    return groups


def _progression(array: Array) -> tuple[int, int, int] | None:
    """The first place, how many there are, and the step between them; None where steps differ or go back."""
    row = array.reshape(-1).astype(np.int64)
    steps = np.diff(row)
    if len(row) == 1:
        return int(row[0]), 1, 1
    if steps[0] < 1 or (steps != steps[0]).any():
        return None
    return int(row[0]), len(row), int(steps[0])


def _matrix(
    compute: Compute, places: Places, dims: Sequence[int], own: Sequence[int], shape: Sequence[int]
) -> Value:
    """A one for each iteration, at its place in the dimensions."""
    sizes = [shape[dim] for dim in dims]
    extents = np.broadcast_shapes(*(places.example[dim].shape for dim in dims))
    counts = [extents[loop] for loop in own]

    def ones(arrays: Sequence[Array]) -> HostArray:
        for dim in dims:
            check_places(arrays[dim], shape[dim])
        held = [np.broadcast_to(arrays[dim], extents).reshape(counts) for dim in dims]
        grid = np.indices(counts).reshape(len(counts), prod(counts))
        coords = np.array([*grid, *(array.reshape(-1).astype(np.int64) for array in held)])
        return HostArray((*counts, *sizes), np.ones(coords.shape[1], np.float32), coords)

    label = f"places_{'_'.join(map(str, (*counts, *sizes)))}"
    return _of_places(compute, label, places, ones, ["dense"] * len(counts) + ["compressed"] * len(dims))


# Scatters


def scatter(frame: Frame, op: MlirOperation, place: int) -> Held:
    """`tm_tensor.scatter`, of torch-mlir: what is there and, at its place, each row of the updates, which is
    added or replaces what was there."""
    if len(op.inputs) != 2 or len(op.outputs) != 1 or op.body is None:
        raise UnsupportedError("takes other values than updates, places and a tensor", "mend it")
    updates, into = frame.value(op.inputs[0]), frame.value(op.outputs[0])
    places, dims = frame.hosted.of(op.inputs[1]), op.attributes.get("dimension_map")
    shape = frame.shape(into)
    if places is None:
        raise unknown_places("puts elements at a place")
    if not isinstance(dims, list) or len(set(dims)) != len(dims) or not set(dims) <= set(range(len(shape))):
        raise UnsupportedError("has no dimension_map", "give it")
    new, old = Access("%in0"), Access("%out0")
    yielded = frame.scalars({}).body(op.body, [new, old])
    found = None if yielded is None else reduction_of(yielded, old.tensor)
    adds = found is not None and found.kind == "sum" and found.term == new
    if not adds and yielded != new:
        raise UnsupportedError("puts together old and new in another way than their sum", "add them")
    rows = _rows(frame, updates, shape, dims)
    matrix = _put_matrix(frame, places, [shape[dim] for dim in dims])
    letters = [chr(ord("a") + dim) for dim in range(len(shape))]
    rest = "".join(letters[dim] for dim in range(len(shape)) if dim not in dims)
    taken = "".join(letters[dim] for dim in dims)
    put = contract(frame.compute.tensors, f"{taken}Z,Z{rest}->{''.join(letters)}", matrix, rows)
    if number_of(into.expr) == 0:
        return frame.moves.whole(put, shape)
    elementwise = frame.compute.operations.elementwise
    if adds:
        return elementwise(lambda a, b: a + b, into, put)
    left = _left(frame, places, shape, dims)
    return elementwise(lambda a, b, keep: a * keep + b, into, put, left)


def _rows(frame: Frame, updates: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
    """The updates, of which each has all of the dimensions that the places do not name."""
    have = frame.shape(updates)
    others = [size for dim, size in enumerate(shape) if dim not in dims]
    if len(have) == 1 + len(shape):
        kept = [1 + dim for dim in range(len(shape)) if dim not in dims]
        if all(have[1 + dim] == 1 for dim in dims):
            updates = Value((updates.modes[0], *(updates.modes[n] for n in kept)), updates.expr)
    if list(frame.shape(updates)[1:]) != others:
        raise UnsupportedError("puts windows into dimensions that its places name", "put rows")
    return updates


def _put_matrix(frame: Frame, places: Hosted, sizes: Sequence[int]) -> Value:
    """A one at the place of each row of the updates."""

    def ones(rows: Array) -> HostArray:
        own = rows.reshape(len(rows), len(sizes)).astype(np.int64)
        for size, column in zip(sizes, own.T, strict=True):
            check_places(column, size, "puts an element at")
        coords = np.array([*own.T, np.arange(len(own))])
        coords = coords[:, np.lexsort(coords[::-1])]
        return HostArray((*sizes, len(own)), np.ones(len(own), np.float32), coords)

    kinds = ["dense"] * len(sizes) + ["compressed"]
    return _of_places(frame.compute, f"put_{'_'.join(map(str, sizes))}", places, ones, kinds)


def _left(frame: Frame, places: Hosted, shape: Sequence[int], dims: Sequence[int]) -> Value:
    """One where nothing is put."""
    sizes = [size if dim in dims else 1 for dim, size in enumerate(shape)]

    def kept(rows: Array) -> HostArray:
        own = rows.reshape(len(rows), len(dims)).astype(np.int64)
        if len(np.unique(own, axis=0)) != len(own):
            raise UnsupportedError("puts several elements at one place", "name each place once, or add them")
        held = np.ones([shape[dim] for dim in dims], np.float32)
        held[tuple(own.T)] = 0
        order = np.argsort(dims)
        return HostArray.dense(held.transpose(order).reshape(sizes))

    return _of_places(frame.compute, "left", places, kept)
