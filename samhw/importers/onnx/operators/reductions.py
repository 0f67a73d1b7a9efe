"""Operators that reduce some modes, that normalise, and that put elements in order."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.core.element_types import WHOLE
from samhw.importers.core.formulas import powered
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.quotients import divided, truncated
from samhw.importers.onnx.operators.views import picked
from samhw.importers.onnx.registry import Results, operator
from samhw.importers.onnx.values import Held, NodeCall, Operand, is_float, kind_of
from samhw.lang import MOST_RANKS
from samhw.lang.expr import Access, Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import exp, log, rsqrt, sqrt

__all__: list[str] = []


def axes_of(importer: NodeImporter, call: NodeCall, x: Operand, axes: Operand | None) -> list[int] | None:
    """The modes that are reduced, of an input or of an attribute; none for no reduction at all."""
    rank = len(importer.shape(x))
    given = call.get("axes") if axes is None else importer.ints(axes)
    if not given:
        return None if call.get("noop_with_empty_axes", 0) else list(range(rank))
    return [axis % rank for axis in given]


def import_reduction(
    kind: str,
    before: Callable[[Expr], Expr] | None,
    after: Callable[[Expr], Expr] | None,
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    axes: Operand | None = None,
) -> Value:
    dims, keep = axes_of(importer, call, x, axes), bool(call.get("keepdims", 1))
    held = importer.value(x)
    if before is not None:
        held = importer.materialized(importer.elementwise(before, importer.materialized(held)))
    if dims is not None:
        if kind != "sum":
            # What is the same all along a dimension counts as often.
            held = importer.tensors.expanded(importer.materialized(held))
        held = importer.reductions.reduced(held, dims, keep, kind) if dims else held
    if after is None:
        return held
    made = importer.elementwise(
        after, importer.materialized(held if is_float(kind_of(x)) else importer.to(importer.real, held))
    )
    return made if is_float(kind_of(x)) else importer.to(None, truncated(importer, made))


for _name, _kind, _before, _after in (
    ("ReduceSum", "sum", None, None),
    ("ReduceMax", "max", None, None),
    ("ReduceMin", "min", None, None),
    ("ReduceProd", "prod", None, None),
    ("ReduceL1", "sum", abs_, None),
    ("ReduceL2", "sum", lambda e: e * e, sqrt),
    ("ReduceSumSquare", "sum", lambda e: e * e, None),
    ("ReduceLogSum", "sum", None, log),
):
    operator(_name)(partial(import_reduction, _kind, _before, _after))


@operator("ReduceMean")
def import_mean(importer: NodeImporter, call: NodeCall, x: Operand, axes: Operand | None = None) -> Value:
    dims, keep = axes_of(importer, call, x, axes), bool(call.get("keepdims", 1))
    if not dims:
        return importer.value(x)
    if not is_float(kind_of(x)):
        count = math.prod(importer.shape(x)[dim] for dim in dims)
        total = importer.reductions.reduced(importer.value(x), dims, keep)
        return divided(importer, total, Held(np.asarray(count), "count"))
    return importer.reductions.mean(importer.value(x), dims, keep)


@operator("ReduceLogSumExp")
def import_log_sum_exp(
    importer: NodeImporter, call: NodeCall, x: Operand, axes: Operand | None = None
) -> Value:
    dims, keep = axes_of(importer, call, x, axes), bool(call.get("keepdims", 1))
    if not dims:
        return importer.value(x)
    held = importer.materialized(importer.tensors.expanded(importer.materialized(x)))
    most = importer.materialized(importer.reductions.reduced(held, dims, True, "max"))
    total = importer.reductions.reduced(
        importer.materialized(importer.elementwise(lambda e, m: exp(e - m), held, most)), dims, True
    )
    made = importer.elementwise(lambda s, m: log(s) + m, total, most)
    if keep:
        return made
    return replace(made, modes=tuple(mode for dim, mode in enumerate(made.modes) if dim not in dims))


# Softmax and norms


@operator("Softmax")
def import_softmax(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    return importer.reductions.softmax(importer.value(x), call.get("axis", -1))


@operator("LogSoftmax")
def import_log_softmax(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    held = importer.materialized(importer.tensors.expanded(importer.value(x)))
    axis = call.get("axis", -1) % len(held.modes)
    most = importer.materialized(importer.reductions.reduced(held, axis, True, "max"))
    low = importer.materialized(importer.elementwise(lambda e, m: e - m, held, most))
    total = importer.reductions.reduced(importer.materialized(importer.elementwise(exp, low)), axis, True)
    return importer.elementwise(lambda e, s: e - log(s), low, total)


@operator("Hardmax")
def import_hardmax(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    from samhw.lang.functions import eq

    held = importer.materialized(x)
    axis = call.get("axis", -1) % len(held.modes)
    first = importer.reductions.in_row(*importer.reductions.row_along(held, axis), "argmax")
    size = importer.build.shape(held)[axis]
    places = np.arange(size, dtype=np.float32).reshape(-1, *[1] * (len(held.modes) - axis - 1))
    return importer.elementwise(eq, importer.materialized(first), Held(places, f"places_{size}"))


def normalised(
    importer: NodeImporter, x: Value, dims: list[int], epsilon: float
) -> tuple[Value, Value, Value]:
    """(x - mean) / sqrt(variance + epsilon) along some modes, the mean, and one by the root."""
    held = importer.materialized(x)
    mean = importer.materialized(importer.reductions.mean(held, dims, True))
    low = importer.materialized(importer.elementwise(lambda e, m: e - m, held, mean))
    squares = importer.materialized(importer.elementwise(lambda e: e * e, low))
    variance = importer.reductions.mean(squares, dims, True)
    root = importer.materialized(importer.elementwise(lambda v: rsqrt(v + epsilon), variance))
    return importer.elementwise(lambda e, r: e * r, low, root), mean, root


def along_channels(importer: NodeImporter, x: Operand, rank: int) -> Value:
    """A number for each channel, under the modes of the data from the second one on."""
    held = importer.value(x)
    return replace(held, modes=(*held.modes, *[()] * (rank - 2)))


@operator("LayerNormalization")
def import_layer_norm(
    importer: NodeImporter, call: NodeCall, x: Operand, scale: Operand, bias: Operand | None = None
) -> Results:
    rank = len(importer.shape(x))
    axis = call.get("axis", -1) % rank
    made, mean, root = normalised(
        importer, importer.value(x), list(range(axis, rank)), call.get("epsilon", 1e-5)
    )
    return [_affine(importer, made, scale, bias), mean, root][: call.outputs]


def _affine(importer: NodeImporter, x: Value, scale: Operand | None, bias: Operand | None) -> Value:
    if scale is not None and importer.number(scale) != 1:
        x = importer.elementwise(lambda e, s: e * s, x, scale)
    if bias is not None and importer.number(bias) != 0:
        x = importer.elementwise(lambda e, b: e + b, x, bias)
    return x


@operator("InstanceNormalization")
def import_instance_norm(
    importer: NodeImporter, call: NodeCall, x: Operand, scale: Operand, bias: Operand
) -> Value:
    rank = len(importer.shape(x))
    made, _, _ = normalised(importer, importer.value(x), list(range(2, rank)), call.get("epsilon", 1e-5))
    return _affine(
        importer, made, along_channels(importer, scale, rank), along_channels(importer, bias, rank)
    )


@operator("LpNormalization")
def import_lp_norm(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    from samhw.lang.functions import eq, select

    power, held = call.get("p", 2), importer.materialized(x)
    sums = importer.reductions.reduced(
        importer.materialized(importer.elementwise(lambda e: powered(abs_(e), power), held)),
        call.get("axis", -1),
        True,
    )
    size = importer.materialized(importer.elementwise(sqrt, sums) if power == 2 else sums)
    return importer.elementwise(lambda e, s: e / select(eq(s, 0), 1, s), held, size)


@operator("BatchNormalization")
def import_batch_norm(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    scale: Operand,
    bias: Operand,
    mean: Operand,
    variance: Operand,
) -> Results:
    """A factor and a summand for each channel, which the host works out where they are constants."""
    rank, epsilon = len(importer.shape(x)), call.get("epsilon", 1e-5)
    if call.get("training_mode", 0):
        return _trained(importer, call, x, scale, bias, mean, variance)
    constants = [
        c.array.astype(np.float64)
        for c in (scale, bias, mean, variance)
        if isinstance(c, Held) and c.fetch is None
    ]
    if len(constants) == 4:
        factor = constants[0] / np.sqrt(constants[3] + epsilon)
        rest = constants[1] - constants[2] * factor
        both = [Held(a.astype(np.float32), name) for a, name in ((factor, "scale"), (rest, "shift"))]
        return _affine(importer, importer.value(x), *(along_channels(importer, each, rank) for each in both))
    low = importer.elementwise(lambda e, m: e - m, x, along_channels(importer, mean, rank))
    root = importer.elementwise(lambda v: rsqrt(v + epsilon), along_channels(importer, variance, rank))
    made = importer.elementwise(lambda e, r: e * r, low, importer.materialized(root))
    return _affine(
        importer, made, along_channels(importer, scale, rank), along_channels(importer, bias, rank)
    )


def _trained(
    importer: NodeImporter, call: NodeCall, x: Operand, scale: Operand, bias: Operand, *running: Operand
) -> Results:
    """With the statistics of the batch, which change those that run along."""
    rank, momentum = len(importer.shape(x)), call.get("momentum", 0.9)
    dims = [0, *range(2, rank)]
    held = importer.materialized(x)
    made, mean, _ = normalised(importer, held, dims, call.get("epsilon", 1e-5))
    made = _affine(
        importer, made, along_channels(importer, scale, rank), along_channels(importer, bias, rank)
    )
    low = importer.materialized(importer.elementwise(lambda e, m: e - m, held, mean))
    squares = importer.materialized(importer.elementwise(lambda e: e * e, low))
    found = [replace(mean, modes=(mean.modes[1],)), importer.reductions.mean(squares, dims)]
    kept = [
        importer.elementwise(lambda old, now: old * momentum + now * (1 - momentum), old, now)
        for old, now in zip(running, found, strict=True)
    ]
    return [made, *kept][: call.outputs]


# Rows and order


def _places(importer: NodeImporter, row: Value, axis: int, kind: str, count: int = 1) -> Value:
    """Coordinates, which are integers."""
    found = importer.reductions.in_row(row, axis, kind, count)
    if importer.real is not None and isinstance(found.expr, Access):
        importer.build.stored[found.expr.tensor].kind = WHOLE
    return found


def import_extreme(kind: str, importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    """The coordinates of the first ones, or of the last ones, along a mode."""
    held = importer.materialized(x)
    axis = call.get("axis", 0) % len(held.modes)
    size = importer.build.shape(held)[axis]
    last = call.get("select_last_index", 0)
    if last:
        held = importer.materialized(picked(importer, held, axis, list(range(size))[::-1]))
    found = _places(importer, *importer.reductions.row_along(held, axis), kind)
    if last:
        found = importer.elementwise(lambda e: (size - 1) - e, found)
    if call.get("keepdims", 1):
        return found
    return replace(found, modes=(*found.modes[:axis], *found.modes[axis + 1 :]))


operator("ArgMax")(partial(import_extreme, "argmax"))
operator("ArgMin")(partial(import_extreme, "argmin"))


@operator("TopK")
def import_topk(importer: NodeImporter, call: NodeCall, x: Operand, number: Operand) -> Results:
    (count,) = importer.ints(number)
    if not 1 <= count <= MOST_RANKS:
        raise UnsupportedError(
            f"takes {count} elements of a row in order, and the hardware keeps {MOST_RANKS}",
            f"take from 1 to {MOST_RANKS}",
        )
    row, axis = importer.reductions.row_along(importer.value(x), call.get("axis", -1))
    largest = call.get("largest", 1)
    kind = ("top" if largest else "bottom") if count > 1 else "max" if largest else "min"
    return [
        importer.reductions.in_row(row, axis, kind, count),
        _places(importer, row, axis, f"arg{kind}", count),
    ]


def import_running(kind: str, importer: NodeImporter, call: NodeCall, x: Operand, axis: Operand) -> Value:
    (dim,) = importer.ints(axis)
    held = importer.materialized(x)
    dim %= len(held.modes)
    size = importer.build.shape(held)[dim]
    backwards = list(range(size))[::-1]
    if call.get("reverse", 0):
        held = importer.materialized(picked(importer, held, dim, backwards))
    made = importer.reductions.running(kind, held, dim)
    if call.get("exclusive", 0):
        made = importer.materialized(made)
        made = picked(importer, made, dim, range(-1, size - 1))
        if kind == "prod":
            first = np.zeros(size, np.float32)
            first[0] = 1
            spread = Held(first.reshape(-1, *[1] * (len(made.modes) - dim - 1)), "first")
            made = importer.elementwise(lambda e, f: e + f, made, spread)
    if call.get("reverse", 0):
        made = picked(importer, importer.materialized(made), dim, backwards)
    return made


operator("CumSum")(partial(import_running, "sum"))
operator("CumProd")(partial(import_running, "prod"))
