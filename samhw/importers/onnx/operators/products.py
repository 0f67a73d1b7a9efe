"""Products that are summed: matrices, einsums, convolutions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from samhw.importers.core import UnsupportedError, Value, letters
from samhw.importers.core.operators import einsum, matmul
from samhw.importers.core.windows import SlidingWindow, are_mostly_outside, convolved
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import NodeCall, Operand

__all__ = ["along", "each_of", "pads_of", "transposed", "with_bias"]


@operator("MatMul")
def import_matmul(importer: NodeImporter, call: NodeCall, a: Operand, b: Operand) -> Value:
    return matmul(importer.tensors, importer.value(a), importer.value(b))


def transposed(x: Value) -> Value:
    """With its last two modes exchanged."""
    return replace(x, modes=(*x.modes[:-2], x.modes[-1], x.modes[-2]))


@operator("Gemm")
def import_gemm(
    importer: NodeImporter, call: NodeCall, a: Operand, b: Operand, c: Operand | None = None
) -> Value:
    left, right = importer.value(a), importer.value(b)
    left = transposed(left) if call.get("transA", 0) else left
    right = transposed(right) if call.get("transB", 0) else right
    made = importer.contract("ik,kj->ij", left, right)
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    if alpha != 1:
        made = importer.elementwise(lambda e: e * alpha, made)
    if c is None or beta == 0 or importer.number(c) == 0:
        return made
    total = importer.elementwise(lambda e, f: e + (f if beta == 1 else f * beta), made, c)
    return importer.operations.fused_term(made, total)


@operator("Einsum")
def import_einsum(importer: NodeImporter, call: NodeCall, *operands: Operand) -> Value:
    def diagonal(x: Value, one: int, other: int) -> Value:
        size, own = importer.build.shape(x)[one], letters(len(x.modes))
        equal = np.arange(size)[:, None] == np.arange(size)
        ones = importer.constant((equal[..., None] & equal).astype(np.float32), "diagonal")
        rest = "".join(name for dim, name in enumerate(own) if dim not in (one, other))
        return importer.contract(f"Z{own[one]}{own[other]},{own}->{rest}Z", ones, x)

    return einsum(importer.tensors, call.get("equation"), list(map(importer.value, operands)), diagonal)


def along(importer: NodeImporter, x: Value, dim: int, matrix: Value) -> Value:
    """The sum along a mode under a matrix, whose other modes take its place."""
    return importer.views.product_along(x, dim, matrix)


# Convolutions


def each_of(numbers: Sequence[int] | None, count: int, default: int = 1) -> list[int]:
    """A number for each of this many dimensions."""
    return [default] * count if numbers is None else [int(n) for n in numbers]


def pads_of(
    call: NodeCall,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[tuple[int, int]]:
    """What is before and after each dimension, as `pads` or `auto_pad` say it."""
    count, kind = len(sizes), call.get("auto_pad", "NOTSET")
    if kind in ("NOTSET", ""):
        pads = each_of(call.get("pads"), 2 * count, 0)
        return list(zip(pads[:count], pads[count:], strict=True))
    if kind == "VALID":
        return [(0, 0)] * count
    found = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
        whole = max(0, (-(-size // s) - 1) * s + d * (k - 1) + 1 - size)
        less, more = whole // 2, whole - whole // 2
        found.append((less, more) if kind == "SAME_UPPER" else (more, less))
    return found


@operator("Conv")
def import_conv(
    importer: NodeImporter, call: NodeCall, x: Operand, weight: Operand, bias: Operand | None = None
) -> Value:
    shape, sizes = importer.shape(weight), importer.shape(x)[2:]
    kernel = each_of(call.get("kernel_shape", shape[2:]), len(sizes))
    strides, dilations = (each_of(call.get(name), len(sizes)) for name in ("strides", "dilations"))
    pads = pads_of(call, sizes, kernel, strides, dilations)
    windows = [SlidingWindow(*each) for each in zip(sizes, kernel, strides, pads, dilations, strict=True)]
    made = convolution(importer, importer.value(x), importer.value(weight), windows, call.get("group", 1))
    return with_bias(importer, made, bias)


@operator("ConvTranspose")
def import_conv_transpose(
    importer: NodeImporter, call: NodeCall, x: Operand, weight: Operand, bias: Operand | None = None
) -> Value:
    shape, sizes = importer.shape(weight), importer.shape(x)[2:]
    count = len(sizes)
    kernel = each_of(call.get("kernel_shape", shape[2:]), count)
    strides, dilations = (each_of(call.get(name), count) for name in ("strides", "dilations"))
    more = each_of(call.get("output_padding"), count, 0)
    full = [
        (n - 1) * s + d * (k - 1) + 1 + o
        for n, k, s, d, o in zip(sizes, kernel, strides, dilations, more, strict=True)
    ]
    want, kind = call.get("output_shape"), call.get("auto_pad", "NOTSET")
    if want is None and kind.startswith("SAME"):
        want = [n * s for n, s in zip(sizes, strides, strict=True)]
    if want is not None:
        totals = [max(0, whole - n) for whole, n in zip(full, want[-count:], strict=True)]
        pads = [(t - t // 2, t // 2) if kind != "SAME_UPPER" else (t // 2, t - t // 2) for t in totals]
    else:
        pads = pads_of(call, sizes, kernel, strides, dilations)
    out = [whole - sum(pad) for whole, pad in zip(full, pads, strict=True)]
    if want is not None and list(want[-count:]) != out:
        raise UnsupportedError("is to give more than it reaches", "pad after it")
    windows = [
        SlidingWindow(o, k, s, (p, (n - 1) * s + d * (k - 1) + 1 - o - p), d)
        for o, k, s, (p, _), d, n in zip(out, kernel, strides, pads, dilations, sizes, strict=True)
    ]
    made = convolution(
        importer, importer.value(x), importer.value(weight), windows, call.get("group", 1), backwards=True
    )
    return with_bias(importer, made, bias)


def with_bias(importer: NodeImporter, made: Value, bias: Operand | None) -> Value:
    """A sum of products and a number for each channel."""
    if bias is None or importer.number(bias) == 0:
        return made
    held = importer.value(bias)
    held = replace(held, modes=(*held.modes, *[()] * (len(made.modes) - 2)))
    return importer.operations.fused_term(made, importer.elementwise(lambda e, f: e + f, made, held))


def convolution(
    importer: NodeImporter,
    x: Value,
    weight: Value,
    windows: Sequence[SlidingWindow],
    groups: int,
    *,
    backwards: bool = False,
) -> Value:
    """One statement, in which matrices pick the elements of windows that are not views: windows of the data,
    or, of a transposed one, of the result, over which each element spreads."""
    batch, channels, *_ = importer.build.shape(x)
    sparse = are_mostly_outside(windows)
    equation, shape = convolved(windows, backwards=backwards)
    matrices = []
    for n, window in enumerate(windows):
        if not window.is_view:
            held, hints = window.scattering() if backwards else window.picking(sparse=sparse)
            matrices.append(importer.build.constant(held, f"windows_{n}", hints))
    sizes = importer.build.shape(weight)
    given = importer.views.view(x, [batch, groups, channels // groups, *shape])
    weights = importer.views.view(weight, [groups, sizes[0] // groups, *sizes[1:]])
    made = importer.contract(equation, given, weights, *matrices)
    outputs = sizes[1] * groups if backwards else sizes[0]
    left = [window.size if backwards else window.count for window in windows]
    return importer.views.view(made, [batch, outputs, *left])
