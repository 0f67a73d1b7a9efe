"""Functions of numbers by their kinds, signs and sizes, and special functions by polynomials."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from samhw.importers.torch.registry import decomposition

__all__: list[str] = []

# Kinds and signs


@decomposition("isnan")
def isnan(x: Tensor) -> Tensor:
    return x != x


@decomposition("isinf")
def isinf(x: Tensor) -> Tensor:
    return x.abs() == math.inf if x.is_floating_point() else torch.zeros_like(x, dtype=torch.bool)


@decomposition("nan_to_num")
def nan_to_num(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Infinities become the type's greatest numbers by default, which are nearest to them."""
    if not x.is_floating_point():
        return x.clone()
    found = torch.where(isnan(x), nan or 0.0, x)
    most = torch.finfo(x.dtype).max
    for infinity, given in ((math.inf, posinf), (-math.inf, neginf)):
        if given is not None:
            is_there = x == infinity
            # A sum, since a choice of a very low number would be a mask.
            found = torch.where(is_there, 0.0, found) + is_there.to(x.dtype) * given
    found = found.clamp_min(-most) if neginf is None else found
    return found.clamp_max(most) if posinf is None else found


@decomposition("signbit")
def signbit(x: Tensor) -> Tensor:
    """The reciprocal tells the two zeros apart."""
    if not x.is_floating_point():
        return x < 0
    return torch.where(x == 0, x.reciprocal(), x) < 0


@decomposition("copysign")
def copysign(x: Tensor, sign: Tensor | float) -> Tensor:
    size = x.abs()
    if not isinstance(sign, Tensor):
        return -size if math.copysign(1, sign) < 0 else size
    return torch.where(signbit(sign), -size, size)


@decomposition("fmax")
def fmax(a: Tensor, b: Tensor) -> Tensor:
    """The greater one, or the one that is a number."""
    return torch.where(isnan(a), b, torch.where(isnan(b), a, torch.maximum(a, b)))


@decomposition("fmin")
def fmin(a: Tensor, b: Tensor) -> Tensor:
    """The lesser one, or the one that is a number."""
    return torch.where(isnan(a), b, torch.where(isnan(b), a, torch.minimum(a, b)))


@decomposition("hypot")
def hypot(a: Tensor, b: Tensor) -> Tensor:
    """By the share of the lesser one, whose square is in range."""
    one, other = a.abs(), b.abs()
    most = torch.maximum(one, other)
    share = torch.minimum(one, other) / torch.where(most == 0, 1.0, most)
    return torch.where((one == math.inf) | (other == math.inf), math.inf, most * (share * share + 1).sqrt())


# By polynomials


def _polynomial(coefficients: Sequence[float], x: Tensor) -> Tensor:
    """By Horner's rule; the coefficient of the highest power comes first."""
    made = x * coefficients[0] + coefficients[1]
    for each in coefficients[2:]:
        made = made * x + each
    return made


STIRLING = (-1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""Of 1/x by powers of 1/x^2: what the logarithm of the gamma function adds to Stirling's formula."""

_FAR = 7
"""From where on these terms are enough, to 1e-10."""


def _lgamma_above_half(x: Tensor) -> Tensor:
    """By Stirling's formula at x + 7, less the logarithm of the seven factors between."""
    is_near = x < _FAR
    near = torch.where(is_near, x, 1.0)
    factors = near
    for n in range(1, _FAR):
        factors = factors * (near + n)
    far = torch.where(is_near, x + _FAR, x)
    share = far.reciprocal()
    rest = share * _polynomial(STIRLING, share * share) + (0.5 * math.log(2 * math.pi) - 0.5)
    found = (far - 0.5) * (far.log() - 1) + rest
    return torch.where(is_near, found - factors.log(), found)


@decomposition("lgamma", "special_gammaln")
def lgamma(x: Tensor) -> Tensor:
    """Below 1/2 by its reflection: pi / sin(pi x) is the product of the gamma functions of x and 1 - x."""
    is_low = x < 0.5
    found = _lgamma_above_half(torch.where(is_low, 1 - x, x))
    sine = ((x - x.round()) * math.pi).sin().abs()
    # At whole numbers, and thus far down, there is a pole.
    low = torch.where((sine == 0) | (x == -math.inf), math.inf, math.log(math.pi) - sine.log() - found)
    return torch.where(is_low, low, found)


ERFINV_NEAR = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503),
    *(-0.00417768164, 0.246640727, 1.50140941),
)
ERFINV_FAR = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613),
    *(0.00943887047, 1.00167406, 2.83297682),
)
"""erfinv(x) / x by w - 2.5 for w = -log(1 - x^2) below 5, and by sqrt(w) - 3 beyond (M. Giles, "Approximating
the erfinv function", 2010); it is off by less than f32 tells apart."""


@decomposition("erfinv", "special_erfinv")
def erfinv(x: Tensor) -> Tensor:
    w = -((1 - x) * (1 + x)).log()
    near, far = _polynomial(ERFINV_NEAR, w - 2.5), _polynomial(ERFINV_FAR, w.sqrt() - 3)
    found = x * torch.where(w < 5, near, far)
    return torch.where(x.abs() == 1, x * math.inf, found)
