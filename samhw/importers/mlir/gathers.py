"""Elements of a tensor at places that are known before the run, by matrices that have a one for each."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
import numpy.typing as npt

from samhw.importers.core import Arguments, Hints, HostArray, UnsupportedError, Value, contract
from samhw.importers.mlir.compute import Compute
from samhw.importers.mlir.held import Held
from samhw.importers.mlir.hosted import Places, of_run, unknown_places
from samhw.importers.mlir.interpreted_loops import check_places
from samhw.importers.mlir.operation import MlirOperation
from samhw.importers.mlir.tensor_operations import Frame
from samhw.importers.mlir.types import MlirType, TensorType
from samhw.lang.expr import Literal

__all__ = ["gather", "gathered"]

Array = npt.NDArray[np.float64]


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
            value = compute.slice(value, at, *steps)
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


def gather(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    """`tensor.gather`: a slice of a tensor for each row of places."""
    source = frame.value(op.operands[0])
    rows = frame.hosted.of(str(op.lists[0][0]) if op.lists else op.operands[1])
    dims, shape = op.attributes.get("gather_dims"), frame.shape(source)
    if not isinstance(dims, list) or not isinstance(kind, TensorType) or len(set(dims)) != len(dims):
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
        held = [np.broadcast_to(arrays[dim], extents).reshape(counts) for dim in dims]
        grid = np.indices(counts).reshape(len(counts), prod(counts))
        coords = np.array([*grid, *(array.reshape(-1).astype(np.int64) for array in held)])
        return HostArray((*counts, *sizes), np.ones(coords.shape[1], np.float32), coords)

    def fetch(arguments: Arguments) -> HostArray:
        arrays = places.fetch(arguments)
        for dim in dims:
            check_places(arrays[dim], shape[dim])
        return ones(arrays)

    kinds = ["dense" if n < len(counts) else "compressed" for n in range(len(counts) + len(dims))]
    hints = Hints(f"({', '.join(kinds)})")
    example = ones(places.example)
    label = f"places_{'_'.join(map(str, (*counts, *sizes)))}"
    if places.constant:
        return compute.build.constant(example, label, hints)
    return compute.build.input(("places", object()), label, example, of_run(fetch), hints)
