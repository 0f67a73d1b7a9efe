"""Windows along dimensions: views where they lie side by side, else products with constant matrices."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import torch

from samhw.importers.core import Hints, UnsupportedError, Value, contract
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Ints, Operand
from samhw.importers.torch.registry import operator

__all__ = ["Pads", "Windows", "are_mostly_outside", "each_of", "parted"]

Pads = tuple[int, int]


def each_of(number: Ints, count: int) -> list[int]:
    """A number for each of so many dimensions."""
    given = [number] if isinstance(number, int) else list(number)
    return given * count if len(given) == 1 else given


@dataclass(frozen=True)
class Windows:
    """The windows along a dimension."""

    size: int
    kernel: int
    stride: int
    padding: Pads
    dilation: int

    @property
    def count(self) -> int:
        reach = self.dilation * (self.kernel - 1) + 1
        return (self.size + sum(self.padding) - reach) // self.stride + 1

    @property
    def is_view(self) -> bool:
        """Whether they lie side by side."""
        alone = self.kernel == 1 or self.dilation == 1
        return (
            alone
            and not any(self.padding)
            and self.stride == self.kernel
            and self.count * self.kernel == self.size
        )

    @property
    def is_side_by_side(self) -> bool:
        """Whether they are views of the data, but for what is left behind the last one."""
        return self.dilation == 1 and not any(self.padding) and self.stride == self.kernel

    @property
    def sizes(self) -> list[int]:
        return [self.count, self.kernel] if self.is_view else [self.size]

    @property
    def inside(self) -> float:
        """The share of the elements of all windows that lie in the data."""
        places = [place for window in range(self.count) for place in self.places(window)]
        return sum(0 <= place < self.size for place in places) / max(1, len(places))

    def matrix(self, importer: Importer, *, repeated: bool = False, sparse: bool = False) -> Value:
        """Of shape (windows, kernel, size): a one where a window's element lies.

        Each row stores one element, be it zero, so that what the matrix selects is picked and not summed.

        Args:
            repeated: in the place of what lies outside of the data, some element of the window, which changes
                no maximum.
            sparse: only what lies in the data is stored, and multiplied (`are_mostly_outside`).
        """
        coords: list[tuple[int, int, int]] = []
        values: list[float] = []
        for window in range(self.count):
            places = self.places(window)
            inside = [place for place in places if 0 <= place < self.size]
            for n, place in enumerate(places):
                is_inside = 0 <= place < self.size
                if is_inside or not sparse:
                    coords.append((window, n, place if is_inside else (inside or [0])[0]))
                    values.append(float(is_inside or repeated))
        shape = (self.count, self.kernel, self.size)
        parts = torch.tensor(coords, dtype=torch.int64).reshape(-1, 3).T, torch.tensor(values)
        held = torch.sparse_coo_tensor(*parts, shape, check_invariants=True).coalesce()
        levels = "dense, compressed, compressed" if sparse else "dense, dense, singleton"
        return importer.constant(held, "windows", Hints(f"({levels})"))

    def places(self, window: int) -> list[int]:
        """Where the elements of a window lie."""
        first = window * self.stride - self.padding[0]
        return [first + n * self.dilation for n in range(self.kernel)]


def are_mostly_outside(windows: Sequence[Windows]) -> bool:
    """Whether so little of windows along several dimensions lies in the data that it takes fewer cycles to
    add up what does, some two for each element, than to pick zeros for the rest, one for each."""
    return prod(window.inside for window in windows) < 0.45


def parted(importer: Importer, x: Value, dim: int, window: Windows) -> Value:
    """A mode as windows and what is in them: a view."""
    x = importer.views.slice(x, dim, 0, window.count * window.kernel)
    shape = importer.build.shape(x)
    return importer.views.view(x, [*shape[:dim], window.count, window.kernel, *shape[dim + 1 :]])


def _along(importer: Importer, x: Value, dim: int, window: Windows) -> Value:
    """A mode as windows and what is in them."""
    if window.is_side_by_side:
        return parted(importer, x, dim, window)
    return importer.views.product_along(x, dim, window.matrix(importer, sparse=are_mostly_outside([window])))


@operator("unfold")
def import_unfold(importer: Importer, x: Operand, dim: int, size: int, step: int) -> Value:
    """Windows along a dimension; what is in them stands in the last one."""
    made = importer.value(x)
    if not made.modes:
        return importer.views.view(made, [1])
    dim %= len(made.modes)
    made = _along(importer, made, dim, Windows(importer.build.shape(made)[dim], size, step, (0, 0), 1))
    return replace(made, modes=(*made.modes[: dim + 1], *made.modes[dim + 2 :], made.modes[dim + 1]))


@operator("im2col")
def import_im2col(
    importer: Importer, x: Operand, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> Value:
    """Windows of images (batch.., channels, rows, columns), as columns."""
    made = importer.value(x)
    *batch, channels, rows, columns = importer.build.shape(made)
    kernels, dilations, pads, steps = (each_of(n, 2) for n in (kernel, dilation, padding, stride))
    windows = [
        Windows(size, k, step, (pad, pad), d)
        for size, k, d, pad, step in zip((rows, columns), kernels, dilations, pads, steps, strict=True)
    ]
    rank = len(batch)
    made = _along(importer, made, rank + 1, windows[0])
    made = _along(importer, made, rank + 3, windows[1])
    order = [*range(rank + 1), rank + 2, rank + 4, rank + 1, rank + 3]
    made = replace(made, modes=tuple(made.modes[dim] for dim in order))
    count = windows[0].count * windows[1].count
    return importer.views.view(made, [*batch, channels * kernels[0] * kernels[1], count])


@operator("col2im")
def import_col2im(
    importer: Importer,
    x: Operand,
    size: Ints,
    kernel: Ints,
    dilation: Ints,
    padding: Ints,
    stride: Ints,
) -> Value:
    """The sum of windows (batch.., channels and places in a window, windows) where they lie in images."""
    made = importer.value(x)
    *batch, channels, _ = importer.build.shape(made)
    sizes, kernels, dilations, pads, steps = (
        each_of(n, 2) for n in (size, kernel, dilation, padding, stride)
    )
    windows = [
        Windows(one, k, step, (pad, pad), d)
        for one, k, d, pad, step in zip(sizes, kernels, dilations, pads, steps, strict=True)
    ]
    counts = [window.count for window in windows]
    made = importer.views.view(made, [*batch, channels // prod(kernels), *kernels, *counts])
    matrices = [window.matrix(importer) for window in windows]
    own = "abcd"[: len(batch) + 1]
    found = contract(importer.tensors, f"LKY,{own}KkLl->{own}Ykl", matrices[0], made)
    return contract(importer.tensors, f"lkX,{own}Ykl->{own}YX", matrices[1], found)


@operator("as_strided", "as_strided_copy")
def import_as_strided(
    importer: Importer, x: Operand, sizes: Sequence[int], strides: Sequence[int], start: int | None = None
) -> Value:
    """Windows of what lies in memory. Dimensions stand by their strides, those of the data and those of the
    result; the outermost and innermost ones that are the same in both stay as they are."""
    made, memory = importer.value(x), importer.memory
    shape = importer.build.shape(made)
    if memory is None or (have := _by_stride(shape, memory.strides)) is None:
        raise UnsupportedError("reads memory that its tensor does not fill", "call contiguous() first")
    want = sorted((dim for dim, size in enumerate(sizes) if size > 1), key=lambda dim: -strides[dim])
    before = [(shape[dim], memory.strides[dim]) for dim in have]
    after = [(sizes[dim], strides[dim]) for dim in want]
    first = 0 if start is None else start - memory.start
    outer, inner = _ends(before, after, first)
    kept = [size for size, _ in before]
    held, behind = prod(kept[outer : len(kept) - inner]), prod(kept[len(kept) - inner :])
    places = torch.tensor(first // behind)
    for size, stride in after[outer : len(after) - inner]:
        places = places[..., None] + torch.arange(size) * (stride // behind)
    if bool(((places < 0) | (places >= held)).any()):
        raise UnsupportedError("reads memory beyond its tensor", "take slices of a larger tensor")
    made = replace(made, modes=tuple(made.modes[dim] for dim in have))
    made = importer.views.view(made, [*kept[:outer], held, *kept[len(kept) - inner :]])
    flat = places.flatten().tolist()
    if flat != list(range(held)):
        made = importer.views.index_select(made, outer, flat)
    made = importer.views.view(made, [size for size, _ in after])
    modes = dict(zip(want, made.modes, strict=True))
    return replace(made, modes=tuple(modes.get(dim, ()) for dim in range(len(sizes))))


def _by_stride(shape: Sequence[int], strides: Sequence[int]) -> list[int] | None:
    """The dimensions of more than one element, outermost first, of a tensor that fills its memory."""
    dims = sorted((dim for dim, size in enumerate(shape) if size > 1), key=lambda dim: -strides[dim])
    sizes = [shape[dim] for dim in dims]
    is_full = [strides[dim] for dim in dims] == [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    return dims if is_full else None


def _ends(before: list[tuple[int, int]], after: list[tuple[int, int]], first: int) -> tuple[int, int]:
    """How many of the outermost and of the innermost dimensions, each a size and a stride, a view of memory
    leaves as they are."""
    least = min(len(before), len(after))
    inner = 0
    while inner < least and before[-1 - inner] == after[-1 - inner]:
        inner += 1
    while inner and any(
        n % prod(size for size, _ in before[len(before) - inner :])
        for n in (first, *(stride for _, stride in after[: len(after) - inner]))
    ):
        inner -= 1
    outer = 0
    while outer < least - inner and before[outer] == after[outer]:
        outer += 1
    block = prod(size for size, _ in before[outer:])
    reach = first + sum((size - 1) * stride for size, stride in after[outer:])
    return (outer if reach < block else 0), inner
