"""Functions of numbers: inverse ones, and whole numbers of others, all by the nearest one and what that is
too far."""

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from samhw.importers.core import UnsupportedError
from samhw.importers.core.formulas import ARCSINE, ARCTANGENT, odd
from samhw.importers.torch.registry import decomposition
from samhw.lang.expr import Expr

__all__: list[str] = []

# Inverse functions


def _odd(coefficients: Sequence[float], t: Tensor) -> Tensor:
    return cast(Tensor, odd(coefficients, cast(Expr, t)))


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
