"""Convolutions and pooling: windows are views where they do not overlap, else constant matrices pick them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import torch

from samhw.importers.core import Hints, UnsupportedError, Value, contract
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Ints, Operand
from samhw.importers.torch.operators.reductions import reduced, total
from samhw.importers.torch.operators.windows import Pads, Windows, are_mostly_outside, each_of, parted
from samhw.importers.torch.registry import Results, operator

__all__: list[str] = []


@operator("convolution", "conv1d", "conv2d", "conv3d")
def import_convolution(
    importer: Importer,
    x: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    *rest: Any,
) -> Value:
    backwards, more, groups = rest if importer.operator == "aten.convolution" else (False, 0, *rest, 1)[:3]
    x, weight = importer.value(x), importer.value(weight)
    kernel = importer.build.shape(weight)[2:]
    count = len(kernel)
    if len(x.modes) == count + 1:
        batch = replace(x, modes=((), *x.modes))
        made = import_convolution(importer, batch, weight, bias, stride, padding, dilation, *rest)
        return replace(made, modes=made.modes[1:])
    if backwards:
        assert not isinstance(padding, str)
        each = zip(*(each_of(numbers, count) for numbers in (stride, padding, dilation, more)), strict=True)
        made = _transposed(importer, x, weight, list(each), groups)
        return importer.affine(made, None, bias, mode=1) if bias is not None else made
    shape = importer.build.shape(x)
    strides, dilations = each_of(stride, count), each_of(dilation, count)
    pads = _padding(padding, kernel, dilations)
    numbers = zip(shape[2:], kernel, strides, pads, dilations, strict=True)
    windows = [Windows(*each) for each in numbers]
    sizes = [shape[0], groups, shape[1] // groups]
    letters = "ngc"
    matrices = []
    sparse = are_mostly_outside(windows)
    for n, window in enumerate(windows):
        place, inside, outside = "pqr"[n], "uvw"[n], "yxz"[n]
        sizes += window.sizes
        letters += outside + inside if window.is_view else place
        if not window.is_view:
            matrices.append((f"{outside}{inside}{place}", window.matrix(importer, sparse=sparse)))
    x = importer.views.view(x, sizes)
    out_channels = importer.build.shape(weight)[0] // groups
    weight = importer.views.view(weight, [groups, out_channels, shape[1] // groups, *kernel])
    outside = "yxz"[:count]
    equation = ",".join([letters, f"goc{'uvw'[:count]}", *(text for text, _ in matrices)])
    made = contract(
        importer.tensors, f"{equation}->ngo{outside}", x, weight, *(matrix for _, matrix in matrices)
    )
    made = importer.views.view(made, [shape[0], groups * out_channels, *(window.count for window in windows)])
    return importer.affine(made, None, bias, mode=1) if bias is not None else made


def _transposed(
    importer: Importer, x: Value, weight: Value, numbers: Sequence[tuple[int, int, int, int]], groups: int
) -> Value:
    """A transposed convolution: each element spreads over a window of the result. Windows side by side are a
    view of it.

    Args:
        numbers: of each dimension stride, padding, dilation and the padding of the output.
    """
    batch, channels, *sizes = importer.build.shape(x)
    _, out_channels, *kernel = importer.build.shape(weight)
    outside, counts = "", []
    matrices = []
    for n, (size, window, (stride, padding, dilation, more)) in enumerate(
        zip(sizes, kernel, numbers, strict=True)
    ):
        place, inside, made = "pqr"[n], "uvw"[n], "yxz"[n]
        counts.append((size - 1) * stride - 2 * padding + dilation * (window - 1) + more + 1)
        if counts[-1] == size * window and stride == window and not padding:
            outside += place + inside
            continue
        outside += made
        matrix = _spreading(importer, (counts[-1], window, size), stride, padding, dilation)
        matrices.append((f"{made}{inside}{place}", matrix))
    x = importer.views.view(x, [batch, groups, channels // groups, *sizes])
    weight = importer.views.view(weight, [groups, channels // groups, out_channels, *kernel])
    count = len(sizes)
    equation = ",".join([f"ngc{'pqr'[:count]}", f"gco{'uvw'[:count]}", *(text for text, _ in matrices)])
    found = contract(
        importer.tensors, f"{equation}->ngo{outside}", x, weight, *(matrix for _, matrix in matrices)
    )
    return importer.views.view(found, [batch, groups * out_channels, *counts])


def _spreading(
    importer: Importer, shape: tuple[int, int, int], stride: int, padding: int, dilation: int
) -> Value:
    """Of shape (result, kernel, size): a one where an element of a window goes."""
    count, kernel, size = shape
    held = torch.zeros(shape)
    for start, offset in product(range(size), range(kernel)):
        goal = start * stride - padding + offset * dilation
        if 0 <= goal < count:
            held[goal, offset, start] = 1
    return importer.constant(held, "windows", Hints("(dense, compressed, compressed)"))


def _padding(padding: Ints | str, kernel: Sequence[int], dilations: Sequence[int]) -> list[Pads]:
    """Along each dimension, what stands before and behind it."""
    if padding == "same":
        wide = [dilation * (size - 1) for size, dilation in zip(kernel, dilations, strict=True)]
        return [(number // 2, number - number // 2) for number in wide]
    numbers = 0 if isinstance(padding, str) else padding
    return [(number, number) for number in each_of(numbers, len(kernel))]


def _pooling(
    importer: Importer,
    x: Value,
    kernel: Ints,
    stride: Ints | None,
    padding: Ints,
    dilation: Ints = 1,
    *,
    ceil: bool = False,
) -> tuple[int, list[Windows]]:
    """How many modes of the data are pooled, and the windows along each of them.

    Args:
        stride: that of the kernel where there is none.
        ceil: a last window that only begins within the data counts.
    """
    count = next(n for n in (1, 2, 3) if f"{n}d" in importer.operator)
    stride = kernel if stride is None or stride == [] else stride
    each = zip(*(each_of(n, count) for n in (kernel, stride, padding, dilation)), strict=True)
    windows = []
    for size, (k, step, pad, d) in zip(importer.build.shape(x)[-count:], each, strict=True):
        made = Windows(size, k, step, (pad, pad), d)
        reach = d * (k - 1) + 1
        if ceil and (size + 2 * pad - reach) % step and made.count * step < size + pad:
            made = Windows(size, k, step, (pad, made.count * step + reach - size - pad), d)
        windows.append(made)
    return count, windows


@operator("max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices")
def import_max_pool(
    importer: Importer,
    x: Operand,
    kernel: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil: bool = False,
) -> Results:
    made = importer.value(x)
    count, windows = _pooling(importer, made, kernel, stride, padding, dilation, ceil=ceil)
    for n, window in enumerate(windows):
        dim = len(made.modes) - count + n
        if window.is_side_by_side:
            made = parted(importer, made, dim, window)
        else:
            made = importer.views.product_along(made, dim, window.matrix(importer, repeated=True))
        made = reduced(importer, made, dim + 1, False, "max")
    if importer.operator.endswith("indices"):
        return made, importer.places_of_extremes
    return made


@operator("avg_pool1d", "avg_pool2d", "avg_pool3d")
def import_avg_pool(
    importer: Importer,
    x: Operand,
    kernel: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil: bool = False,
    with_padding: bool = True,
    divisor: int | None = None,
) -> Value:
    made = importer.value(x)
    count, windows = _pooling(importer, made, kernel, stride, padding, ceil=ceil)
    if all(window.is_side_by_side for window in windows):
        first = len(made.modes) - count
        for n, window in enumerate(windows):
            made = parted(importer, made, first + 2 * n, window)
        gone = [first + 2 * n + 1 for n in range(count)]
        return total(importer, made, gone, False, 1 / (divisor or prod(window.kernel for window in windows)))
    for n, window in enumerate(windows):
        places = [window.places(number) for number in range(window.count)]
        if divisor:
            shares = [1 / divisor ** (1 / count)] * window.count
        else:
            # What a last window has beyond the padding never counts.
            edge = window.padding[0] if with_padding else 0
            shares = [1 / sum(-edge <= place < window.size + edge for place in inside) for inside in places]
        made = _averaged(importer, made, len(made.modes) - count + n, places, shares)
    return made


@operator("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", places=True)
def import_adaptive_max_pool(importer: Importer, x: Operand, size: Ints) -> Results:
    made = importer.value(x)
    count = next(n for n in (1, 2, 3) if f"{n}d" in importer.operator)
    have, want = importer.build.shape(made)[-count:], each_of(size, count)
    for n, (one, other) in enumerate(zip(have, want, strict=True)):
        if one % other:
            raise UnsupportedError(
                "pools windows of several sizes", "pool to a size that divides the image's"
            )
        dim = len(made.modes) - count + n
        made = parted(importer, made, dim, Windows(one, one // other, one // other, (0, 0), 1))
        made = reduced(importer, made, dim + 1, False, "max")
    return made, importer.places_of_extremes


@operator(
    "adaptive_avg_pool1d",
    *("adaptive_avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool3d"),
)
def import_adaptive_pool(importer: Importer, x: Operand, size: Sequence[int] | int) -> Value:
    made = importer.value(x)
    count = next(n for n in (1, 2, 3) if f"{n}d" in importer.operator)
    have, want = importer.build.shape(made)[-count:], each_of(size, count)
    if all(one % other == 0 for one, other in zip(have, want, strict=True)):
        kernel = [one // other for one, other in zip(have, want, strict=True)]
        return import_avg_pool(importer, made, kernel)
    for n, (one, other) in enumerate(zip(have, want, strict=True)):
        ends = [(k * one // other, -(-(k + 1) * one // other)) for k in range(other)]
        places = [list(range(*end)) for end in ends]
        made = _averaged(
            importer, made, len(made.modes) - count + n, places, [1 / len(each) for each in places]
        )
    return made


def _averaged(
    importer: Importer, x: Value, dim: int, places: Sequence[Sequence[int]], shares: Sequence[float]
) -> Value:
    """Of each list of places along a mode the sum, times a share."""
    size = importer.build.shape(x)[dim]
    held = torch.zeros(len(places), size)
    for n, (inside, share) in enumerate(zip(places, shares, strict=True)):
        held[n, [place for place in inside if 0 <= place < size]] = share
    return importer.views.product_along(x, dim, importer.constant(held, "windows", Hints("csr")))
