"""Elements that are put into a tensor at places known before the run: `tm_tensor.scatter`, of torch-mlir."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from samhw.importers.core import Arguments, Hints, HostArray, UnsupportedError, Value, contract
from samhw.importers.mlir.held import Held
from samhw.importers.mlir.hosted import Hosted, of_run, unknown_places
from samhw.importers.mlir.idioms import number_of
from samhw.importers.mlir.interpreted_loops import check_places
from samhw.importers.mlir.operation import MlirOperation
from samhw.importers.mlir.reductions import reduction_of
from samhw.importers.mlir.tensor_operations import Frame
from samhw.importers.mlir.types import MlirType
from samhw.lang.expr import Access

__all__ = ["scatter"]

Array = npt.NDArray[np.float64]


def scatter(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    """What is there and, at its place, each row of the updates: added, or in the place of what was there."""
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
    matrix = _matrix(frame, places, [shape[dim] for dim in dims])
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


def _matrix(frame: Frame, places: Hosted, sizes: Sequence[int]) -> Value:
    """A one at the place of each row of the updates."""

    def ones(rows: Array) -> HostArray:
        own = rows.reshape(len(rows), len(sizes)).astype(np.int64)
        for size, column in zip(sizes, own.T, strict=True):
            check_places(column, size, "puts an element at")
        coords = np.array([*own.T, np.arange(len(own))])
        coords = coords[:, np.lexsort(coords[::-1])]
        return HostArray((*sizes, len(own)), np.ones(len(own), np.float32), coords)

    def fetch(arguments: Arguments) -> HostArray:
        return ones(places.fetch(arguments))

    hints = Hints(f"({', '.join(['dense'] * len(sizes) + ['compressed'])})")
    example, label = ones(places.example), f"put_{'_'.join(map(str, sizes))}"
    if places.constant:
        return frame.compute.build.constant(example, label, hints)
    return frame.compute.build.input(("put", object()), label, example, of_run(fetch), hints)


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

    if places.constant:
        return frame.compute.build.constant(kept(places.example), "left")
    fetch = of_run(lambda arguments: kept(places.fetch(arguments)))
    return frame.compute.build.input(("left", object()), "left", kept(places.example), fetch)
