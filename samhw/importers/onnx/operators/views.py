"""Views, and what puts elements elsewhere: no statement where nothing moves."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import Held, NodeCall, Operand, kind_of

__all__ = ["picked", "sliced", "stacked"]


@operator("Shape")
def import_shape(importer: NodeImporter, call: NodeCall, x: Operand) -> Held:
    shape = importer.shape(x)
    return Held(np.asarray(shape[call.get("start", 0) : call.get("end", None)], np.int64), "shape")


@operator("Size")
def import_size(importer: NodeImporter, call: NodeCall, x: Operand) -> Held:
    return Held(np.asarray(prod(importer.shape(x)), np.int64), "size")


@operator("Reshape", hosted=True)
def import_reshape(importer: NodeImporter, call: NodeCall, x: Operand, sizes: Operand) -> Value:
    have, want = importer.shape(x), importer.ints(sizes)
    if not call.get("allowzero", 0):
        want = [have[n] if size == 0 else size for n, size in enumerate(want)]
    return importer.views.view(importer.value(x), want)


@operator("Flatten", hosted=True)
def import_flatten(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    shape, axis = importer.shape(x), call.get("axis", 1)
    axis += len(shape) if axis < 0 else 0
    return importer.views.view(importer.value(x), [prod(shape[:axis]), prod(shape[axis:])])


@operator("Transpose", hosted=True)
def import_transpose(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    held = importer.value(x)
    order = call.get("perm", list(range(len(held.modes)))[::-1])
    return replace(held, modes=tuple(held.modes[dim] for dim in order))


@operator("Unsqueeze", hosted=True)
def import_unsqueeze(importer: NodeImporter, call: NodeCall, x: Operand, axes: Operand) -> Value:
    held, places = importer.value(x), importer.ints(axes)
    rank = len(held.modes) + len(places)
    places = [place % rank for place in places]
    left = iter(held.modes)
    return replace(held, modes=tuple(() if n in places else next(left) for n in range(rank)))


@operator("Squeeze", hosted=True)
def import_squeeze(importer: NodeImporter, call: NodeCall, x: Operand, axes: Operand | None = None) -> Value:
    held = importer.build.resolve(importer.value(x))
    sizes = importer.build.shape(held)
    gone = [n for n, size in enumerate(sizes) if size == 1]
    gone = gone if axes is None else [place % len(sizes) for place in importer.ints(axes)]
    return replace(held, modes=tuple(mode for n, mode in enumerate(held.modes) if n not in gone))


@operator("Expand", hosted=True)
def import_expand(importer: NodeImporter, call: NodeCall, x: Operand, sizes: Operand) -> Value:
    shape = np.broadcast_shapes(importer.shape(x), tuple(importer.ints(sizes)))
    return importer.views.expand(importer.value(x), list(shape))


@operator("Tile", hosted=True)
def import_tile(importer: NodeImporter, call: NodeCall, x: Operand, repeats: Operand) -> Value:
    held, axes = importer.value(x), importer.build.axes
    outer = [(axes.index(n),) if n > 1 else () for n in importer.ints(repeats)]
    return replace(held, modes=tuple(o + mode for o, mode in zip(outer, held.modes, strict=True)))


# Parts


def sliced(importer: NodeImporter, x: Value, dim: int, start: int, stop: int, step: int) -> Value:
    """Every step-th element of a mode."""
    size = importer.build.shape(x)[dim]
    places = range(*slice(start, stop, step).indices(size))
    if step > 0:
        return importer.views.slice(x, dim, places[0], len(places), step)
    return picked(importer, x, dim, list(places))


def picked(importer: NodeImporter, x: Value, dim: int, places: Sequence[int]) -> Value:
    """A mode's elements at these places, and zeros for those that lie outside."""
    if list(places) == list(range(importer.build.shape(x)[dim])):
        return x
    return importer.views.index_select(x, dim, list(places))


@operator("Slice", hosted=True)
def import_slice(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    starts: Operand,
    ends: Operand,
    axes: Operand | None = None,
    steps: Operand | None = None,
) -> Operand:
    first, last = importer.ints(starts), importer.ints(ends)
    rank = len(importer.shape(x))
    dims = list(range(len(first))) if axes is None else [dim % rank for dim in importer.ints(axes)]
    strides = [1] * len(first) if steps is None else importer.ints(steps)
    held = importer.value(x)
    shape = list(importer.build.shape(held))
    for dim, start, stop, step in zip(dims, first, last, strides, strict=True):
        shape[dim] = len(range(*slice(start, stop, step).indices(shape[dim])))
    if 0 in shape:
        return importer.empty(shape, x)
    for dim, start, stop, step in zip(dims, first, last, strides, strict=True):
        size = importer.build.shape(held)[dim]
        if step < 0 and stop < -size:
            places = range(min(start if start >= 0 else start + size, size - 1), -1, step)
            held = picked(importer, held, dim, list(places))
            continue
        held = sliced(importer, held, dim, start, stop, step)
    return held


@operator("Split", hosted=True)
def import_split(
    importer: NodeImporter, call: NodeCall, x: Operand, sizes: Operand | None = None
) -> list[Operand]:
    held = importer.value(x)
    axis = call.get("axis", 0) % len(held.modes)
    whole = importer.build.shape(held)[axis]
    if sizes is not None:
        lengths = importer.ints(sizes)
    else:
        count = call.get("num_outputs", call.outputs)
        share = -(-whole // count)
        lengths = [max(0, min(share, whole - n * share)) for n in range(count)]
    shape = list(importer.build.shape(held))
    starts = np.cumsum([0, *lengths[:-1]])
    return [
        importer.views.slice(held, axis, int(start), length)
        if length
        else importer.empty([*shape[:axis], 0, *shape[axis + 1 :]], x)
        for start, length in zip(starts, lengths, strict=True)
    ]


# Several in one


@operator("Concat", hosted=True)
def import_concat(importer: NodeImporter, call: NodeCall, *parts: Operand) -> Operand:
    kept = [part for part in parts if 0 not in importer.shape(part)]
    axis = call.get("axis", 0)
    if not kept:
        shapes = [list(importer.shape(part)) for part in parts]
        axis %= len(shapes[0])
        shapes[0][axis] = sum(shape[axis] for shape in shapes)
        return importer.empty(shapes[0], parts[0])
    return importer.joined([importer.value(part) for part in kept], axis % len(importer.shape(kept[0])))


def stacked(importer: NodeImporter, parts: Sequence[Value], dim: int = 0) -> Value:
    """Values side by side along a new mode."""
    held = [replace(part, modes=(*part.modes[:dim], (), *part.modes[dim:])) for part in parts]
    return importer.joined(held, dim)


# Padding and order


@operator("Pad", hosted=True)
def import_pad(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    pads: Operand,
    number: Operand | None = None,
    axes: Operand | None = None,
) -> Value:
    held, mode = importer.value(x), call.get("mode", "constant")
    widths = importer.ints(pads)
    dims = list(range(len(held.modes))) if axes is None else importer.ints(axes)
    dims = [dim % len(held.modes) for dim in dims]
    shown: list[tuple[int, list[int]]] = []
    for n, dim in enumerate(dims):
        before, behind = widths[n], widths[n + len(dims)]
        size = importer.build.shape(held)[dim]
        wanted = np.arange(-before, size + behind)
        if not len(wanted):
            raise UnsupportedError("leaves no elements", "leave it out")
        if before <= 0 and behind <= 0:
            held = importer.views.slice(held, dim, -before, len(wanted))
            continue
        held = picked(importer, held, dim, _places(wanted, size, mode))
        shown.append((dim, [int(0 <= place < size) for place in wanted]))
    fill = 0.0 if number is None or mode != "constant" else importer.number(number)
    if fill == 0 or mode != "constant" or not shown:
        return held
    outside = np.ones(importer.build.shape(held), np.float32)
    for dim, inside in shown:
        outside = outside * np.asarray(inside, np.float32).reshape(-1, *[1] * (outside.ndim - dim - 1))
    rest = 1 - outside
    if number is not None and fill is None:
        more = importer.value(number)
        return importer.elementwise(lambda e, w, f: e + w * f, held, importer.constant(rest, "outside"), more)
    with np.errstate(invalid="ignore"):
        return importer.elementwise(
            lambda e, w: e + w,
            held,
            importer.constant(np.where(rest, fill or 0.0, 0).astype(np.float32), "outside"),
        )


def _places(wanted: np.ndarray[Any, Any], size: int, mode: str) -> list[int]:
    """Where the elements of a padded mode come from; outside of it for a constant."""
    if mode == "edge":
        return [int(n) for n in np.clip(wanted, 0, size - 1)]
    if mode == "wrap":
        return [int(n) for n in wanted % size]
    if mode == "reflect":
        if size == 1:
            return [0] * len(wanted)
        around = np.abs(wanted) % (2 * size - 2)
        return [int(n) for n in np.where(around < size, around, 2 * size - 2 - around)]
    return [int(n) for n in wanted]


@operator("DepthToSpace")
def import_depth_to_space(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    held, b = importer.value(x), call.get("blocksize")
    n, c, h, w = importer.build.shape(held)
    columns_last = call.get("mode", "DCR") == "CRD"
    shape = [n, c // b**2, b, b, h, w] if columns_last else [n, b, b, c // b**2, h, w]
    order = (0, 1, 4, 2, 5, 3) if columns_last else (0, 3, 4, 1, 5, 2)
    held = importer.views.view(held, shape)
    held = replace(held, modes=tuple(held.modes[dim] for dim in order))
    return importer.views.view(held, [n, c // b**2, h * b, w * b])


@operator("SpaceToDepth")
def import_space_to_depth(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    held, b = importer.value(x), call.get("blocksize")
    n, c, h, w = importer.build.shape(held)
    order = (0, 1, 3, 5, 2, 4) if call.get("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    held = importer.views.view(held, [n, c, h // b, b, w // b, b])
    held = replace(held, modes=tuple(held.modes[dim] for dim in order))
    return importer.views.view(held, [n, c * b * b, h // b, w // b])


@operator("ReverseSequence")
def import_reverse_sequence(importer: NodeImporter, call: NodeCall, x: Operand, lengths: Operand) -> Value:
    """By a matrix for each row of the batch."""
    held, given = importer.value(x), importer.decided(lengths, "lengths").astype(int)
    time, batch = call.get("time_axis", 0), call.get("batch_axis", 1)
    size = importer.build.shape(held)[time]
    places = np.tile(np.arange(size), (len(given), 1))
    for row, length in enumerate(given):
        places[row, :length] = places[row, :length][::-1]
    own = [chr(ord("a") + n) for n in range(len(held.modes))]
    matrix = importer.constant((places[:, :, None] == np.arange(size)).astype(np.float32), "reversed")
    out = [*own]
    out[time] = "Z"
    return importer.contract(f"{own[batch]}Z{own[time]},{''.join(own)}->{''.join(out)}", matrix, held)


@operator("Trilu")
def import_trilu(importer: NodeImporter, call: NodeCall, x: Operand, k: Operand | None = None) -> Value:
    held = importer.value(x)
    rows, columns = importer.build.shape(held)[-2:]
    offset = importer.ints(k)[0] if k is not None else 0
    ones = np.ones((rows, columns), np.float32)
    kept = np.triu(ones, offset) if call.get("upper", 1) else np.tril(ones, offset)
    return importer.elementwise(lambda e, m: e * m, held, Held(kept, "triangle"))


# Constants whose shapes are known by now


@operator("ConstantOfShape")
def import_constant_of_shape(importer: NodeImporter, call: NodeCall, sizes: Operand) -> Held:
    value = call.get("value")
    filled = np.zeros(1, np.float32) if value is None else numpy_helper.to_array(value)
    return Held(np.full(importer.ints(sizes), filled.reshape(-1)[0], filled.dtype), "filled")


@operator("EyeLike")
def import_eye_like(importer: NodeImporter, call: NodeCall, x: Operand) -> Held:
    dtype = helper.tensor_dtype_to_np_dtype(call.get("dtype", kind_of(x)))
    rows, columns = importer.shape(x)
    return Held(np.eye(rows, columns, call.get("k", 0)).astype(dtype), "eye")
