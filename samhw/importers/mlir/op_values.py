"""What each operation of a function makes of the values that it takes."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from samhw.importers.core import UnsupportedError, Value, check_unmasked
from samhw.importers.mlir.compute import Body, Init
from samhw.importers.mlir.element_operations import cast_element
from samhw.importers.mlir.encodings import constant, constant_shape, storage_of, values_of
from samhw.importers.mlir.frame import EMPTY, Frame, Held, Make, Unset, result_type
from samhw.importers.mlir.gathers import gather, gathered, scatter
from samhw.importers.mlir.hosted import Hosted, unknown_places
from samhw.importers.mlir.idioms import literal, number_of, simplified
from samhw.importers.mlir.operation import Block, Elements, MlirFunction, MlirOperation
from samhw.importers.mlir.scalars import Scalars, constant_number
from samhw.importers.mlir.structured import structured
from samhw.importers.mlir.tensor_operations import TENSOR_OPERATIONS
from samhw.importers.mlir.types import AffineMap, TensorType, element_type
from samhw.importers.mlir.whole_numbers import is_float
from samhw.lang.expr import Access, Expr, Literal
from samhw.lang.functions import exp
from samhw.lang.functions import max as max_

__all__ = ["elements", "filled", "loops", "make_result", "softmax"]

# Operations of linalg, and those of arith and math on whole tensors.


Shape = tuple[int, ...]


def loops(frame: Frame, op: MlirOperation, place: int) -> Held:
    """A result of an operation that goes through loops."""
    names, outs = op.inputs, op.outputs
    if not outs:
        raise UnsupportedError("writes to nothing", "give it outs")
    given = [frame.value(name, hidden=True) for name in names]
    inits = [_init(frame, name) for name in outs]
    ranks = [len(frame.shape(value)) for value in given] + [len(init.shape) for init in inits]
    found = structured(op, ranks)
    places = [Access(f"%in{n}") for n in range(len(given))] + [Access(f"%out{n}") for n in range(len(inits))]
    outer: dict[str, Value] = {}
    shapes = {name: frame.shape(frame.held(name)) for name in op.operands}
    scalars = frame.scalars(outer, lambda inner: _taken(frame, op, inner, shapes, outer))
    yielded = scalars.body(found.block, places, place)
    if yielded is None:
        raise UnsupportedError("yields less than it gives", "yield an element for each result")
    where = scalars.stored(found.block, places, _sparse(frame, names, found.block))
    body = Body(yielded, outer, where)
    return frame.compute.result(found.maps, found.parallel, given, inits, body, place)


def _init(frame: Frame, name: str) -> Init:
    held = frame.held(name)
    check_unmasked(held)
    if isinstance(held, Value):
        return Init(frame.shape(held), held)
    zero = frame.compute.uniform(0, held.shape) if held.zero else None
    return Init(held.shape, zero, lambda: frame.warn(name))


def _sparse(frame: Frame, names: Sequence[str], block: Block) -> set[str]:
    """The arguments of a body whose tensors store only some elements."""
    kinds = (
        (argument, frame.kinds.get(name)) for name, (argument, _) in zip(names, block.arguments, strict=False)
    )
    return {argument for argument, kind in kinds if isinstance(kind, TensorType) and kind.stores_some}


def _taken(
    frame: Frame,
    op: MlirOperation,
    inner: MlirOperation,
    shapes: Mapping[str, Shape],
    outer: dict[str, Value],
) -> Expr:
    """An element of a tensor in the body of an operation, whose place is known before the run.

    Args:
        shapes: by name, those of the operands.
    """
    source, row = frame.first(inner), inner.attributes["places"]
    places = frame.hosted.in_body(op, [str(item) for item in row], shapes)
    if places is None or len(row) != len(source.modes):
        raise unknown_places("takes an element at a place")
    (name,) = inner.results
    outer[name] = gathered(frame.compute, source, places, len(places.example[0].shape))
    return Access(name)


def filled(frame: Frame, op: MlirOperation, place: int) -> Held:
    """One number all over what an output has."""
    number, out = frame.first(op), frame.operand(op, 1)
    shape = frame.shape(frame.held(out))
    known = number_of(number.expr)
    taken, gives = frame.element(op.operands[0]), frame.element(out)
    if taken != gives and not (is_float(taken) and is_float(gives)):
        if known is None:
            raise UnsupportedError(f"fills {gives} with {taken}", "cast the number by arith before")
        known = number_of(simplified(cast_element(frame.walk.system, literal(known), taken, gives)))
    if known is not None:
        return frame.compute.uniform(known, shape)
    return frame.compute.views.expand(number, shape)


def elements(frame: Frame, op: MlirOperation, place: int) -> Held:
    """An operation of arith or math, on numbers or on whole tensors."""
    given = [frame.value(name, hidden=True) for name in op.operands]
    places = [Access(f"%in{n}") for n in range(len(given))]
    exprs: list[Expr] = [
        value.expr if isinstance(value.expr, Literal) else access
        for value, access in zip(given, places, strict=True)
    ]
    scalars = Scalars(frame.walk.system, lambda _: Literal(0))
    scalars.types.update(
        {access.tensor: frame.element(name) for name, access in zip(op.operands, places, strict=True)}
    )
    made = scalars.operation(op, exprs)
    shapes = [frame.shape(value) for value in given]
    shape = max(shapes, key=len, default=())
    maps = [AffineMap.of_loops(len(shape), range(len(own))) for own in (*shapes, shape)]
    return frame.compute.result(maps, [True] * len(shape), given, [Init(shape)], Body(made))


def softmax(frame: Frame, op: MlirOperation, place: int) -> Held:
    """Along one dimension: the maximum, the exponentials, their sum, the quotient."""
    compute, x = frame.compute, frame.value(frame.operand(op, 0), hidden=True)
    dim, rank = op.attributes.get("dimension"), len(x.modes)
    if not isinstance(dim, int) or not 0 <= dim < rank:
        raise UnsupportedError("names no dimension", "give it dimension(n)")
    shape = compute.build.shape(x)
    x = compute.tensors.materialized(compute.tensors.expanded(x, [dim]))
    every = AffineMap.of_loops(rank, range(rank))
    others = AffineMap.of_loops(rank, [n for n in range(rank) if n != dim])
    left = (*shape[:dim], *shape[dim + 1 :])
    parallel = [n != dim for n in range(rank)]

    def reduced(value: Value, how: Callable[..., Expr], start: float) -> Value:
        init = Init(left, compute.uniform(start, left))
        body = Body(how(Access("%out0"), Access("%in0")))
        return compute.result([every, others], parallel, [value], [init], body)

    def along(value: Value, other: Value, how: Callable[[Expr, Expr], Expr]) -> Value:
        maps, body = [every, others, every], Body(how(Access("%in0"), Access("%in1")))
        made = compute.result(maps, [True] * rank, [value, other], [Init(shape)], body)
        return compute.tensors.materialized(made)

    most = reduced(x, max_, -np.inf)
    powers = along(x, most, lambda a, b: exp(a - b))
    total = reduced(powers, lambda a, b: a + b, 0)
    return along(powers, total, lambda a, b: a / b)


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
        raise UnsupportedError("has data that the text leaves out", "give them, as in '--data NAME=FILE'")
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
