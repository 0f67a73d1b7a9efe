"""The operations of tensor, and their like of sparse_tensor, which give extents or move elements."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from samhw.importers.core import HostArray, UnsupportedError, Value
from samhw.importers.mlir.encodings import check_encoding
from samhw.importers.mlir.frame import Frame, Held, Make, Unset, result_type
from samhw.importers.mlir.idioms import number_of
from samhw.importers.mlir.operation import MlirOperation
from samhw.importers.mlir.types import TensorType
from samhw.importers.mlir.whole_numbers import is_float
from samhw.lang.expr import Access, Literal

__all__ = ["TENSOR_OPERATIONS"]


def _extent(frame: Frame, op: MlirOperation, sizes: Sequence[int], what: str) -> Held:
    """One of some extents, whose number the second operand says."""
    number = frame.number(frame.operand(op, 1))
    if not 0 <= number < len(sizes):
        raise UnsupportedError(f"asks for the {what} {number} of {len(sizes)}", "mend its number")
    return Value((), Literal(sizes[number]))


def _dim(frame: Frame, op: MlirOperation, place: int) -> Held:
    return _extent(frame, op, frame.shape(frame.held(frame.operand(op, 0))), "dimension")


def _level(frame: Frame, op: MlirOperation, place: int) -> Held:
    """The extent of a level of a tensor's storage."""
    name = frame.operand(op, 0)
    shape, kind = frame.shape(frame.held(name)), frame.kinds.get(name)
    encoding = kind.encoding if isinstance(kind, TensorType) else None
    check_encoding(encoding)
    sizes = list(shape)
    if encoding is not None and all(len(level.dimension.factors) == 1 for level in encoding.levels):
        sizes = [level.size(shape) for level in encoding.levels]
    return _extent(frame, op, sizes, "level")


def _rank(frame: Frame, op: MlirOperation, place: int) -> Held:
    return Value((), Literal(len(frame.shape(frame.held(frame.operand(op, 0))))))


def _reshape(frame: Frame, op: MlirOperation, place: int) -> Held:
    held = frame.held(frame.operand(op, 0))
    shape = _new_shape(op, result_type(op, place).shape, frame.shape(held))
    return Unset(shape, held.zero) if isinstance(held, Unset) else frame.moves.reshaped(held, shape)


def _new_shape(op: MlirOperation, shape: tuple[int | None, ...], have: tuple[int, ...]) -> tuple[int, ...]:
    """That of expand_shape, collapse_shape or reshape, where the type leaves it open too."""
    groups = op.attributes.get("reassociation", [])
    if op.name == "tensor.reshape" or not all(isinstance(group, list) for group in groups):
        return _filled_in(shape, have)
    expands = op.name == "tensor.expand_shape"
    finer, coarser = (shape, have) if expands else (have, shape)
    if [d for group in groups for d in group] != list(range(len(finer))) or len(groups) != len(coarser):
        raise UnsupportedError("groups other dimensions than there are", "mend its groups")
    if not expands:
        return tuple(prod(have[d] for d in group) for group in groups)
    parts = (_filled_in([shape[d] for d in group], (size,)) for size, group in zip(have, groups, strict=True))
    return tuple(size for part in parts for size in part)


def _filled_in(shape: Sequence[int | None], have: Sequence[int]) -> tuple[int, ...]:
    """A shape, of which one extent may be open, for as many elements."""
    if sum(size is None for size in shape) > 1:
        raise UnsupportedError("has several open extents", "give them")
    known = prod(size for size in shape if size is not None)
    return tuple(prod(have) // max(known, 1) if size is None else size for size in shape)


def _concatenated(frame: Frame, op: MlirOperation, place: int) -> Held:
    dim, values = op.attributes.get("dimension"), [frame.value(name) for name in op.operands]
    if not isinstance(dim, int) or not values or not 0 <= dim < len(values[0].modes):
        raise UnsupportedError("names no dimension to concatenate along", "give it dim(n)")
    shapes = [frame.shape(value) for value in values]
    if len({(*shape[:dim], *shape[dim + 1 :]) for shape in shapes}) > 1:
        raise UnsupportedError("concatenates tensors of other shapes", "mend their types")
    return values[0] if len(values) == 1 else frame.compute.tensors.concatenated(values, dim)


def _slice_rows(frame: Frame, op: MlirOperation, rank: int) -> list[list[int]]:
    """Offsets, sizes and strides."""
    rows = [frame.numbers(op.attributes.get(key, [])) for key in ("offsets", "sizes", "strides")]
    if any(len(row) != rank for row in rows):
        raise UnsupportedError("has not an offset, a size and a stride for each dimension", "give them")
    return rows


def _extract_slice(frame: Frame, op: MlirOperation, place: int) -> Held:
    held, kind = frame.held(frame.operand(op, 0)), result_type(op, place)
    offsets, sizes, strides = _slice_rows(frame, op, len(frame.shape(held)))
    if isinstance(held, Unset):
        return Unset(tuple(sizes), held.zero)
    if min(strides, default=1) < 1:
        raise UnsupportedError("goes backwards", "reverse the data before the run")
    found = frame.moves.slice(held, offsets, sizes, strides)
    shape = frame.shape(found)
    if len(kind.shape) == len(shape):
        return found
    left = iter(size for size in shape if size > 1)
    return frame.moves.dropped(found, [next(left, 1) if size is None else size for size in kind.shape])


def _insert_slice(frame: Frame, op: MlirOperation, place: int) -> Held:
    into, value = frame.value(frame.operand(op, 1)), frame.first(op)
    offsets, sizes, strides = _slice_rows(frame, op, len(into.modes))
    if len(value.modes) != len(sizes):
        value = frame.moves.dropped(value, sizes)
    if frame.shape(value) != tuple(sizes):
        raise UnsupportedError("inserts another shape than it says", "mend its sizes")
    return frame.moves.inserted(value, into, offsets, strides)


def _pad(frame: Frame, op: MlirOperation, place: int) -> Held:
    value = frame.first(op)
    low, high = (frame.numbers(op.attributes.get(word, [])) for word in ("low", "high"))
    rank = len(value.modes)
    if op.body is None or len(op.body.yields) != 1 or len(low) != rank or len(high) != rank:
        raise UnsupportedError("does not say how much of what it pads with", "give low, high and a number")
    made = frame.scalars({}).body(op.body, [Access("%place")] * len(op.body.arguments))
    number = None if made is None else number_of(made)
    if number is None:
        raise UnsupportedError("pads with what is no constant", "pad with a number")
    return frame.moves.padded(value, low, high, number)


def _fixed_shape(kind: TensorType, what: str, way_out: str) -> tuple[int, ...]:
    if None in kind.shape:
        raise UnsupportedError(what, way_out)
    return tuple(size or 0 for size in kind.shape)


def _splat(frame: Frame, op: MlirOperation, place: int) -> Held:
    shape = _fixed_shape(result_type(op, place), "has an open extent", "give it")
    value = frame.first(op)
    number = number_of(value.expr)
    return (
        frame.compute.views.expand(value, shape) if number is None else frame.compute.uniform(number, shape)
    )


def _from_elements(frame: Frame, op: MlirOperation, place: int) -> Held:
    kind, numbers = result_type(op, place), [number_of(frame.value(name).expr) for name in op.operands]
    shape = _fixed_shape(kind, "gives no tensor of a fixed shape", "mend its type")
    if len(numbers) == 1 and shape.count(1) == len(shape):
        return replace(frame.first(op), modes=((),) * len(shape))
    if None in numbers or len(numbers) != prod(shape):
        raise UnsupportedError("is made of elements that are no constants", "give a constant")
    kept = np.float32 if is_float(kind.element) else np.float64
    held = HostArray.dense(np.array(numbers, kept).reshape(shape))
    return frame.compute.build.constant(held, op.results[0][1:])


def _extract(frame: Frame, op: MlirOperation, place: int) -> Held:
    value, row = frame.first(op), frame.numbers(op.attributes["places"])
    if len(row) != len(value.modes):
        raise UnsupportedError("has not a place in each dimension", "give one")
    if number_of(value.expr) is not None:
        return replace(value, modes=())
    return replace(frame.moves.slice(value, row, [1] * len(row), [1] * len(row)), modes=())


TENSOR_OPERATIONS: Mapping[str, Make] = {
    "tensor.dim": _dim,
    "tensor.rank": _rank,
    "sparse_tensor.lvl": _level,
    **dict.fromkeys(("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"), _reshape),
    **dict.fromkeys(("tensor.concat", "sparse_tensor.concatenate"), _concatenated),
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.splat": _splat,
    "tensor.from_elements": _from_elements,
    "tensor.extract": _extract,
}
"""By name, what makes the result of an operation in a frame."""
