"""What a function in MLIR means, computed with NumPy, operation by operation.

A run is compared with it. It shares the reading of the text with the importer, and nothing else: it knows no
statements, views or functions of programs.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.mlir.attributes import raw_elements
from samhw.importers.mlir.interpreted_elements import INTERPRETED, cast, interpreted_element
from samhw.importers.mlir.interpreted_loops import Loops, is_body_operation, taken
from samhw.importers.mlir.operation import Block, Elements, MlirFunction, MlirModule, MlirOperation
from samhw.importers.mlir.types import TensorType, element_type

__all__ = ["Interpreter", "TooLargeError", "interpret", "is_interpreted"]

Array = npt.NDArray[np.float64]

_MOST_ITERATIONS = 1 << 29
"""Iterations of a function that are gone through."""


_MOVES = frozenset(
    {
        *("empty", "dim", "rank", "cast", "expand_shape", "collapse_shape", "reshape", "concat"),
        *("extract_slice", "insert_slice", "pad", "splat", "from_elements", "extract"),
    }
)
"""Of the tensor dialect, what is interpreted."""


class TooLargeError(Exception):
    """A function that takes too many iterations to be compared with."""


def interpret(module: MlirModule, function: MlirFunction, data: Mapping[str, Array]) -> list[Array]:
    """What a function that has been imported gives, in float64.

    Args:
        data: by name, the arguments, and the constants that the text leaves out.

    Raises:
        TooLargeError: where that takes too long.
    """
    machine = Interpreter(module, data)
    given = [data.get(name[1:], np.zeros(())) for name, _ in function.arguments]
    with np.errstate(all="ignore"):
        return [np.asarray(array, np.float64) for array in machine.call(function, given)]


class Interpreter:
    """Computes operations with NumPy.

    Args:
        data: by name, the constants that the text leaves out.
    """

    def __init__(self, module: MlirModule, data: Mapping[str, Array]) -> None:
        self.module = module
        self.data = data
        self.left = _MOST_ITERATIONS

    def spend(self, iterations: int) -> None:
        self.left -= iterations
        if self.left < 0:
            raise TooLargeError

    def call(self, function: MlirFunction, given: Sequence[Array]) -> list[Array]:
        """What a function gives for these arguments."""
        known = {name: value for (name, _), value in zip(function.arguments, given, strict=True)}
        return self.yielded(function.body, known)

    def yielded(self, block: Block, known: Mapping[str, Array]) -> list[Array]:
        """What a block gives on, of the values around it and its arguments."""
        around = dict(known)
        for op in block.needed(block.yields):
            around.update(zip(op.results, self.operation(op, around), strict=False))
        return [around[name] for name in block.yields]

    # Operations

    def operation(self, op: MlirOperation, known: dict[str, Array]) -> list[Array]:
        """All results of an operation that `is_interpreted`.

        Args:
            known: the values that it takes, by name.
        """
        name, short = op.name, op.name.partition(".")[2]
        given = [known[operand] for operand in op.operands]
        if name == "arith.constant":
            return [self.constant(op)]
        if name == "func.call":
            return self.call(self.module.functions[op.callee or ""], given)
        if "copy" in op.attributes:
            return [known[op.attributes["copy"]]]
        if short in ("empty", "alloc_tensor", "init_tensor"):
            left = iter(given)
            return [np.zeros([int(next(left)) if size is None else size for size in _shape(op)])]
        if name.startswith("linalg."):
            return self.linalg(op, known)
        if name.startswith(("arith.", "math.")):
            return [interpreted_element(op, given)]
        if name == "scf.for":
            return self.repeat(op, known)
        if name == "tm_tensor.scatter":
            return [self.scatter(op, known)]
        return [self.tensor(op, short, given, known)]

    def repeat(self, op: MlirOperation, known: dict[str, Array]) -> list[Array]:
        """What a loop leaves of what it carries."""
        lower, upper, step = (int(known[name]) for name in op.operands[:3])
        carried = [known[name] for name in op.operands[3:]]
        for number in range(lower, upper, step):
            carried = self.inside(op, known, [np.asarray(float(number)), *carried])
        return carried

    def inside(self, op: MlirOperation, known: Mapping[str, Array], given: Sequence[Array]) -> list[Array]:
        """What the body of an operation gives for its arguments."""
        assert op.body is not None
        names = [name for name, _ in op.body.arguments]
        return self.yielded(op.body, {**known, **dict(zip(names, given, strict=True))})

    def scatter(self, op: MlirOperation, known: dict[str, Array]) -> Array:
        """Row by row, what the body makes of an update and of what is there."""
        updates, rows = (known[name] for name in op.inputs)
        result = known[op.outputs[0]].copy()
        self.spend(64 * len(rows))
        for update, row in zip(updates, rows.reshape(len(rows), -1), strict=True):
            at = _at(op.attributes["dimension_map"], row, result.ndim)
            there = np.asarray(result[at])
            result[at] = self.inside(op, known, [update.reshape(there.shape), there])[0]
        return result

    def constant(self, op: MlirOperation) -> Array:
        value = op.attributes["value"]
        if not isinstance(value, Elements):
            return np.asarray(float(value))
        if value.values is not None:
            values: Array = value.values
            return values
        if value.name in self.module.resources:
            raw = bytes.fromhex(self.module.resources[value.name][2:])[4:]
            return raw_elements(raw, value.type.element, [size or 0 for size in value.type.shape])
        return self.data[op.results[0][1:]]

    def numbers(self, row: Sequence[Any], known: Mapping[str, Array]) -> list[int]:
        return [item if isinstance(item, int) else int(known[item]) for item in row]

    def tensor(self, op: MlirOperation, short: str, given: list[Array], known: dict[str, Array]) -> Array:
        """An operation of the tensor dialect, or one of sparse_tensor that gives what it takes."""
        first = given[0]
        match short:
            case "dim":
                return np.asarray(float(first.shape[int(given[1])]))
            case "lvl":
                return np.asarray(float(_level_sizes(op, first.shape)[int(given[1])]))
            case "rank":
                return np.asarray(float(first.ndim))
            case "expand_shape" | "collapse_shape" | "reshape":
                return self.reshape(op, first)
            case "concat" | "concatenate":
                return np.concatenate(given, int(op.attributes["dimension"]))
            case "extract_slice":
                return first[self.places(op, known)].reshape(self.slice_shape(op, known))
            case "insert_slice":
                result = given[1].copy()
                part = result[self.places(op, known)]
                result[self.places(op, known)] = first.reshape(part.shape)
                return result
            case "pad":
                low, high = (self.numbers(op.attributes[word], known) for word in ("low", "high"))
                places = [np.zeros(())] * first.ndim
                (number,) = self.inside(op, known, places)
                return np.pad(first, list(zip(low, high, strict=True)), constant_values=float(number))
            case "splat":
                return np.full([size or 0 for size in _shape(op)], first)
            case "from_elements":
                return np.array(given).reshape([size or 0 for size in _shape(op)])
            case "extract":
                return np.asarray(taken(op, known))
            case "gather":
                return self.gather(op, first, given[1])
        return first

    def gather(self, op: MlirOperation, first: Array, rows: Array) -> Array:
        """A slice of a tensor for each row of places."""
        dims = op.attributes["gather_dims"]
        batch = rows.shape[:-1]
        found = [first[_at(dims, row, first.ndim)] for row in rows.reshape(-1, len(dims))]
        sizes = [size or 0 for size in _shape(op)]
        return np.array(found).reshape(*batch, *sizes[len(batch) :])

    def reshape(self, op: MlirOperation, first: Array) -> Array:
        shape = list(_shape(op))
        groups = op.attributes.get("reassociation", [])
        if op.name == "tensor.collapse_shape":
            return first.reshape([math.prod(first.shape[d] for d in group) for group in groups])
        if op.name == "tensor.expand_shape":
            for size, group in zip(first.shape, groups, strict=True):
                known = math.prod(shape[d] or 1 for d in group)
                for d in group:
                    shape[d] = size // known if shape[d] is None else shape[d]
        return first.reshape([-1 if size is None else size for size in shape])

    def places(self, op: MlirOperation, known: Mapping[str, Array]) -> tuple[slice, ...]:
        rows = (self.numbers(op.attributes[key], known) for key in ("offsets", "sizes", "strides"))
        return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(*rows, strict=True))

    def slice_shape(self, op: MlirOperation, known: Mapping[str, Array]) -> list[int]:
        sizes = self.numbers(op.attributes["sizes"], known)
        wanted = _shape(op)
        if len(wanted) == len(sizes):
            return sizes
        left = iter(size for size in sizes if size > 1)
        return [next(left, 1) if size is None or size > 1 else 1 for size in wanted]

    # linalg

    def linalg(self, op: MlirOperation, known: Mapping[str, Array]) -> list[Array]:
        """All results of an operation of linalg."""
        if op.name == "linalg.fill":
            number, out = op.operands
            taken_as, gives = map(element_type, op.types)
            held = known[number]
            return [
                np.full(
                    known[out].shape, held if taken_as == gives else cast(held, taken_as, gives, signed=True)
                )
            ]
        if op.name == "linalg.softmax":
            x, dim = known[op.operands[0]], int(op.attributes["dimension"])
            powers = np.exp(x - x.max(dim, keepdims=True))
            return [powers / powers.sum(dim, keepdims=True)]
        return Loops(op, known, self.constant, self.spend).results()


def _level_sizes(op: MlirOperation, shape: Sequence[int]) -> list[int]:
    """The extents of the levels of an operand."""
    kind = op.types[0]
    if not isinstance(kind, TensorType) or kind.encoding is None:
        return list(shape)
    return [level.size(shape) for level in kind.encoding.levels]


def _at(dims: Sequence[int], row: Array, rank: int) -> tuple[Any, ...]:
    """The elements whose places in some dimensions are those of a row."""
    places = dict(zip(dims, row.astype(int), strict=True))
    return tuple(places.get(dim, slice(None)) for dim in range(rank))


def _shape(op: MlirOperation) -> tuple[int | None, ...]:
    kind = op.gives[0]
    assert isinstance(kind, TensorType)
    return kind.shape


def is_interpreted(op: MlirOperation, resources: Collection[str]) -> bool:
    """Whether an operation that nobody has imported can be computed by itself, of what it takes.

    Args:
        resources: the names of those that the text holds.
    """
    if op.problem is not None or any(getattr(kind, "encoding", None) for kind in op.gives):
        return False
    dialect, _, short = op.name.partition(".")
    if op.name == "arith.constant":
        value = op.attributes.get("value")
        if isinstance(value, Elements):
            is_real = not value.type.element.startswith("complex")
            return is_real and (value.values is not None or value.name in resources)
        return isinstance(value, bool | int | float)
    match dialect:
        case "arith" | "math":
            return op.name in INTERPRETED and bool(op.types) and bool(op.gives)
        case "tensor":
            return short in _MOVES and all(map(_is_plain, op.regions.values()))
        case "linalg":
            plain = all(map(_is_plain, op.regions.values()))
            return plain and short in ("generic", "fill", "transpose", "broadcast")
    return False


def _is_plain(blocks: Sequence[Block]) -> bool:
    """Whether the bodies of an operation compute with single elements."""
    return all(is_body_operation(op) for block in blocks for op in block.needed(block.yields))
