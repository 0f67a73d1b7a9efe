"""The operations of tensor, and their like of sparse_tensor, which give extents or move elements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from samhw.importers.core import HostArray, UnsupportedError, Value
from samhw.importers.mlir.attributes import is_float
from samhw.importers.mlir.compute import Compute
from samhw.importers.mlir.encodings import check_encoding
from samhw.importers.mlir.held import Held, Unset
from samhw.importers.mlir.hosted import HostedValues
from samhw.importers.mlir.idioms import number_of
from samhw.importers.mlir.moves import Moves
from samhw.importers.mlir.operation import MlirOperation
from samhw.importers.mlir.scalars import Scalars
from samhw.importers.mlir.types import MlirType, TensorType
from samhw.lang.expr import Access, Literal

__all__ = ["TENSOR_OPERATIONS", "Frame"]

_DYNAMIC = -(1 << 63)
"""What an array of numbers has where an operand gives one."""


class Frame(Protocol):
    """The values of one call of a function, as an operation asks for them.

    Attributes:
        kinds: the types that the text gives.
        hosted: what is known before the run.
    """

    kinds: dict[str, MlirType]
    hosted: HostedValues
    compute: Compute
    moves: Moves

    def held(self, name: str) -> Held:
        """What a name stands for."""

    def value(self, name: str) -> Value:
        """A tensor or a number that is set."""

    def operand(self, op: MlirOperation, place: int) -> str:
        """The name of an operand; those of `ins` come before those of `outs`."""

    def shape(self, held: Held) -> tuple[int, ...]:
        """The extents."""

    def number(self, name: str) -> int:
        """A whole number that is known before the run, such as an extent."""

    def numbers(self, row: Sequence[Any]) -> list[int]:
        """Numbers, some of them by name."""

    def scalars(self, outer: dict[str, Value]) -> Scalars:
        """For a body; what it has from outside joins `outer`."""


def dim(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    shape = frame.shape(frame.held(frame.operand(op, 0)))
    number = frame.number(op.operands[1]) if len(op.operands) > 1 else -1
    if not 0 <= number < len(shape):
        raise UnsupportedError(f"asks for the dimension {number} of {len(shape)}", "mend its number")
    return Value((), Literal(shape[number]))


def level(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    """The extent of a level of a tensor's storage."""
    name = frame.operand(op, 0)
    shape, type_of = frame.shape(frame.held(name)), frame.kinds.get(name)
    encoding = type_of.encoding if isinstance(type_of, TensorType) else None
    check_encoding(encoding)
    sizes = list(shape)
    if encoding is not None and all(len(level.dimension.factors) == 1 for level in encoding.levels):
        sizes = [level.size(shape) for level in encoding.levels]
    number = frame.number(frame.operand(op, 1))
    if not 0 <= number < len(sizes):
        raise UnsupportedError(f"asks for the level {number} of {len(sizes)}", "mend its number")
    return Value((), Literal(sizes[number]))


def rank(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    return Value((), Literal(len(frame.shape(frame.held(frame.operand(op, 0))))))


def reshape(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    held = frame.held(frame.operand(op, 0))
    shape = _new_shape(frame, op, kind, frame.shape(held))
    if isinstance(held, Unset):
        return Unset(shape, held.zero)
    return frame.moves.reshaped(held, shape)


def _new_shape(
    frame: Frame, op: MlirOperation, kind: MlirType | None, have: tuple[int, ...]
) -> tuple[int, ...]:
    """That of expand_shape, collapse_shape or reshape, where the type leaves it open too."""
    if not isinstance(kind, TensorType):
        raise UnsupportedError("gives no tensor", "mend its type")
    groups = op.lists[0] if op.lists else op.attributes.get("reassociation", [])
    if op.name == "tensor.reshape" or not all(isinstance(g, list) for g in groups):
        return _filled_in(kind.shape, have)
    expands = op.name == "tensor.expand_shape"
    flat = [d for group in groups for d in group]
    if flat != list(range(len(kind.shape if expands else have))) or len(groups) != len(
        have if expands else kind.shape
    ):
        raise UnsupportedError("groups other dimensions than there are", "mend its groups")
    if not expands:
        return tuple(int(np.prod([have[d] for d in group], dtype=np.int64)) for group in groups)
    shape = list(kind.shape)
    for size, group in zip(have, groups, strict=True):
        for place, found in zip(group, _filled_in([shape[d] for d in group], (size,)), strict=True):
            shape[place] = found
    return tuple(size or 0 for size in shape)


def _filled_in(shape: Sequence[int | None], have: Sequence[int]) -> tuple[int, ...]:
    """A shape, of which one extent may be open, for as many elements."""
    count = int(np.prod(have, dtype=np.int64))
    known = int(np.prod([size for size in shape if size is not None], dtype=np.int64))
    if sum(size is None for size in shape) > 1:
        raise UnsupportedError("has several open extents", "give them")
    return tuple(count // max(known, 1) if size is None else size for size in shape)


def concatenated(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    dim = op.attributes.get("dim", op.attributes.get("dimension"))
    values = [frame.value(name) for name in op.operands]
    if not isinstance(dim, int) or not values or not 0 <= dim < len(values[0].modes):
        raise UnsupportedError("names no dimension to concatenate along", "give it dim(n)")
    shapes = [frame.shape(value) for value in values]
    rests = {(*shape[:dim], *shape[dim + 1 :]) for shape in shapes}
    if len(rests) > 1:
        raise UnsupportedError("concatenates tensors of other shapes", "mend their types")
    return values[0] if len(values) == 1 else frame.compute.tensors.concatenated(values, dim)


def _rows(frame: Frame, op: MlirOperation, rank: int) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides."""
    if len(op.lists) == 3:
        rows = [frame.numbers(row) for row in op.lists]
    else:
        left = iter(op.operands[2 if op.name == "tensor.insert_slice" else 1 :])
        rows = []
        for key in ("static_offsets", "static_sizes", "static_strides"):
            held = op.attributes.get(key, [])
            rows.append([n if n != _DYNAMIC else frame.number(next(left, "%")) for n in held])
    if any(len(row) != rank for row in rows):
        raise UnsupportedError("has not an offset, a size and a stride for each dimension", "give them")
    offsets, sizes, strides = rows
    return offsets, sizes, strides


def extract_slice(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    held = frame.held(frame.operand(op, 0))
    offsets, sizes, strides = _rows(frame, op, len(frame.shape(held)))
    if isinstance(held, Unset):
        return Unset(tuple(sizes), held.zero)
    if min(strides, default=1) < 1:
        raise UnsupportedError("goes backwards", "reverse the data before the run")
    found = frame.moves.slice(held, offsets, sizes, strides)
    shape = frame.compute.build.shape(found)
    if isinstance(kind, TensorType) and len(kind.shape) != len(shape):
        left = iter(size for size in shape if size > 1)
        wanted = tuple(next(left, 1) if size is None else size for size in kind.shape)
        return frame.moves.dropped(found, wanted)
    return found


def insert_slice(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    into = frame.value(frame.operand(op, 1))
    value = frame.value(frame.operand(op, 0))
    offsets, sizes, strides = _rows(frame, op, len(into.modes))
    if len(value.modes) != len(sizes):
        value = frame.moves.dropped(value, sizes)
    if frame.shape(value) != tuple(sizes):
        raise UnsupportedError("inserts another shape than it says", "mend its sizes")
    return frame.moves.inserted(value, into, offsets, strides)


def pad(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    value = frame.value(frame.operand(op, 0))
    rows = []
    for word in ("low", "high"):
        held = op.attributes.get(word, op.attributes.get(f"static_{word}", []))
        rows.append(frame.numbers(held))
    last = op.body.last if op.body else None
    if last is None or len(last.operands) != 1 or any(len(row) != len(value.modes) for row in rows):
        raise UnsupportedError("does not say how much of what it pads with", "give low, high and a number")
    assert op.body is not None
    made = {result: inner for inner in op.body.operations for result in inner.results}
    name = last.operands[0]
    if name in made:
        places = [Access("%place")] * len(op.body.arguments)
        expr = frame.scalars({}).body(op.body, places)
    else:
        expr = frame.value(name).expr
    number = None if expr is None else number_of(expr)
    if number is None:
        raise UnsupportedError("pads with what is no constant", "pad with a number")
    return frame.moves.padded(value, rows[0], rows[1], number)


def splat(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    if not isinstance(kind, TensorType):
        raise UnsupportedError("gives no tensor", "mend its type")
    if None in kind.shape:
        raise UnsupportedError("has an open extent", "give it")
    value = frame.value(frame.operand(op, 0))
    shape = tuple(size or 0 for size in kind.shape)
    number = number_of(value.expr)
    if number is not None:
        return frame.compute.uniform(number, shape)
    return frame.compute.views.expand(value, shape)


def from_elements(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    numbers = [number_of(frame.value(name).expr) for name in op.operands]
    if not isinstance(kind, TensorType) or None in kind.shape:
        raise UnsupportedError("gives no tensor of a fixed shape", "mend its type")
    shape = tuple(size or 0 for size in kind.shape)
    if len(numbers) == 1 and shape.count(1) == len(shape):
        return replace(frame.value(frame.operand(op, 0)), modes=((),) * len(shape))
    if None in numbers or len(numbers) != int(np.prod(shape)):
        raise UnsupportedError("is made of elements that are no constants", "give a constant")
    kept = np.float32 if is_float(kind.element) else np.float64
    held = HostArray.dense(np.array(numbers, kept).reshape(shape))
    return frame.compute.build.constant(held, op.results[0][1:])


def extract(frame: Frame, op: MlirOperation, kind: MlirType | None) -> Held:
    value = frame.value(frame.operand(op, 0))
    row = frame.numbers(op.lists[0]) if op.lists else [frame.number(name) for name in op.operands[1:]]
    if len(row) != len(value.modes):
        raise UnsupportedError("has not a place in each dimension", "give one")
    if number_of(value.expr) is not None:
        return replace(value, modes=())
    return replace(frame.moves.slice(value, row, [1] * len(row), [1] * len(row)), modes=())


TENSOR_OPERATIONS: Mapping[str, Callable[[Frame, MlirOperation, MlirType | None], Held]] = {
    "tensor.dim": dim,
    "tensor.rank": rank,
    "tensor.expand_shape": reshape,
    "tensor.collapse_shape": reshape,
    "tensor.reshape": reshape,
    "tensor.concat": concatenated,
    "tensor.extract_slice": extract_slice,
    "tensor.insert_slice": insert_slice,
    "tensor.pad": pad,
    "tensor.splat": splat,
    "tensor.from_elements": from_elements,
    "tensor.extract": extract,
    "sparse_tensor.lvl": level,
    "sparse_tensor.concatenate": concatenated,
}
"""By name, what gives the result of an operation in a frame, for the type that it says."""
