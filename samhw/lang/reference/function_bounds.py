"""How far the exact result of a function may move with its arguments, and how its rounding errs."""

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from samhw.lang.reference.plain_values import NARROW, VALUES
from samhw.lang.reference.relation import Array, Mask

__all__ = ["ROUNDINGS", "change_of", "no_nan"]


def no_nan(error: Array) -> Array:
    """The error, infinite where it is not defined."""
    return np.where(np.isnan(error), inf, error)


def _monotone(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    """A function that grows or falls with all of its arguments, at both ends of the intervals around them; no
    bound where it has no value there."""
    middle = VALUES.call(function, values)
    high = VALUES.call(function, [x + error for x, error in zip(values, errors, strict=True)])
    low = VALUES.call(function, [x - error for x, error in zip(values, errors, strict=True)])
    return no_nan(np.maximum(np.abs(high - middle), np.abs(middle - low)))


def _reciprocal(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    return np.where(np.abs(values[0]) > errors[0], _monotone(function, values, errors), inf)


def _lipschitz(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    """The greatest slope times the error."""
    return _GREATEST_SLOPES[function] * errors[0]


def _leaky_relu(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    (x, slope), (error, slope_error) = values, errors
    return np.maximum(1, np.abs(slope) + slope_error) * error + slope_error * np.abs(x)


def _comparison(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    may_change: Mask = np.abs(values[0] - values[1]) <= errors[0] + errors[1]
    return may_change.astype(np.float64)


def _select(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    (condition, a, b), (error, a_error, b_error) = values, errors
    certain = np.where(condition != 0, a_error, b_error)
    is_certain = (error == 0) | (np.abs(condition) > error)
    return np.where(is_certain, certain, np.abs(a - b) + np.maximum(a_error, b_error))


_GREATEST_SLOPES = {"abs": 1.0, "gelu": 1.129, "silu": 1.1, "sin": 1.0, "cos": 1.0}

CHANGES = {
    **dict.fromkeys(
        ("relu", "max", "min", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "rint", *NARROW),
        _monotone,
    ),
    **dict.fromkeys(_GREATEST_SLOPES, _lipschitz),
    **dict.fromkeys(("lt", "le", "eq"), _comparison),
    "reciprocal": _reciprocal,
    "leaky_relu": _leaky_relu,
    "select": _select,
}
"""By function: how far its result may move, from the values and the errors of its arguments."""


def _scale(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    """A scale grows with what it scales. Its numbers are integers, of which an error below a half leaves no
    doubt."""
    is_known = (errors[1] < 0.5) & (errors[2] < 0.5)
    return np.where(is_known, _monotone(function, values, errors), inf)


def change_of(function: str) -> Callable[[str, Sequence[Array], Sequence[Array]], Array]:
    """How far the result of a function may move, also of one that gives another type."""
    known = CHANGES.get(function)
    return known or (_scale if function.startswith("scale ") else _monotone)


_EXACT = ("abs", "relu", "max", "min", "lt", "le", "eq", "select", "rint", *NARROW)

ROUNDINGS = {**dict.fromkeys(CHANGES, 2), **dict.fromkeys(_EXACT, 0), "leaky_relu": 1}
"""How many roundings a function's result is off by at most: two where it is within one ulp."""
