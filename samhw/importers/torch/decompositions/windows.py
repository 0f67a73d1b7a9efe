"""Windows along dimensions, and what convolves and pools them: views where they lie side by side, else
products with constant matrices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from samhw.importers.core import UnsupportedError, letters
from samhw.importers.core.windows import SlidingWindow, are_mostly_outside, convolved
from samhw.importers.torch.own_operators import NOTHING, contract, hot, picked, stored, taken_apart
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []

Ints = int | Sequence[int]
Pads = tuple[int, int]

SPARSE = "(dense, compressed, compressed)"
"""Of a matrix of windows: only what lies in the data is stored, and multiplied."""


def each_of(number: Ints, count: int) -> list[int]:
    """A number for each of this many dimensions."""
    given = [number] if isinstance(number, int) else list(number)
    return given * count if len(given) == 1 else given


def spread(x: Tensor | None, count: int) -> Any:
    """Along a dimension that this many follow."""
    return 0 if x is None else x.reshape(-1, *[1] * count)


def along(x: Tensor, dim: int, matrix: Tensor) -> Any:
    """The sum along a dimension under a matrix, whose other dimensions take its place."""
    own, out = letters(x.dim()), letters(matrix.dim() - 1, "A")
    return contract(f"{out}{own[dim]},{own}->{own[:dim]}{out}{own[dim + 1 :]}", matrix, x)


@dataclass(frozen=True)
class Windows(SlidingWindow):
    """The windows along a dimension, with matrices that PyTorch makes."""

    def places(self, otherwise: Tensor | int = NOTHING) -> Tensor:
        """Of shape (windows, kernel): where their elements lie, with something else for what is outside of
        the data."""
        starts = torch.arange(self.count) * self.stride - self.padding[0]
        found = starts[:, None] + torch.arange(self.kernel) * self.dilation
        return torch.where((found >= 0) & (found < self.size), found, otherwise)

    def matrix(self, *, sparse: bool) -> Any:
        """Of shape (windows, kernel, size): a one where a window's element lies."""
        if sparse:
            return stored((self.places()[..., None] == torch.arange(self.size)).float(), SPARSE)
        return hot(self.places(), sizes=[self.size])

    def spreading(self) -> Any:
        """The same the other way round: of shape (size, kernel, windows)."""
        hits = torch.arange(self.size)[:, None, None] == self.places().T
        return stored(hits.float(), SPARSE)

    def of(self, x: Tensor, dim: int) -> Any:
        """A dimension as windows and what is in them: a view if that can be."""
        if self.are_side_by_side:
            return taken_apart(x.narrow(dim, 0, self.count * self.kernel), dim, (self.count, self.kernel))
        return along(x, dim, self.matrix(sparse=are_mostly_outside([self])))


def windows_of(
    sizes: Sequence[int], kernel: Ints, stride: Ints, padding: Ints | Sequence[Pads], dilation: Ints
) -> list[Windows]:
    """Those along each dimension."""
    count = len(sizes)
    pads = [(pad, pad) if isinstance(pad, int) else pad for pad in each_of(padding, count)]  # type: ignore[arg-type]
    numbers = zip(
        sizes, each_of(kernel, count), each_of(stride, count), pads, each_of(dilation, count), strict=True
    )
    return [Windows(*each) for each in numbers]


@decomposition("unfold")
def unfold(x: Tensor, dim: int, size: int, step: int) -> Any:
    """Windows along a dimension; what is in them stands in the last one."""
    if not x.dim():
        return x.reshape(1)
    dim %= x.dim()
    return Windows(x.shape[dim], size, step).of(x, dim).movedim(dim + 1, -1)


@decomposition("im2col")
def im2col(x: Tensor, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Any:
    """Windows of images (batch..., channels, rows, columns), as columns."""
    rows, columns = windows_of(x.shape[-2:], kernel, stride, padding, dilation)
    made = rows.of(x, x.dim() - 2)
    made = columns.of(made, made.dim() - 1)
    return made.transpose(-3, -2).movedim((-2, -1), (-4, -3)).flatten(-2).flatten(-4, -2)


@decomposition("col2im")
def col2im(x: Tensor, size: Sequence[int], kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Any:
    """The sum of windows (batch..., channels and places in a window, windows) where they lie in images."""
    rows, columns = windows_of(size, kernel, stride, padding, dilation)
    made = taken_apart(x, -1, (rows.count, columns.count))
    made = taken_apart(made, -3, (-1, rows.kernel, columns.kernel))
    own = letters(x.dim() - 1)
    made = contract(f"LKY,{own}KkLl->{own}Ykl", rows.matrix(sparse=False), made)
    return contract(f"lkX,{own}Ykl->{own}YX", columns.matrix(sparse=False), made)


# Convolutions


@decomposition("convolution")
def convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints | Sequence[Pads],
    dilation: Ints,
    transposed: bool,
    more: Ints,
    groups: int,
) -> Any:
    """One statement, in which matrices pick the elements of windows that are not views: windows of the data,
    or, of a transposed one, of the result, over which each element spreads.

    Args:
        more: the padding of a transposed one's result.
    """
    kernel, (batch, _, *sizes) = weight.shape[2:], x.shape
    count = len(kernel)
    windows = windows_of(sizes, kernel, stride, padding, dilation)
    if transposed:
        reach = [
            1 - 2 * w.padding[0] + w.dilation * (w.kernel - 1) + n
            for w, n in zip(windows, each_of(more, count), strict=True)
        ]
        sizes = [(w.size - 1) * w.stride + n for w, n in zip(windows, reach, strict=True)]
        windows = windows_of(sizes, kernel, stride, padding, dilation)
    sparse = are_mostly_outside(windows)
    equation, shape = convolved(windows, backwards=transposed)
    matrices = [
        window.spreading() if transposed else window.matrix(sparse=sparse)
        for window in windows
        if not window.is_view
    ]
    parts = (
        x.reshape(batch, groups, -1, *(x.shape[2:] if transposed else shape)),
        taken_apart(weight, 0, (groups, -1)),
    )
    made = contract(equation, *parts, *matrices)
    made = made.reshape(batch, -1, *(sizes if transposed else [window.count for window in windows]))
    return made if bias is None else made + spread(bias, count)


def named_convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Any = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    """One that is not transposed, whose data may lack a batch, and whose padding may have a name."""
    if x.dim() < weight.dim():
        return named_convolution(x[None], weight, bias, stride, padding, dilation, groups)[0]
    count = weight.dim() - 2
    wide = [d * (size - 1) for size, d in zip(weight.shape[2:], each_of(dilation, count), strict=True)]
    named = {"same": [(number // 2, number - number // 2) for number in wide], "valid": 0}
    padding = named[padding] if isinstance(padding, str) else padding
    return convolution(x, weight, bias, stride, padding, dilation, False, 0, groups)


decomposition("conv1d", "conv2d", "conv3d")(named_convolution)


# Pooling


def pooled_windows(
    sizes: Sequence[int],
    kernel: Ints,
    stride: Ints | None,
    padding: Ints,
    dilation: Ints = 1,
    *,
    ceil: bool = False,
) -> list[Windows]:
    """The windows along each dimension.

    Args:
        stride: that of the kernel where there is none.
        ceil: a last window that only begins within the data counts.
    """
    step = kernel if stride is None or stride == [] else stride
    found = windows_of(sizes, kernel, step, padding, dilation)
    return [window.with_last() for window in found] if ceil else found


def max_pool(
    count: int,
    x: Tensor,
    kernel: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil: bool = False,
) -> Tensor:
    """What lies outside of the data is some element of its window, which changes no maximum."""
    for n, window in enumerate(
        pooled_windows(x.shape[-count:], kernel, stride, padding, dilation, ceil=ceil), start=x.dim() - count
    ):
        first = window.places(window.size).amin(1, keepdim=True)
        x = window.of(x, n) if window.are_side_by_side else picked(x, n, window.places(first))
        x = x.amax(n + 1)
    return x


def avg_pool(
    count: int,
    x: Tensor,
    kernel: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil: bool = False,
    with_padding: bool = True,
    divisor: int | None = None,
) -> Tensor:
    windows = pooled_windows(x.shape[-count:], kernel, stride, padding, ceil=ceil)
    first = x.dim() - count
    if all(window.are_side_by_side for window in windows):
        for n, window in enumerate(windows):
            x = window.of(x, first + 2 * n)
        share = 1 / (divisor or math.prod(window.kernel for window in windows))
        return (x * share).sum([first + 2 * n + 1 for n in range(count)])
    for n, window in enumerate(windows, start=first):
        starts = torch.arange(window.count) * window.stride - window.padding[0]
        ends = starts + window.kernel
        # What a last window has beyond the padding never counts.
        edge = window.padding[0] if with_padding else 0
        number = ends.clamp_max(window.size + edge) - starts.clamp_min(-edge)
        x = averaged(x, n, starts, ends, divisor ** (1 / count) if divisor else number[:, None])
    return x


def averaged(x: Tensor, dim: int, starts: Tensor, ends: Tensor, numbers: Tensor | float) -> Any:
    """The sum of what stands from some places to others along a dimension, by a number of each."""
    places = torch.arange(x.shape[dim])
    inside = (places >= starts[:, None]) & (places < ends[:, None])
    return along(x, dim, stored(inside / numbers, "csr"))


def adaptive_parts(x: Tensor, size: Ints, count: int) -> list[tuple[int, int]]:
    """Along each of the last dimensions its extent, and into how many windows it is taken apart."""
    return list(zip(x.shape[-count:], each_of(size, count), strict=True))


def adaptive_max_pool(count: int, x: Tensor, size: Ints) -> tuple[Tensor, None]:
    for n, (have, want) in enumerate(adaptive_parts(x, size, count), start=x.dim() - count):
        if have % want:
            raise UnsupportedError(
                "pools windows of several sizes", "pool to a size that divides the image's"
            )
        x = taken_apart(x, n, (want, have // want)).amax(n + 1)
    return x, None


def adaptive_avg_pool(count: int, x: Tensor, size: Ints) -> Tensor:
    parts = adaptive_parts(x, size, count)
    if all(have % want == 0 for have, want in parts):
        return avg_pool(count, x, [have // want for have, want in parts])
    for n, (have, want) in enumerate(parts, start=x.dim() - count):
        starts = torch.arange(want) * have // want
        ends = -(-torch.arange(1, want + 1) * have // want)
        x = averaged(x, n, starts, ends, (ends - starts)[:, None])
    return x


for _count in (1, 2, 3):
    decomposition(f"max_pool{_count}d")(partial(max_pool, _count))
    decomposition(f"max_pool{_count}d_with_indices")(
        lambda *given, count=_count: (max_pool(count, *given), None)
    )
    decomposition(f"avg_pool{_count}d")(partial(avg_pool, _count))
    decomposition(f"adaptive_max_pool{_count}d")(partial(adaptive_max_pool, _count))
    decomposition(f"adaptive_avg_pool{_count}d", f"_adaptive_avg_pool{_count}d")(
        partial(adaptive_avg_pool, _count)
    )


@decomposition("convolution_backward")
def convolution_backward(
    slope: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    wanted: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """The gradients of what is given, of the weights and of the bias, each a convolution itself."""
    spans = [gap * (size - 1) for gap, size in zip(dilation, weight.shape[2:], strict=True)]
    found: list[Tensor | None] = [None] * 3
    if wanted[0]:
        reached = [
            (size - 1) * step - 2 * pad + span + 1
            for size, step, pad, span in zip(slope.shape[2:], stride, padding, spans, strict=True)
        ]
        rest = (
            [0] * len(spans)
            if transposed
            else [n - have for n, have in zip(x.shape[2:], reached, strict=True)]
        )
        found[0] = torch.convolution(
            slope, weight, None, stride, padding, dilation, not transposed, rest, groups
        )
    if wanted[1]:
        # Elements of a batch are its channels, and what moves by a stride are its weights.
        long, short = (slope, x) if transposed else (x, slope)
        parts = [
            torch.convolution(
                one.transpose(0, 1),
                other.transpose(0, 1),
                None,
                dilation,
                padding,
                stride,
                False,
                [0] * len(spans),
                1,
            )
            for one, other in zip(long.chunk(groups, 1), short.chunk(groups, 1), strict=True)
        ]
        made = torch.cat(parts, 1).transpose(0, 1)
        for dim, size in enumerate(weight.shape[2:], 2):
            made = made.narrow(dim, 0, size)
        found[1] = made
    if wanted[2]:
        found[2] = slope.sum([0, *range(2, slope.dim())])
    return tuple(found)
