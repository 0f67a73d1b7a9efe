"""Complex numbers by their parts, and Fourier transforms of small extents, as products with matrices of
cosines and sines."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from samhw.importers.core import UnsupportedError
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []


def _parts(x: Any) -> tuple[Any, Any]:
    """Real and imaginary part of a tensor or a number; no imaginary one of what is real."""
    if isinstance(x, Tensor) and x.dtype.is_complex:
        pairs = torch.view_as_real(x)
        return pairs.select(-1, 0), pairs.select(-1, 1)
    return (x.real, x.imag) if isinstance(x, complex) else (x, None)


def _multiplied(multiply: Callable[[Any, Any], Tensor], a: Any, b: Any) -> Any:
    """Four real products, or two with what is real."""
    (p, q), (r, s) = _parts(a), _parts(b)
    if s is None:
        return torch.complex(multiply(p, r), multiply(q, r))
    if q is None:
        return torch.complex(multiply(p, r), multiply(p, s))
    return torch.complex(multiply(p, r) - multiply(q, s), multiply(p, s) + multiply(q, r))


for _name in ("mul", "matmul", "mm", "bmm", "mv", "dot", "outer"):
    decomposition(_name, of_complex=True)(partial(_multiplied, getattr(torch, _name)))


@decomposition("linear", of_complex=True)
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    found = x @ weight.mT
    return found if bias is None else found + bias


@decomposition("addmm", "baddbmm", "addmv", of_complex=True)
def addmm(c: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    found: Tensor = c * beta + a @ b * alpha
    return found


@decomposition("reciprocal", of_complex=True)
def reciprocal(x: Tensor) -> Any:
    real, imag = _parts(x)
    size = real * real + imag * imag
    return torch.complex(real / size, -imag / size)


@decomposition("pow", of_complex=True)
def power(x: Tensor, exponent: Any) -> Any:
    """By a whole number it is a product, and else of its size and its angle."""
    if isinstance(exponent, float | int) and exponent == int(exponent) and 0 < exponent <= 16:
        found = x
        for _ in range(int(exponent) - 1):
            found = found * x
        return found
    return torch.polar(x.abs() ** exponent, x.angle() * exponent)


@decomposition("log", of_complex=True)
def complex_log(x: Tensor) -> Tensor:
    return torch.complex(x.abs().log(), x.angle())


@decomposition("sqrt", of_complex=True)
def complex_sqrt(x: Tensor) -> Tensor:
    """That with the real part above 0."""
    return torch.polar(x.abs().sqrt(), x.angle() * 0.5)


@decomposition("tanh", of_complex=True)
def complex_tanh(x: Tensor) -> Tensor:
    """By functions of twice the parts, of which no exponential overflows."""
    real, imag = _parts(x)
    small = (real.abs() * -2).exp()
    below = 1 + small * small + 2 * small * (2 * imag).cos()
    size = torch.where(real < 0, -1.0, 1.0) * (1 - small * small)
    return torch.complex(size / below, 2 * small * (2 * imag).sin() / below)


@decomposition("einsum", of_complex=True)
def einsum(equation: str, operands: Sequence[Tensor], **_: Any) -> Any:
    if len(operands) > 2:
        raise UnsupportedError("is an einsum of more than two complex tensors", "write several of two")
    if len(operands) == 1:
        return torch.complex(*(torch.einsum(equation, part) for part in _parts(operands[0])))
    return _multiplied(lambda a, b: torch.einsum(equation, a, b), *operands)


@decomposition("div", of_complex=True)
def div(a: Any, b: Any, **_: Any) -> Any:
    (p, q), (r, s) = _parts(a), _parts(b)
    if s is None:
        return torch.complex(p / r, q / r)
    size, q = r * r + s * s, 0 * p if q is None else q
    return torch.complex((p * r + q * s) / size, (q * r - p * s) / size)


@decomposition("polar")
def polar(size: Tensor, angle: Tensor) -> Tensor:
    return torch.complex(size * angle.cos(), size * angle.sin())


@decomposition("abs", of_complex=True)
def complex_abs(x: Tensor) -> Any:
    return torch.hypot(*_parts(x))


@decomposition("angle")
def angle(x: Tensor) -> Tensor:
    real, imag = _parts(x)
    return torch.where(real < 0, math.pi, 0.0) if imag is None else torch.atan2(imag, real)


@decomposition("exp", of_complex=True)
def complex_exp(x: Tensor) -> Tensor:
    real, imag = _parts(x)
    return torch.complex(real.exp() * imag.cos(), real.exp() * imag.sin())


# Fourier transforms of small extents, as products with matrices of cosines and sines

LARGEST = 1_024
"""Elements along a dimension that are transformed. The work is their square."""


def _waves(count: int, size: int) -> tuple[Tensor, Tensor]:
    """The cosines and sines of this many frequencies at this many places.

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


def _along(x: Tensor, dim: int, matrix: Tensor) -> Tensor:
    """The product of a matrix with what stands along a dimension."""
    return (x.double().movedim(dim, -1) @ matrix.T).movedim(-1, dim).contiguous().to(x.dtype)


def _turned(x: Tensor, dims: Sequence[int], sign: int, factor: float = 1.0) -> Tensor:
    """Transformed along dimensions, forward by the sign -1."""
    for n, dim in enumerate(dims):
        cosines, sines = (wave * (1.0 if n else factor) for wave in _waves(x.shape[dim], x.shape[dim]))
        sines = sines * sign
        real, imag = _parts(x)
        x = torch.complex(
            _along(real, dim, cosines) - _along(imag, dim, sines),
            _along(real, dim, sines) + _along(imag, dim, cosines),
        )
    return x


def _factor(sizes: Sequence[int], scale: int) -> float:
    """What all is multiplied by: 1, 1 by the root of the number of elements, or 1 by the number."""
    return float(math.prod(sizes) ** (0.0, -0.5, -1.0)[scale])


@decomposition("_fft_r2c")
def real_transform(x: Tensor, dims: Sequence[int], scale: int, onesided: bool) -> Tensor:
    """Of real numbers: along the last one of the dimensions, and then along the others."""
    *others, last = dims
    size = x.shape[last]
    cosines, sines = _waves(size // 2 + 1 if onesided else size, size)
    factor = _factor([x.shape[dim] for dim in dims], scale)
    return _turned(
        torch.complex(_along(x, last, cosines * factor), _along(x, last, sines * -factor)), others, -1
    )


@decomposition("_fft_c2c")
def transform(x: Tensor, dims: Sequence[int], scale: int, forward: bool) -> Tensor:
    return _turned(x, dims, -1 if forward else 1, _factor([x.shape[dim] for dim in dims], scale))


@decomposition("_fft_c2r")
def transform_to_real(x: Tensor, dims: Sequence[int], scale: int, size: int) -> Tensor:
    """Back to this many real numbers along the last one of the dimensions, of the half that there is: what
    belongs to the other half is its mirror image."""
    *others, last = dims
    count = x.shape[last]
    places = torch.arange(count)
    factor = _factor([*(x.shape[dim] for dim in others), size], scale)
    is_alone = (places == 0) | (places * 2 == size)
    times = torch.where(is_alone, factor, 2 * factor).double()
    cosines, sines = (wave[:, :count] * times for wave in _waves(size, size))
    real, imag = _parts(_turned(x, others, 1))
    return _along(real, last, cosines) - _along(imag, last, sines)


@decomposition("stft")
def spectrogram(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    *flags: Any,
    **_: object,
) -> Tensor:
    """The transforms of windows along a signal: frequencies, and after them windows.

    Args:
        flags: whether all is divided by the root of n_fft, and whether mirror images are left out; before
            these, in one of PyTorch's two forms, whether and how the signal is padded first.
    """
    if len(flags) > 1 and isinstance(flags[1], str):
        if flags[0]:
            raise UnsupportedError("pads its signal", "pad it before (F.pad), and give center=False")
        flags = flags[2:]
    half = len(flags) < 2 or flags[1] is None or bool(flags[1])
    frames = x.unfold(-1, n_fft, hop_length or n_fft // 4)
    shown = win_length or n_fft
    before = (n_fft - shown) // 2
    window = torch.ones(shown, dtype=x.dtype) if window is None else window
    weighted = frames * F.pad(window, (before, n_fft - shown - before))
    found = real_transform(weighted, [weighted.dim() - 1], int(bool(flags) and bool(flags[0])), half)
    return found.transpose(-1, -2)
