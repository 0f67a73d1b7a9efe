"""What each operation of a function makes of the values that it takes."""

from collections.abc import Mapping

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.mlir.encodings import constant, constant_shape, storage_of, values_of
from samhw.importers.mlir.frame import EMPTY, Frame, Held, Make, Unset, result_type
from samhw.importers.mlir.gathers import gather, scatter
from samhw.importers.mlir.hosted import Hosted
from samhw.importers.mlir.linalg_operations import elements, filled, loops, softmax
from samhw.importers.mlir.operation import Elements, MlirFunction, MlirOperation
from samhw.importers.mlir.scalars import constant_number
from samhw.importers.mlir.tensor_operations import TENSOR_OPERATIONS
from samhw.importers.mlir.types import element_type
from samhw.lang.expr import Literal

__all__ = ["make_result"]

_DEEPEST_CALLS = 64
_MOST_ITERATIONS = 1024
"""Of a loop, each of which becomes statements of its own."""


def make_result(frame: Frame, op: MlirOperation, place: int) -> Held:
    """A result of an operation.

    Raises:
        UnsupportedError: for an operation that is not imported, or not made as it should be.
    """
    dialect = op.name.partition(".")[0]
    make = _OPERATIONS.get(op.name) or _DIALECTS.get(dialect)
    if make is not None:
        return make(frame, op, place)
    if dialect in ("sam", "samml"):
        raise UnsupportedError(
            "is of a dialect of dataflow graphs, which are made here and not read",
            "give the linalg that it comes from",
        )
    raise UnsupportedError("is not imported", "compute it before or after the run, or with linalg")


def _same(frame: Frame, op: MlirOperation, place: int) -> Held:
    """What it takes, which has to be of the type that it gives."""
    name = frame.operand(op, 0)
    held = frame.held(name)
    taken, gives = frame.element(name), element_type(op.gives[place] if place < len(op.gives) else None)
    if taken != gives:
        raise UnsupportedError(f"takes {taken} as {gives}", "cast the elements with operations of arith")
    return held


def _empty(frame: Frame, op: MlirOperation, place: int) -> Held:
    """A tensor that nothing is in."""
    kind = result_type(op, place)
    if copied := op.attributes.get("copy"):
        return frame.held(copied)
    left = iter(op.operands)
    shape = []
    for size in kind.shape:
        name = None if size is not None else next(left, None)
        if size is None and name is None:
            raise UnsupportedError("has an extent that nothing gives", "give it as an operand")
        shape.append(size if name is None else frame.number(name))
    return Unset(tuple(size or 0 for size in shape), kind.encoding is not None)


def _constant(frame: Frame, op: MlirOperation, place: int) -> Held:
    """A number, or a tensor that the text holds or leaves out."""
    held = op.attributes.get("value")
    if not isinstance(held, Elements | bool | int | float):
        raise UnsupportedError("is no number and no tensor", "give one of these")
    if not isinstance(held, Elements):
        return Value((), constant_number(op))
    walk, name = frame.walk, op.results[0][1:]
    storage = storage_of(held.type.encoding, constant_shape(held.type))
    walk.note(op.results[0], storage)
    values = values_of(walk.module, held)
    if values is not None:
        return constant(frame.compute, name, values, held.type.element, storage)
    if name not in walk.data:
        raise UnsupportedError("has data that the text leaves out", "give them, as in --data NAME=FILE")
    return walk.input(name, storage)


def _called(frame: Frame, op: MlirOperation) -> list[Held]:
    """What a function of the same file gives."""
    walk, callee = frame.walk, op.callee or ""
    function = walk.module.functions.get(callee)
    if function is None:
        raise UnsupportedError(f"calls '{callee}', which the file does not define", "define it")
    if walk.calls > _DEEPEST_CALLS or len(function.arguments) != len(op.operands):
        raise UnsupportedError("calls without an end, or with other arguments", "mend the call")
    names = [name for name, _ in function.arguments]
    hosted = {
        name: held
        for name, own in zip(names, op.operands, strict=True)
        if own in frame.hosted.names and (held := frame.hosted.of(own)) is not None
    }
    return walk.body(function, [frame.held(name) for name in op.operands], hosted)


def _repeated(frame: Frame, op: MlirOperation) -> list[Held]:
    """What a loop leaves of the tensors that it changes: its body, once for each number."""
    block, walk, inits = op.body, frame.walk, op.operands[3:]
    if block is None or len(op.operands) < 3 or len(block.arguments) != 1 + len(inits):
        raise UnsupportedError("is no loop over numbers", "give it a lower bound, an upper one and a step")
    lower, upper, step = (frame.number(name) for name in op.operands[:3])
    numbers = range(lower, upper, step) if step > 0 else range(0)
    if step < 1 or len(numbers) > _MOST_ITERATIONS or walk.calls > _DEEPEST_CALLS:
        raise UnsupportedError(
            f"goes from {lower} to {upper} by {step}, and each iteration becomes statements",
            f"go up, at most {_MOST_ITERATIONS} times",
        )
    around = list(dict.fromkeys(name for inner in op.inner for name in inner.operands if name in frame.kinds))
    arguments = [*((name, frame.kinds[name]) for name in around), *block.arguments]
    outside = {name: held for name in around if (held := frame.hosted.of(name)) is not None}
    carried = [frame.held(name) for name in inits]
    given = [frame.held(name) for name in around]
    for number in numbers:
        function = MlirFunction(f"step{number}", op.at, arguments, op.gives, block)
        hosted = {**outside, block.arguments[0][0]: Hosted.number(number)}
        carried = walk.body(function, [*given, Value((), Literal(number)), *carried], hosted)
    return carried


_OPERATIONS: Mapping[str, Make] = {
    **TENSOR_OPERATIONS,
    **dict.fromkeys(EMPTY, _empty),
    **dict.fromkeys(
        (
            *("tensor.cast", "tensor.bitcast", "sparse_tensor.convert", "sparse_tensor.load"),
            *("sparse_tensor.reorder_coo", "bufferization.materialize_in_destination", "shape.with_shape"),
        ),
        _same,
    ),
    "arith.constant": _constant,
    "func.call": lambda frame, op, place: frame.several(op, lambda op: _called(frame, op))[place],
    "scf.for": lambda frame, op, place: frame.several(op, lambda op: _repeated(frame, op))[place],
    "linalg.fill": filled,
    "linalg.softmax": softmax,
    "tensor.gather": gather,
    "tm_tensor.scatter": scatter,
}
_DIALECTS: Mapping[str, Make] = {"linalg": loops, "arith": elements, "math": elements}
"""Those of whose operations several are alike."""
