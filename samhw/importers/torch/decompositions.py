"""Operators that are written with others, in PyTorch. Constants that they make are folded as a module is
imported; double precision costs nothing."""

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

# Inverse functions

ARCSINE = (1.0, 0.1666665764, 0.07500571381, 0.04450870947, 0.0318571891, 0.01429525532, 0.03767713931)
"""asin(t) / t by powers of t^2, for t up to 1/2: the polynomial that is equal at Chebyshev's nodes; it is off
by 3e-10 of it."""

ARCTANGENT = (
    *(0.9999999972, -0.3333327629, 0.1999807528, -0.1426001609, 0.1093234151, -0.08349724997),
    *(0.05708955633, -0.03035186511, 0.0104876494, -0.00170117009),
)
"""atan(t) / t by powers of t^2, for t up to 1, likewise; it is off by 3e-9 of it."""


def _odd(coefficients: Sequence[float], t: Tensor) -> Tensor:
    """t times a polynomial of its square, by Horner's rule."""
    square = t * t
    made = square * coefficients[-1]
    for factor in coefficients[-2:0:-1]:
        made = (made + factor) * square
    return t * (made + coefficients[0])


def _sign(x: Tensor) -> Tensor:
    return torch.where(x < 0, -1.0, 1.0)


@decomposition("asin", of_complex=False)
def asin(x: Tensor) -> Tensor:
    """Beyond 1/2 it is pi/2 less twice that of sqrt((1 - x) / 2)."""
    size = x.abs()
    part = _odd(ARCSINE, torch.where(size > 0.5, ((1 - size) * 0.5).sqrt(), size))
    return _sign(x) * torch.where(size > 0.5, math.pi / 2 - part * 2, part)


@decomposition("acos", of_complex=False)
def acos(x: Tensor) -> Tensor:
    return math.pi / 2 - asin(x)


@decomposition("atan", of_complex=False)
def atan(x: Tensor) -> Tensor:
    """Beyond 1 it is pi/2 less that of the reciprocal."""
    size = x.abs()
    part = _odd(ARCTANGENT, torch.minimum(size, size.clamp_min(1).reciprocal()))
    return _sign(x) * torch.where(size > 1, math.pi / 2 - part, part)


@decomposition("atan2")
def atan2(y: Tensor, x: Tensor) -> Tensor:
    """Of the lesser coordinate by the greater one, and then from octant to octant."""
    across, up = x.abs(), y.abs()
    most = torch.maximum(across, up)
    part = _odd(ARCTANGENT, torch.minimum(across, up) / torch.where(most == 0, 1.0, most))
    steep = torch.where(across < up, math.pi / 2 - part, part)
    return _sign(y) * torch.where(x < 0, math.pi - steep, steep)


# Norms and distances


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Along the second dimension."""
    behind = [1] * (x.dim() - 2)
    x = x if weight is None else x * weight.reshape(-1, *behind)
    return x if bias is None else x + bias.reshape(-1, *behind)


@decomposition("group_norm")
def group_norm(
    x: Tensor,
    groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Tensor:
    split = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    return _affine(F.layer_norm(split, split.shape[2:], eps=eps).reshape(x.shape), weight, bias)


@decomposition("instance_norm")
def instance_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any) -> Tensor:
    """`rest`: running statistics, whether those of the instances count, a momentum, epsilon, and a flag."""
    mean, var, of_instances, momentum, eps, _ = rest
    if not of_instances:
        return F.batch_norm(x, mean, var, weight, bias, False, momentum, eps)
    return _affine(F.layer_norm(x, x.shape[2:], eps=eps), weight, bias)


@decomposition("_native_batch_norm_legit")
def batch_statistics(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """`rest`, where there are no running statistics: whether it trains, a momentum, and epsilon."""
    if len(rest) != 3:
        raise UnsupportedError("takes the statistics of the batch", "call model.eval() before")
    rows = x.transpose(0, 1)
    made = F.layer_norm(rows, rows.shape[1:], eps=rest[2]).transpose(0, 1)
    var, mean = torch.var_mean(rows.flatten(1), 1, correction=0)
    return _affine(made, weight, bias), mean, torch.rsqrt(var + rest[2])


@decomposition("cdist", "_cdist_forward", "_euclidean_dist")
def cdist(x: Tensor, y: Tensor, p: float = 2.0, *_: object) -> Tensor:
    """The norm of the difference of each row of one with each row of the other."""
    found: Tensor = torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, -1)
    return found


@decomposition("rrelu")
def rrelu(
    x: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *_: object
) -> Tensor:
    if training:
        raise UnsupportedError("draws random numbers", "call model.eval() before")
    return F.leaky_relu(x, (lower + upper) / 2)


@decomposition("addbmm")
def addbmm(c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """The sum of a batch of products."""
    return torch.einsum("nij,njk->ik", a, b) * alpha + c * beta


@decomposition("logcumsumexp")
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """A logsumexp for each place, over the row of a triangle: of the places up to it."""
    if not x.dim():
        return x.clone()
    dim %= x.dim()
    size = x.shape[dim]
    triangle = torch.ones(size, size, dtype=torch.bool).tril()
    triangle = triangle.reshape(size, size, *[1] * (x.dim() - 1 - dim))
    return torch.where(triangle, x.unsqueeze(dim), -math.inf).logsumexp(dim + 1)


# Complex numbers


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
def complex_abs(x: Tensor) -> Tensor:
    real, imag = _parts(x)
    return (real * real + imag * imag).sqrt()


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
    """Back to so many real numbers along the last one of the dimensions, of the half that there is: what
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
    """The transforms of windows along a signal: frequencies, and behind them windows.

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
