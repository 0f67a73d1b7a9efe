"""Functions of numbers: inverse ones, and whole numbers of others, all by the nearest one and what that is
too far."""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
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


# Remainders and whole quotients.
#
# The remainder of floating-point numbers is exact in IEEE 754, while a quotient is rounded: often to the next
# whole number, and one beyond 2^24 has no digits for it in f32. So the remainder is found in steps. Each
# takes away a multiple of the divisor of at most 12 bits, by products with two halves of the divisor that
# round nothing in f32.


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


# Kinds and signs


# Functions of numbers by their kinds, signs and sizes, and special functions by polynomials.


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
