"""Convolutions and pooling: windows are views where they do not overlap, else constant matrices pick them."""

from collections.abc import Sequence
from typing import Any

import torch

from samhw.frontend.torch.importer import Importer
from samhw.frontend.torch.operators.products import contracted
from samhw.frontend.torch.operators.reductions import reduced, total
from samhw.frontend.torch.registry import operator
from samhw.frontend.torch.value import Value

__all__: list[str] = []


def _each(number: Any, count: int) -> list[int]:
    given = [number] if isinstance(number, int) else list(number)
    return given * count if len(given) == 1 else given


@operator("convolution", "conv1d", "conv2d", "conv3d")
def import_convolution(
    importer: Importer,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    *rest: Any,
) -> Value:
    if importer.operator == "aten.convolution":
        backwards, _, groups = rest
        if backwards:
            raise importer.refuse("is a transposed convolution", "use a linear layer and a view")
    else:
        groups = rest[0] if rest else 1
    if isinstance(padding, str):
        raise importer.refuse(f"pads '{padding}'", "give numbers")
    x, weight = importer.value(x), importer.value(weight)
    shape, kernel = importer.build.shape(x), importer.build.shape(weight)[2:]
    count = len(kernel)
    if len(shape) == count + 1:
        raise importer.refuse("has no dimension of a batch", "add one with unsqueeze(0)")
    numbers = zip(shape[2:], kernel, *(_each(n, count) for n in (stride, padding, dilation)), strict=True)
    windows = [_Windows(*each) for each in numbers]
    sizes = [shape[0], groups, shape[1] // groups]
    letters = "ngc"
    matrices = []
    for n, window in enumerate(windows):
        place, inside, outside = "pqr"[n], "uvw"[n], "yxz"[n]
        sizes += window.sizes
        letters += outside + inside if window.is_view else place
        if not window.is_view:
            matrices.append((f"{outside}{inside}{place}", window.matrix(importer)))
    x = importer.viewed(x, sizes)
    out_channels = importer.build.shape(weight)[0] // groups
    weight = importer.viewed(weight, [groups, out_channels, shape[1] // groups, *kernel])
    outside = "yxz"[:count]
    equation = ",".join([letters, f"goc{'uvw'[:count]}", *(text for text, _ in matrices)])
    made = contracted(importer, f"{equation}->ngo{outside}", x, weight, *(matrix for _, matrix in matrices))
    made = importer.viewed(made, [shape[0], groups * out_channels, *(window.count for window in windows)])
    return importer.scaled(made, None, bias, mode=1) if bias is not None else made


class _Windows:
    """The windows along a dimension."""

    def __init__(self, size: int, kernel: int, stride: int, padding: int, dilation: int) -> None:
        self.size, self.kernel, self.stride, self.padding, self.dilation = (
            size,
            kernel,
            stride,
            padding,
            dilation,
        )
        self.count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1

    @property
    def is_view(self) -> bool:
        """Whether they lie side by side."""
        alone = self.kernel == 1 or self.dilation == 1
        return (
            alone
            and self.padding == 0
            and self.stride == self.kernel
            and self.count * self.kernel == self.size
        )

    @property
    def sizes(self) -> list[int]:
        return [self.count, self.kernel] if self.is_view else [self.size]

    def matrix(self, importer: Importer) -> Value:
        """Of shape (windows, kernel, size): a one where a window's element lies."""
        held = torch.zeros(self.count, self.kernel, self.size)
        for window in range(self.count):
            for inside in range(self.kernel):
                place = window * self.stride + inside * self.dilation - self.padding
                if 0 <= place < self.size:
                    held[window, inside, place] = 1
        key = ("windows", self.size, self.kernel, self.stride, self.padding, self.dilation)
        return importer.build.input(key, "windows", held, lambda _: held, "(dense, compressed, compressed)")


def _pooled(importer: Importer, x: Any, kernel: Any, stride: Any, padding: Any, kind: str) -> Value:
    x = importer.value(x)
    shape = importer.build.shape(x)
    count = 1 if "1d" in importer.operator else 2
    kernel = _each(kernel, count)
    stride = _each(stride, count) if stride not in (None, []) else kernel
    first = len(shape) - count
    sizes, gone = list(shape[:first]), []
    for size, k, s, p in zip(shape[first:], kernel, stride, _each(padding, count), strict=True):
        if s != k or p or size < k:
            raise importer.refuse("has windows that overlap, or padding", "use a stride of the window's size")
        gone.append(len(sizes) + 1)
        sizes += [size // k, k]
    for n, (size, k) in enumerate(zip(shape[first:], kernel, strict=True)):
        x = importer.cut(x, first + n, 0, size // k * k)
    x = importer.viewed(x, sizes)
    if kind == "max":
        return reduced(importer, x, gone, False, "max")
    number = 1
    for k in kernel:
        number *= k
    return total(importer, x, gone, False, 1 / number)


@operator("max_pool1d", "max_pool2d", "max_pool2d_with_indices")
def import_max_pool(
    importer: Importer, x: Any, kernel: Any, stride: Any = None, padding: Any = 0, *_: Any
) -> Any:
    made = _pooled(importer, x, kernel, stride, padding, "max")
    if importer.operator.endswith("indices"):
        return made, importer.without("the places of extremes", "use the extremes")
    return made


@operator("avg_pool1d", "avg_pool2d")
def import_avg_pool(
    importer: Importer, x: Any, kernel: Any, stride: Any = None, padding: Any = 0, *_: Any
) -> Value:
    return _pooled(importer, x, kernel, stride, padding, "mean")


@operator("adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d")
def import_adaptive_pool(importer: Importer, x: Any, size: Sequence[int] | int) -> Value:
    shape = importer.shape(importer.value(x))
    count = 1 if "1d" in importer.operator else 2
    kernel = [have // want for have, want in zip(shape[-count:], _each(size, count), strict=True)]
    return _pooled(importer, x, kernel, kernel, 0, "mean")
