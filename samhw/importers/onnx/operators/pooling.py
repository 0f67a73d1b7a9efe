"""Windows of which one number is made: pools, sizes that change, and samples between elements."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from samhw.importers.core import Hints, HostArray, UnsupportedError, Value
from samhw.importers.core.operators import (
    cubic_weight,
    linear_weight,
    nearest_weight,
    powered,
    sampled,
    sampled_place,
)
from samhw.importers.core.windows import SlidingWindow
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.products import along, each_of, pads_of
from samhw.importers.onnx.registry import Results, operator
from samhw.importers.onnx.values import Array, Held, NodeCall, Operand
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import exp, log, sqrt

__all__: list[str] = []


def windows_of(call: NodeCall, sizes: Sequence[int]) -> list[SlidingWindow]:
    """The windows along each dimension. With `ceil_mode` a last one that begins within the data counts."""
    kernel = each_of(call.get("kernel_shape"), len(sizes))
    strides, dilations = (each_of(call.get(name), len(sizes)) for name in ("strides", "dilations"))
    pads = pads_of(call, sizes, kernel, strides, dilations)
    found = [SlidingWindow(*each) for each in zip(sizes, kernel, strides, pads, dilations, strict=True)]
    return [window.with_last() for window in found] if call.get("ceil_mode", 0) else found


def apart(importer: NodeImporter, x: Value, dim: int, window: SlidingWindow) -> Value:
    """A mode as windows and what is in them, where they lie side by side."""
    whole = window.count * window.kernel
    part = importer.views.slice(x, dim, 0, whole)
    shape = importer.build.shape(part)
    return importer.views.view(part, [*shape[:dim], window.count, window.kernel, *shape[dim + 1 :]])


@operator("MaxPool")
def import_max_pool(importer: NodeImporter, call: NodeCall, x: Operand) -> Results:
    """What lies outside of the data is some element of its window, which changes no maximum."""
    held = importer.value(x)
    windows = windows_of(call, importer.build.shape(held)[2:])
    for n, window in enumerate(windows, start=2):
        if window.are_side_by_side:
            made = apart(importer, held, n, window)
        else:
            places = window.located
            inside = np.where((places >= 0) & (places < window.size), places, window.size)
            first = inside.min(1, keepdims=True)
            if (first == window.size).any():
                raise UnsupportedError("has windows outside of the data", "pad less")
            held = importer.materialized(held)
            made = gathered(importer, held, n, np.where(inside == window.size, first, inside))
        held = importer.reductions.reduced(made, n + 1, kind="max")
    places_of = UnsupportedError(
        "gives the places of extremes, which nothing in the hardware finds", "look for them after the run"
    )
    results: list[Value | UnsupportedError] = [held, places_of]
    return results[: call.outputs]


def gathered(importer: NodeImporter, x: Value, dim: int, places: Array) -> Value:
    """A mode's elements at these places, whose dimensions take its place."""
    rows = np.stack(np.unravel_index(np.arange(places.size), places.shape))
    coords = np.concatenate([rows, places.reshape(1, -1)])
    shape = (*places.shape, importer.build.shape(x)[dim])
    matrix = HostArray(shape, np.ones(places.size, np.float32), coords)
    hints = Hints(f"({', '.join(['dense'] * places.ndim)}, singleton)")
    return along(importer, x, dim, importer.build.constant(matrix, "windows", hints))


@operator("AveragePool")
def import_average_pool(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    held = importer.value(x)
    windows = windows_of(call, importer.build.shape(held)[2:])
    if all(window.are_side_by_side for window in windows):
        for n, window in enumerate(windows):
            held = apart(importer, held, 2 + 2 * n, window)
        return importer.reductions.mean(held, [3 + 2 * n for n in range(len(windows))])
    pads = pads_of(
        call,
        importer.shape(x)[2:],
        *(each_of(call.get(name), len(windows)) for name in ("kernel_shape", "strides", "dilations")),
    )
    for n, (window, pad) in enumerate(zip(windows, pads, strict=True), start=2):
        places = window.located
        inside = (places >= 0) & (places < window.size)
        # What a last window has beyond the padding never counts.
        counted = (places >= -pad[0]) & (places < window.size + pad[1])
        numbers = (counted if call.get("count_include_pad", 0) else inside).sum(1)
        held = along(importer, held, n, _weights(importer, window, inside, 1 / np.maximum(numbers, 1)))
    return held


def _weights(importer: NodeImporter, window: SlidingWindow, inside: Array, shares: Array) -> Value:
    """Of shape (windows, size): the share of each element of a window."""
    matrix = np.zeros((window.count, window.size), np.float32)
    rows, columns = np.nonzero(inside)
    np.add.at(matrix, (rows, window.located[rows, columns]), shares[rows])
    return importer.constant(matrix, "shares", Hints("csr"))


@operator("LpPool")
def import_lp_pool(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    power = call.get("p", 2)
    held = importer.materialized(x)
    made = importer.computed(lambda e: powered(abs_(e), power), held)
    windows = windows_of(call, importer.build.shape(held)[2:])
    for n, window in enumerate(windows, start=2):
        inside = (window.located >= 0) & (window.located < window.size)
        made = along(importer, made, n, _weights(importer, window, inside, np.ones(window.count)))
    return _root(importer, made, power)


def _root(importer: NodeImporter, x: Value, power: int) -> Value:
    if power == 1:
        return x
    return importer.elementwise(sqrt if power == 2 else lambda e: exp(log(e) * (1 / power)), x)


def import_global(kind: str, importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    held = importer.value(x)
    dims = list(range(2, len(held.modes)))
    if kind == "mean":
        return importer.reductions.mean(held, dims, True)
    return importer.reductions.reduced(held, dims, True, "max")


operator("GlobalAveragePool")(partial(import_global, "mean"))
operator("GlobalMaxPool")(partial(import_global, "max"))


@operator("GlobalLpPool")
def import_global_lp(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    power, held = call.get("p", 2), importer.materialized(x)
    made = importer.computed(lambda e: powered(abs_(e), power), held)
    return _root(importer, importer.reductions.reduced(made, list(range(2, len(held.modes))), True), power)


@operator("LRN")
def import_lrn(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    """The squares of neighbouring channels are a sum under a matrix of a band."""
    size, held = call.get("size"), importer.materialized(x)
    channels = importer.build.shape(held)[1]
    alpha, beta, bias = call.get("alpha", 1e-4), call.get("beta", 0.75), call.get("bias", 1.0)
    apart_by = np.arange(channels)[None, :] - np.arange(channels)[:, None]
    band = ((apart_by >= -((size - 1) // 2)) & (apart_by <= size // 2)).astype(np.float32)
    squares = importer.computed(lambda e: e * e, held)
    sums = along(importer, squares, 1, importer.constant(band, "neighbours", Hints("csr")))
    return importer.elementwise(lambda e, s: e * exp(log(s * (alpha / size) + bias) * -beta), held, sums)


# Other sizes


@operator("Resize", "Upsample")
def import_resize(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    roi: Operand | None = None,
    scales: Operand | None = None,
    sizes: Operand | None = None,
) -> Value:
    """Along each dimension the sum under a matrix, which the host makes."""
    if call.operator == "Upsample":
        roi, scales = None, roi
    held = importer.value(x)
    shape = importer.build.shape(held)
    axes = [axis % len(shape) for axis in call.get("axes", range(len(shape)))]
    roi_of = [] if roi is None else [float(n) for n in importer.decided(roi, "a region").reshape(-1)]
    if sizes is not None and importer.decided(sizes).size:
        want = [int(n) for n in importer.decided(sizes)]
        factors = [n / shape[axis] for n, axis in zip(want, axes, strict=True)]
        policy = call.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            factor = min(factors) if policy == "not_larger" else max(factors)
            factors = [factor] * len(axes)
            want = [math.floor(factor * shape[axis] + 0.5) for axis in axes]
    else:
        factors = [float(n) for n in importer.decided(scales, "scales").reshape(-1)]
        want = [math.floor(shape[axis] * factor) for axis, factor in zip(axes, factors, strict=True)]
    transform = call.get("coordinate_transformation_mode", "half_pixel")
    if call.operator == "Upsample":
        transform = "asymmetric"
    for n, (axis, size, factor) in enumerate(zip(axes, want, factors, strict=True)):
        ends = (roi_of[n], roi_of[n + len(axes)]) if roi_of else (0.0, 1.0)
        if size == shape[axis] and factor == 1 and transform != "tf_crop_and_resize":
            continue
        matrix, outside = _stretching(call, shape[axis], size, factor, transform, ends)
        held = along(
            importer, held, axis, importer.constant(matrix.astype(np.float32), "stretched", Hints("csr"))
        )
        if outside.any() and transform == "tf_crop_and_resize":
            fill = outside.astype(np.float32) * call.get("extrapolation_value", 0.0)
            if fill.any():
                spread = fill.reshape(-1, *[1] * (len(shape) - axis - 1))
                held = importer.elementwise(lambda e, f: e + f, held, Held(spread, "outside"))
    return held


def _stretching(
    call: NodeCall, have: int, want: int, factor: float, transform: str, ends: tuple[float, float]
) -> tuple[Array, Array]:
    """Of shape (want, have): what each element is made of; and which ones lie outside of the data."""
    n = np.arange(want, dtype=np.float64)
    if transform == "align_corners":
        reached = factor * have
        at = n * (have - 1) / (reached - 1) if reached > 1 else n * 0
    elif transform == "asymmetric":
        at = n / factor
    elif transform == "tf_crop_and_resize":
        start, end = ends
        at = (
            start * (have - 1) + n * (end - start) * (have - 1) / (want - 1)
            if want > 1
            else (n + 0.5) * 0 + 0.5 * (start + end) * (have - 1)
        )
    elif transform == "pytorch_half_pixel" and want == 1:
        at = n * 0 - 0.5
    elif transform == "half_pixel_symmetric":
        adjust = want / (factor * have)
        at = have / 2 * (1 - adjust) + (n + 0.5) / factor - 0.5
    else:
        at = (n + 0.5) / factor - 0.5
    outside = (at < 0) | (at > have - 1)
    mode = {"cubic": "cubic", "linear": "linear", "bilinear": "linear"}.get(
        call.get("mode", "nearest"), "nearest"
    )
    matrix = np.zeros((want, have))
    if mode == "nearest":
        np.put_along_axis(matrix, _nearest(call, at).clip(0, have - 1)[:, None], 1.0, 1)
    else:
        blur = min(1.0, factor) if call.get("antialias", 0) else 1.0
        for row, place in enumerate(at):
            _weigh(matrix[row], place, mode, blur, call)
    if transform == "tf_crop_and_resize":
        matrix[outside] = 0
    return matrix, outside


def _nearest(call: NodeCall, at: Array) -> Array:
    kind = call.get("nearest_mode", "round_prefer_floor")
    if call.operator == "Upsample":
        kind = "floor"
    found: Any = {
        "round_prefer_floor": lambda: np.ceil(at - 0.5),
        "round_prefer_ceil": lambda: np.floor(at + 0.5),
        "floor": lambda: np.floor(at),
        "ceil": lambda: np.ceil(at),
    }[kind]()
    return np.asarray(found, np.int64)


def _weigh(row: Array, place: float, mode: str, blur: float, call: NodeCall) -> None:
    """Adds the weights of an element between others. `blur` below 1 takes as many more as there are."""
    reach = (2 if mode == "cubic" else 1) / blur
    first, last = math.floor(place - reach) + 1, math.ceil(place + reach) - 1
    if blur == 1:
        first = math.floor(place) - (1 if mode == "cubic" else 0)
        last = first + (3 if mode == "cubic" else 1)
    near = np.arange(first, last + 1)
    size = np.abs(near - place) * blur
    if mode == "linear":
        weights = np.clip(1 - size, 0, None)
    else:
        a = call.get("cubic_coeff_a", -0.75)
        inner = (a + 2) * size**3 - (a + 3) * size**2 + 1
        outer = a * size**3 - 5 * a * size**2 + 8 * a * size - 4 * a
        weights = np.where(size <= 1, inner, np.where(size < 2, outer, 0))
    inside = (near >= 0) & (near < len(row))
    if call.get("exclude_outside", 0) or blur < 1:
        weights = np.where(inside, weights, 0) if call.get("exclude_outside", 0) else weights
        weights = weights / weights.sum()
    np.add.at(row, near.clip(0, len(row) - 1), weights)


_WEIGHTS = {
    **dict.fromkeys(("linear", "bilinear"), linear_weight),
    **dict.fromkeys(("cubic", "bicubic"), cubic_weight),
    "nearest": nearest_weight,
}


@operator("GridSample")
def import_grid_sample(importer: NodeImporter, call: NodeCall, x: Operand, grid: Operand) -> Value:
    """The grid holds places from -1 to 1, the last dimension of x first."""
    weight = _WEIGHTS[call.get("mode", "linear")]
    around, aligned = call.get("padding_mode", "zeros"), bool(call.get("align_corners", 0))
    if weight is cubic_weight and around != "zeros":
        raise UnsupportedError(f"samples between 4 elements with the padding '{around}'", "pad by zeros")
    sizes = importer.shape(x)[2:]
    places = importer.materialized(grid)
    weights = []
    for dim, size in enumerate(sizes):
        place = importer.views.slice(places, len(sizes) + 1, len(sizes) - 1 - dim, 1)
        inside = partial(sampled_place, size=size, around=around, align_corners=aligned)
        kept = importer.materialized(importer.elementwise(inside, place))
        number = Held(np.arange(size, dtype=np.float32), f"places_{size}")
        weights.append(importer.materialized(importer.elementwise(weight, kept, number)))
    return sampled(importer.tensors, importer.value(x), weights)


@operator("Col2Im")
def import_col2im(
    importer: NodeImporter, call: NodeCall, x: Operand, image: Operand, block: Operand
) -> Value:
    """The sum of windows where they lie."""
    sizes, kernel = importer.ints(image), importer.ints(block)
    count = len(sizes)
    strides, dilations = (each_of(call.get(name), count) for name in ("strides", "dilations"))
    pads = pads_of(call, sizes, kernel, strides, dilations)
    windows = [SlidingWindow(*each) for each in zip(sizes, kernel, strides, pads, dilations, strict=True)]
    batch, columns, _ = importer.shape(x)
    channels = columns // math.prod(kernel)
    held = importer.views.view(importer.value(x), [batch, channels, *kernel, *(w.count for w in windows)])
    own = ["n", "c", *"uvw"[:count], *"yxz"[:count]]
    for window, place, inside, number in zip(windows, "pqr", "uvw", "yxz", strict=False):
        matrix, hints = window.scattering()
        out = [place if letter == number else letter for letter in own if letter != inside]
        ones = importer.build.constant(matrix, "windows", hints)
        held = importer.contract(f"{place}{inside}{number},{''.join(own)}->{''.join(out)}", ones, held)
        own = out
    return held
