"""Remainders and whole quotients.

The remainder of floating-point numbers is exact in IEEE 754, while a quotient is rounded: often to the next
whole number, and one beyond 2^24 has no digits for it in f32. So the remainder is found in steps. Each takes
away a multiple of the divisor of at most 12 bits, by products with two halves of the divisor that round
nothing in f32.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samhw.importers.torch.decompositions.functions import floor
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []

_HALF = 2.0**12
_STEPS = (2.0**24, 2.0**12, 1.0)
MOST = 2.0**36
"""The quotient up to which the remainder is exact; beyond it is NaN."""

_GREAT = 2.0**114
"""Where a divisor's halves would overflow f32."""


def _number(b: float, dtype: torch.dtype) -> float:
    """As the other operand's type has it."""
    return float(np.float32(b)) if dtype == torch.float32 else float(b)


def _halves(size: Any) -> tuple[Any, Any]:
    """A magnitude as the sum of two numbers, each of at most 12 bits in f32."""
    if not isinstance(size, Tensor):
        if not math.isfinite(size):
            return size, 0.0
        mantissa, exponent = math.frexp(size)
        rounded = math.ldexp(round(mantissa * _HALF), exponent - 12)
        return rounded, size - rounded
    wide = size * (_HALF + 1)
    high = torch.where(size > _GREAT, size, wide - (wide - size))
    return high, torch.where(size == math.inf, 0.0, size - high)


def _rest(a: Tensor, size: Any) -> Tensor:
    """What a magnitude leaves by another one: NaN by 0, of an infinity, and where that cannot be told."""
    quotient, (high, low) = a / size, _halves(size)
    left = a
    for step in _STEPS:
        times = (left / size * (1 / step)).round() * step
        left = left - times * high
        left = left if isinstance(low, float) and not low else left - times * low
    left = torch.where(left < 0, left + size, left)
    if isinstance(size, Tensor):
        most = torch.where(size > _GREAT, 1.0, MOST)
        return torch.where((quotient <= most) & (size > 0), left, math.nan)
    return torch.where(quotient <= MOST, left, math.nan) if size else left * math.nan


def _whole(a: Tensor, b: Tensor | float) -> Tensor:
    """The quotient of whole numbers, rounded down: half of one more never is at a whole quotient."""
    if isinstance(b, Tensor):
        return floor((torch.where(b < 0, -a, a) + 0.5) / b.abs())
    return floor(((a if b > 0 else -a) + 0.5) / abs(b))


def _is_whole(a: Tensor, b: Tensor | float) -> bool:
    return not any(isinstance(x, float) or (isinstance(x, Tensor) and x.is_floating_point()) for x in (a, b))


@decomposition("fmod")
def fmod(a: Tensor, b: Tensor | float) -> Tensor:
    """With the sign of what is divided."""
    size = b.abs() if isinstance(b, Tensor) else abs(_number(b, a.dtype))
    found = _rest(a.abs(), size)
    return torch.where(a < 0, -found, found)


def _down(a: Tensor | float, b: Tensor | float) -> tuple[Tensor, Tensor, Tensor, Tensor | float]:
    """What is left, where the quotient has to be rounded down instead of towards 0, and both operands."""
    if not isinstance(a, Tensor):
        assert isinstance(b, Tensor)
        a = torch.full((), float(a), dtype=b.dtype)
    left = fmod(a, b)
    b = b if isinstance(b, Tensor) else _number(b, a.dtype)
    other = (left < 0) != (b < 0) if isinstance(b, Tensor) else (left > 0 if b < 0 else left < 0)
    return left, (left != 0) & other, a, b


@decomposition("remainder")
def remainder(a: Tensor | float, b: Tensor | float) -> Tensor:
    """With the sign of the divisor."""
    if isinstance(a, Tensor) and _is_whole(a, b):
        return a - _whole(a, b) * b
    left, is_down, _, b = _down(a, b)
    return torch.where(is_down, left + b, left)


@decomposition("floor_divide")
def floor_divide(a: Tensor | float, b: Tensor | float) -> Tensor:
    """What is left is taken away first, so that the quotient is as good as whole. One that is too great to
    tell what is left has no fraction."""
    if isinstance(a, Tensor) and _is_whole(a, b):
        return _whole(a, b)
    left, is_down, a, b = _down(a, b)
    known = torch.where(left == left, left, a - a)
    known = torch.where(b == 0, 0.0, known) if isinstance(b, Tensor) else known
    return ((a - known) / b).round() - is_down.to(a.dtype)
