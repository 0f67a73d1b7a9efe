"""Functions of numbers: inverse ones, and whole numbers of others, all by the nearest one and what that is
too far."""

import math
from collections.abc import Sequence
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
    most, least = torch.maximum(across, up), torch.minimum(across, up)
    slope = least / torch.where(most == 0, 1.0, most)
    part = _odd(ARCTANGENT, torch.where(least == math.inf, 1.0, slope))
    steep = torch.where(across < up, math.pi / 2 - part, part)
    angle = torch.where(torch.signbit(x), math.pi - steep, steep)
    return torch.where(torch.signbit(y), -angle, angle)


# Whole numbers


@decomposition("floor")
def floor(x: Tensor) -> Tensor:
    nearest = x.round()
    return nearest - (x < nearest).to(x.dtype)


@decomposition("ceil")
def ceil(x: Tensor) -> Tensor:
    nearest = x.round()
    return nearest + (nearest < x).to(x.dtype)


@decomposition("trunc")
def trunc(x: Tensor) -> Tensor:
    size = floor(x.abs())
    return torch.where(x < 0, -size, size)


@decomposition("rrelu")
def rrelu(x: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *_: Any) -> Tensor:
    if training:
        raise UnsupportedError("draws random numbers", "call model.eval() before")
    return F.leaky_relu(x, (lower + upper) / 2)
