"""Operations of linalg, and those of arith and math on whole tensors."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from samhw.importers.core import UnsupportedError, Value, check_unmasked
from samhw.importers.mlir.compute import Body, Init
from samhw.importers.mlir.element_operations import cast_element
from samhw.importers.mlir.frame import Frame, Held
from samhw.importers.mlir.gathers import gathered
from samhw.importers.mlir.hosted import unknown_places
from samhw.importers.mlir.idioms import literal, number_of, simplified
from samhw.importers.mlir.operation import Block, MlirOperation
from samhw.importers.mlir.scalars import Scalars
from samhw.importers.mlir.structured import structured
from samhw.importers.mlir.types import AffineMap, TensorType
from samhw.importers.mlir.whole_numbers import is_float
from samhw.lang.expr import Access, Expr, Literal
from samhw.lang.functions import exp
from samhw.lang.functions import max as max_

__all__ = ["elements", "filled", "loops", "softmax"]

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
