"""Functions of numbers as expressions of those that programs have (docs/numerics.md)."""

import math
from collections.abc import Sequence

from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import eq, exp, gelu, log, lt, reciprocal, relu, select, sin, sqrt, tanh
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__ = [
    "ARCSINE",
    "ARCTANGENT",
    "acosh",
    "asinh",
    "clamp",
    "elu",
    "error_function",
    "gelu_of",
    "odd",
    "powered",
    "sinc",
    "softplus",
]

ARCSINE = (1.0, 0.1666665764, 0.07500571381, 0.04450870947, 0.0318571891, 0.01429525532, 0.03767713931)
"""asin(t) / t by powers of t^2, for t up to 1/2: the polynomial that is equal at Chebyshev's nodes; it is off
by 3e-10 of it."""

ARCTANGENT = (
    *(0.9999999972, -0.3333327629, 0.1999807528, -0.1426001609, 0.1093234151, -0.08349724997),
    *(0.05708955633, -0.03035186511, 0.0104876494, -0.00170117009),
)
"""atan(t) / t by powers of t^2, for t up to 1, likewise; it is off by 3e-9 of it."""


def odd(coefficients: Sequence[float], t: Expr) -> Expr:
    """t times a polynomial of its square, by Horner's rule."""
    square = t * t
    made: Expr = square * coefficients[-1]
    for factor in coefficients[-2:0:-1]:
        made = (made + factor) * square
    return t * (made + coefficients[0])


def powered(x: Expr, power: int) -> Expr:
    """x to the power of a whole number other than 0, by products."""
    made = x
    for _ in range(abs(power) - 1):
        made = made * x
    return made if power > 0 else reciprocal(made)


_SOFT_END = 20.0
"""From where on log(1 + exp(x)) is x, to less than f32 tells apart."""


def softplus(x: Expr, beta: float = 1.0, threshold: float = 20.0) -> Expr:
    """log(1 + exp(beta x)) / beta, without an exponential that overflows; x itself above the threshold."""
    scaled = x if beta == 1 else x * beta
    made: Expr = max_(scaled, 0) + log(1 + exp(-abs_(scaled)))
    made = made if beta == 1 else made * (1 / beta)
    return made if threshold >= _SOFT_END else select(lt(threshold, scaled), x, made)


def clamp(x: Expr, least: float | None = None, greatest: float | None = None) -> Expr:
    made = x if least in (None, -math.inf) else (relu(x) if least == 0 else max_(x, least))
    return made if greatest in (None, math.inf) else min_(made, greatest)


def elu(x: Expr, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Expr:
    low = exp(min_(x, 0) * input_scale) - 1
    made = relu(x) + low * alpha
    return made if scale == 1 else made * scale


def sinc(x: Expr) -> Expr:
    angle = x * math.pi
    return select(eq(x, 0), 1, sin(angle) / angle)


_GREAT = 1e9
"""From where on 1 is nothing beside the square, in any type."""


def asinh(x: Expr) -> Expr:
    """Of the magnitude: of a negative number the sum would cancel. The square of a great one overflows."""
    size = abs_(x)
    found = select(lt(_GREAT, size), log(size) + math.log(2), log(size + sqrt(size * size + 1)))
    return select(lt(x, 0), -found, found)


def acosh(x: Expr) -> Expr:
    """log(x + sqrt(x^2 - 1)), where nothing overflows and nothing cancels."""
    share = reciprocal(x)
    return log(x) + log(1 + sqrt((1 - share) * (1 + share)))


def error_function(x: Expr, *, rest: bool) -> Expr:
    """erf(x), or 1 - erf(x): gelu(s) / s is the normal distribution's probability of less than s."""
    # Beyond that, infinities included, it is 1 or -1 in any type.
    s = max_(min_(x, 16), -16) * math.sqrt(2)
    below = gelu(s) / select(eq(x, 0), 1, s)
    return select(eq(x, 0), 1, 2 - below * 2) if rest else select(eq(x, 0), 0, below * 2 - 1)


def gelu_of(x: Expr, approximate: str = "none") -> Expr:
    """By the normal distribution, or by its approximation with tanh."""
    if approximate == "none":
        return gelu(x)
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (1 + tanh(inner))
