"""Padding and upsampling: along each dimension a view, elements at known places, or a product with a constant
matrix."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from samhw.importers.core import Hints, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Known

__all__: list[str] = []

Scale = float | Sequence[float] | None
"""Of one dimension, or of all of them; none where the sizes say it."""

Pads = list[tuple[int, int, int]]
"""Dimensions, from the last one on, with how many elements stand before and behind what there is."""


def _pads(padding: Sequence[int]) -> Pads:
    pairs = zip(padding[::2], padding[1::2], strict=True)
    return [(-1 - n, before, behind) for n, (before, behind) in enumerate(pairs)]


@operator("constant_pad_nd")
def import_pad(importer: Importer, x: Operand, padding: Sequence[int], number: float = 0) -> Value:
    """Negative paddings cut."""
    x = importer.value(x)
    for dim, before, behind in _pads(padding):
        size = importer.build.shape(x)[dim] + min(before, 0) + min(behind, 0)
        x = importer.views.slice(x, dim, max(-before, 0), size)
        before, behind = max(before, 0), max(behind, 0)
        if before or behind:
            x = importer.views.index_select(x, dim, range(-before, size + behind))
    if not number:
        return x
    padded = importer.build.shape(x)
    inside = torch.ones([n - max(b, 0) - max(e, 0) for n, b, e in _by_dimension(padded, padding)])
    grown = [max(each, 0) for each in padding]
    if importer.masks.is_minus_infinity(number):
        return importer.masks.masked(x, Known(F.pad(inside, grown).bool(), "inside"))
    border = Known(F.pad(torch.zeros_like(inside), grown, value=float(number)), "border")
    return importer.elementwise(lambda e, b: e + b, x, border)


def _by_dimension(shape: Sequence[int], padding: Sequence[int]) -> list[tuple[int, int, int]]:
    """Each size with its padding."""
    pads = {dim % len(shape): (before, behind) for dim, before, behind in _pads(padding)}
    return [(size, *pads.get(dim, (0, 0))) for dim, size in enumerate(shape)]


@operator(*(f"{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (1, 2, 3)), "_pad_circular")
def import_repeating_pad(importer: Importer, x: Operand, padding: Sequence[int]) -> Value:
    x = importer.value(x)
    modes = {"reflection": "reflect", "replication": "replicate", "circular": "circular"}
    (mode,) = (mode for name, mode in modes.items() if name in importer.operator)
    for dim, before, behind in _pads(padding):
        places = torch.arange(importer.build.shape(x)[dim]).double()[None]
        padded = F.pad(places, (before, behind), mode=mode)[0]
        x = importer.views.index_select(x, dim, [int(place) for place in padded])
    return x


@operator("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def import_nearest(importer: Importer, x: Operand, size: Sequence[int] | None, *scales: Scale) -> Value:
    def stretched(eye: torch.Tensor, length: int, scale: float | None) -> torch.Tensor:
        found: torch.Tensor = torch.ops.aten.upsample_nearest1d(eye, [length], scale)
        return found

    return _resized(importer, importer.value(x), size, scales, stretched, is_nearest=True)


@operator("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")
def import_linear(
    importer: Importer, x: Operand, size: Sequence[int] | None, corners: bool, *scales: Scale
) -> Value:
    def stretched(eye: torch.Tensor, length: int, scale: float | None) -> torch.Tensor:
        found: torch.Tensor = torch.ops.aten.upsample_linear1d(eye, [length], corners, scale)
        return found

    return _resized(importer, importer.value(x), size, scales, stretched)


@operator("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "upsample_bicubic2d")
def import_smooth(
    importer: Importer, x: Operand, size: Sequence[int] | None, corners: bool, *scales: Scale
) -> Value:
    """PyTorch has these of two dimensions alone: one of them stays as it is."""
    resize = getattr(torch.ops.aten, importer.operator.removeprefix("aten."))

    def stretched(eye: torch.Tensor, length: int, scale: float | None) -> torch.Tensor:
        found: torch.Tensor = resize(eye[None], [eye.shape[1], length], corners, None, scale)[0]
        return found

    return _resized(importer, importer.value(x), size, scales, stretched)


Stretch = Callable[[torch.Tensor, int, float | None], torch.Tensor]
"""Of PyTorch, along the last dimension, to a length, by a scale if there is one."""


def _resized(
    importer: Importer,
    x: Value,
    size: Sequence[int] | None,
    scales: Sequence[Scale],
    stretch: Stretch,
    *,
    is_nearest: bool = False,
) -> Value:
    """All dimensions but the first two in other sizes; each is linear in what there is, so that the matrix is
    what PyTorch makes of an identity.

    Args:
        size: none where the scales say it.
        scales: one for each dimension, or a list of them; none where the sizes say it.
    """
    have = importer.build.shape(x)[2:]
    flat: list[float | None] = []
    for given in scales:
        flat += given if isinstance(given, Sequence) else [given]
    each = flat if any(flat) else [None] * len(have)
    want = size or [int(one * (scale or 1)) for one, scale in zip(have, each, strict=True)]
    for n, (one, length, scale) in enumerate(zip(have, want, each, strict=True)):
        if is_nearest and length % one == 0 and scale in (None, length // one):
            x = importer.views.repeat_interleave(x, n + 2, length // one)
        elif is_nearest and (one != length or scale not in (None, 1)):
            places = stretch(torch.arange(one, dtype=torch.float64)[None, None], length, scale)
            x = importer.views.index_select(x, n + 2, [int(place) for place in places.flatten()])
        elif one != length or scale not in (None, 1):
            held = stretch(torch.eye(one, dtype=torch.float64)[None], length, scale)[0].T.float().contiguous()
            x = importer.views.product_along(x, n + 2, importer.constant(held, "resize", Hints("csr")))
    return x
