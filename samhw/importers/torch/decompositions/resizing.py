"""Views that move elements: padding, upsampling, diagonals, and tensors in the order of memory. Along each
dimension elements at known places are picked, or it is a product with a constant matrix."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from samhw.importers.core import GREATEST_MASKED, UnsupportedError, letters
from samhw.importers.torch.decompositions.windows import along
from samhw.importers.torch.own_operators import NOTHING, contract, hot, picked, stored
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []


@decomposition("flip")
def flip(x: Tensor, dims: Sequence[int]) -> Tensor:
    for dim in dims:
        x = picked(x, dim, torch.arange(x.shape[dim] - 1, -1, -1))
    return x


# Padding


def _pads(padding: Sequence[int]) -> list[tuple[int, int, int]]:
    """Dimensions, from the last one on, with how many elements stand before and after what there is."""
    pairs = zip(padding[::2], padding[1::2], strict=True)
    return [(-1 - n, before, behind) for n, (before, behind) in enumerate(pairs)]


@decomposition("constant_pad_nd")
def constant_pad(x: Tensor, padding: Sequence[int], number: float = 0) -> Tensor:
    """Negative paddings cut."""
    for dim, before, behind in _pads(padding):
        x = x.narrow(dim, max(-before, 0), x.shape[dim] + min(before, 0) + min(behind, 0))
    inside, grown = torch.ones_like(x, device="cpu"), [max(each, 0) for each in padding]
    for dim, before, behind in _pads(grown):
        if before or behind:
            places = torch.arange(-before, x.shape[dim] + behind)
            x = picked(x, dim, torch.where((places < 0) | (places >= x.shape[dim]), NOTHING, places))
    if not number:
        return x
    shown = F.pad(inside, grown).bool()
    return (
        torch.where(shown, x, number)
        if number <= GREATEST_MASKED
        else x + torch.where(shown, 0.0, float(number))
    )


@decomposition("_pad_circular")
def circular_pad(x: Tensor, padding: Sequence[int]) -> Tensor:
    for dim, before, behind in _pads(padding):
        x = picked(x, dim, torch.arange(-before, x.shape[dim] + behind) % x.shape[dim])
    return x


# Other sizes

Scale = float | Sequence[float] | None
"""Of one dimension, or of all of them; none where the sizes say it."""

Stretch = Callable[[Tensor, int, float | None], Tensor]
"""Of PyTorch, along the last dimension, to a length, by a scale if there is one."""


def resized(
    stretch: Stretch, x: Tensor, size: Sequence[int] | None, *scales: Scale, nearest: bool = False
) -> Tensor:
    """All dimensions but the first two in other sizes; each is linear in what there is, so that the matrix is
    what PyTorch makes of an identity.

    Args:
        size: none where the scales say it.
        scales: one for each dimension, or a list of them; none where the sizes say it.
    """
    flat: list[float | None] = []
    for given in scales:
        flat += given if isinstance(given, Sequence) else [given]
    each = flat if any(flat) else [None] * (x.dim() - 2)
    want = size or [int(one * (scale or 1)) for one, scale in zip(x.shape[2:], each, strict=True)]
    for dim, (length, scale) in enumerate(zip(want, each, strict=True), start=2):
        have = x.shape[dim]
        if have == length and scale in (None, 1):
            continue
        if nearest and length % have == 0 and scale in (None, length // have):
            x = x.repeat_interleave(length // have, dim)
        elif nearest:
            x = picked(
                x, dim, stretch(torch.arange(have).double()[None, None], length, scale).flatten().long()
            )
        else:
            held = stretch(torch.eye(have, dtype=torch.float64)[None], length, scale)[0].T
            x = along(x, dim, stored(held.float(), "csr"))
    return x


@decomposition("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def nearest(x: Tensor, size: Sequence[int] | None, *scales: Scale) -> Tensor:
    def stretched(x: Tensor, length: int, scale: float | None) -> Any:
        return torch.ops.aten.upsample_nearest1d(x, [length], scale)

    return resized(stretched, x, size, *scales, nearest=True)


@decomposition("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")
def linear(x: Tensor, size: Sequence[int] | None, corners: bool, *scales: Scale) -> Tensor:
    def stretched(x: Tensor, length: int, scale: float | None) -> Any:
        return torch.ops.aten.upsample_linear1d(x, [length], corners, scale)

    return resized(stretched, x, size, *scales)


def smooth(resize: Any, x: Tensor, size: Sequence[int] | None, corners: bool, *scales: Scale) -> Tensor:
    """PyTorch has these of two dimensions alone: one of them stays as it is."""

    def stretched(x: Tensor, length: int, scale: float | None) -> Any:
        return resize(x[None], [x.shape[1], length], corners, None, scale)[0]

    return resized(stretched, x, size, *scales)


for _name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "upsample_bicubic2d"):
    decomposition(_name)(partial(smooth, getattr(torch.ops.aten, _name)))


# Diagonals: products with constants that have a one for each of their elements


@decomposition("diagonal")
def diagonal(x: Tensor, offset: int = 0, one: int = 0, other: int = 1) -> Any:
    """The diagonal of two dimensions stands in the last one."""
    one, other, own = one % x.dim(), other % x.dim(), letters(x.dim())
    ones = _ones(x.shape[one], x.shape[other], offset)
    rest = "".join(letter for dim, letter in enumerate(own) if dim not in (one, other))
    return contract(f"Z{own[one]}{own[other]},{own}->{rest}Z", ones, x)


@decomposition("diag_embed")
def diag_embed(x: Tensor, offset: int = 0, one: int = -2, other: int = -1) -> Any:
    """The last dimension becomes the diagonal of two."""
    rank = x.dim() + 1
    size, left = x.shape[-1] + abs(offset), iter(letters(x.dim() - 1))
    names = {one % rank: "X", other % rank: "Y"}
    out = "".join(names.get(dim) or next(left) for dim in range(rank))
    return contract(f"ZXY,{letters(x.dim() - 1)}Z->{out}", _ones(size, size, offset), x)


def _ones(rows: int, columns: int, offset: int) -> Any:
    """A one at row and column of each element of the diagonal."""
    first, second = max(-offset, 0), max(offset, 0)
    places = torch.arange(min(rows - first, columns - second))
    return hot(places + first, places + second, sizes=[rows, columns])


# Memory


@decomposition("as_strided", "as_strided_copy")
def as_strided(x: Tensor, sizes: Sequence[int], strides: Sequence[int], start: int | None = None) -> Tensor:
    """Windows of what lies in memory. Dimensions stand by their strides, those of the data and those of the
    result; the outermost and innermost ones that are the same in both stay as they are."""
    have = sorted((dim for dim, size in enumerate(x.shape) if size > 1), key=lambda dim: -x.stride()[dim])
    kept: list[int] = [x.shape[dim] for dim in have]
    if [x.stride(dim) for dim in have] != [math.prod(kept[n + 1 :]) for n in range(len(kept))]:
        raise UnsupportedError("reads memory that its tensor does not fill", "call contiguous() first")
    want = sorted((dim for dim, size in enumerate(sizes) if size > 1), key=lambda dim: -strides[dim])
    before = [(x.shape[dim], x.stride(dim)) for dim in have]
    after = [(sizes[dim], strides[dim]) for dim in want]
    first = 0 if start is None else start - int(x.storage_offset())
    outer, inner = _ends(before, after, first)
    held, behind = math.prod(kept[outer : len(kept) - inner]), math.prod(kept[len(kept) - inner :])
    moved = after[outer : len(after) - inner]
    if (
        not 0
        <= first // behind
        <= first // behind + sum((n - 1) * step // behind for n, step in moved)
        < held
    ):
        raise UnsupportedError("reads memory beyond its tensor", "take slices of a larger tensor")
    places = torch.full((), first // behind)
    for size, step in moved:
        places = places[..., None] + torch.arange(size) * (step // behind)
    alone = [dim for dim in range(x.dim()) if dim not in have]
    x = x.permute(*have, *alone).reshape(*kept[:outer], held, *kept[len(kept) - inner :])
    if before != after or first:
        x = picked(x, outer, places.flatten())
    x = x.reshape([size for size, _ in after])
    for dim in (dim for dim, size in enumerate(sizes) if size == 1):
        want.append(dim)
        x = x.unsqueeze(-1)
    return x.permute([want.index(dim) for dim in range(len(sizes))])


def _ends(before: list[tuple[int, int]], after: list[tuple[int, int]], first: int) -> tuple[int, int]:
    """How many of the outermost and of the innermost dimensions, each a size and a stride, a view of memory
    leaves as they are."""
    least = min(len(before), len(after))
    inner = 0
    while inner < least and before[-1 - inner] == after[-1 - inner]:
        inner += 1
    while inner and any(
        n % math.prod(size for size, _ in before[len(before) - inner :])
        for n in (first, *(stride for _, stride in after[: len(after) - inner]))
    ):
        inner -= 1
    outer = 0
    while outer < least - inner and before[outer] == after[outer]:
        outer += 1
    block = math.prod(size for size, _ in before[outer:])
    reach = first + sum((size - 1) * stride for size, stride in after[outer:])
    return (outer if reach < block else 0), inner
