"""Fourier transforms of small extents: products with constant matrices of cosines and sines."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.complex_pair import Complex, as_complex, is_zero, minus, plus, zeros
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.complex_numbers import complex_operator
from samhw.importers.torch.value import Known

__all__: list[str] = []

LARGEST = 1_024
"""Elements along a dimension that are transformed. The work is their square."""

_BY_ROOT, _BY_COUNT = 1, 2
"""The scales by their numbers; 0 is none."""


@complex_operator("_fft_r2c")
def import_real_transform(
    importer: Importer, x: Operand, dims: Sequence[int], scale: int, onesided: bool
) -> Complex:
    """Of real numbers: along the last one of the dimensions, and then along the others."""
    shape = importer.shape(x)
    *others, last = dims
    size = shape[last]
    count = size // 2 + 1 if onesided else size
    cosines, sines = _waves(count, size)
    factor = _factor([shape[dim] for dim in dims], scale)
    held = importer.materialized(x)
    found = Complex(
        _along(importer, held, last, cosines * factor), _along(importer, held, last, sines * -factor)
    )
    return _turned(importer, found, others, -1)


@complex_operator("_fft_c2c")
def import_transform(importer: Importer, x: Any, dims: Sequence[int], scale: int, forward: bool) -> Complex:
    found = as_complex(importer, x)
    shape = importer.shape(found.real)
    factor = _factor([shape[dim] for dim in dims], scale)
    return _turned(importer, found, dims, -1 if forward else 1, factor)


@complex_operator("_fft_c2r")
def import_transform_to_real(
    importer: Importer, x: Any, dims: Sequence[int], scale: int, size: int
) -> Operand:
    """Back to so many real numbers along the last one of the dimensions, of the half that there is: what
    belongs to the other half is its mirror image."""
    found = as_complex(importer, x)
    shape = importer.shape(found.real)
    *others, last = dims
    count = shape[last]
    found = _turned(importer, found, others, 1)
    times = torch.full((count,), 2.0, dtype=torch.float64)
    times[0] = 1
    if size % 2 == 0 and size // 2 < count:
        times[size // 2] = 1
    times *= _factor([*(shape[dim] for dim in others), size], scale)
    cosines, sines = _waves(size, size)
    real = _along(importer, found.real, last, cosines[:, :count] * times)
    return minus(importer, real, _along(importer, found.imag, last, sines[:, :count] * times))


@complex_operator("stft")
def import_spectrogram(
    importer: Importer,
    x: Operand,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Operand | None = None,
    *flags: Any,
    **_: object,
) -> Complex:
    """The transforms of windows along a signal: frequencies, and behind them windows.

    Args:
        flags: whether all is divided by the root of n_fft, and whether mirror images are left out; before
            these, in one of PyTorch's two forms, whether and how the signal is padded first.
    """
    if len(flags) > 1 and isinstance(flags[1], str):
        if flags[0]:
            raise UnsupportedError("pads its signal", "pad it before (F.pad), and give center=False")
        flags = flags[2:]
    normalized = bool(flags) and bool(flags[0])
    half = len(flags) < 2 or flags[1] is None or bool(flags[1])
    frames = importer.call("unfold", x, -1, n_fft, hop_length or n_fft // 4)
    shown = win_length or n_fft
    window = Known(torch.ones(shown), "window") if window is None else window
    before = (n_fft - shown) // 2
    weights = importer.call("constant_pad_nd", window, [before, n_fft - shown - before])
    assert isinstance(frames, Value)
    assert isinstance(weights, Value)
    weighted = importer.elementwise(lambda e, w: e * w, frames, weights)
    last = len(weighted.modes) - 1
    scale = _BY_ROOT if normalized else 0
    found = import_real_transform(importer, weighted, [last], scale, half)
    return Complex(_transposed(importer, found.real), _transposed(importer, found.imag))


def _transposed(importer: Importer, x: Operand) -> Value:
    found = importer.call("transpose", importer.value(x), -1, -2)
    assert isinstance(found, Value)
    return found


def _turned(importer: Importer, x: Complex, dims: Sequence[int], sign: int, factor: float = 1.0) -> Complex:
    """Transformed along dimensions, forward by the sign -1."""
    for n, dim in enumerate(dims):
        size = importer.shape(x.real)[dim]
        cosines, sines = (wave * (1.0 if n else factor) for wave in _waves(size, size))
        parts = [part if is_zero(part) else importer.materialized(part) for part in (x.real, x.imag)]
        (cc, ss), (cs, sc) = (
            [_along(importer, part, dim, wave) for part, wave in zip(parts, waves, strict=True)]
            for waves in ((cosines, sines * sign), (sines * sign, cosines))
        )
        x = Complex(minus(importer, cc, ss), plus(importer, cs, sc))
    return x


def _along(importer: Importer, x: Operand, dim: int, matrix: torch.Tensor) -> Operand:
    """The product of a matrix with what stands along a dimension."""
    shape = importer.shape(x)
    if is_zero(x):
        shape[dim] = matrix.shape[0]
        return zeros(shape)
    held = importer.constant(matrix.contiguous(), f"waves_{matrix.shape[1]}")
    return importer.views.product_along(importer.value(x), dim, held)


def _waves(count: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The cosines and sines of so many frequencies at so many places.

    Raises:
        UnsupportedError: for more places than is sensible.
    """
    if size > LARGEST:
        raise UnsupportedError(
            f"transforms {size:,} elements as a product with a matrix of {size:,} x {size:,}, and "
            f"{LARGEST:,} are the most",
            "transform before, or in parts",
        )
    turns = torch.outer(torch.arange(count), torch.arange(size)) % size
    angles = turns.double() * (2 * math.pi / size)
    return angles.cos(), angles.sin()


def _factor(sizes: Sequence[int], scale: int) -> float:
    """What all is multiplied by."""
    count = math.prod(sizes)
    return {_BY_ROOT: 1 / math.sqrt(count), _BY_COUNT: 1 / count}.get(scale, 1.0)
