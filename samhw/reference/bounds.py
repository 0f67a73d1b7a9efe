"""How far a backend's result may be from the exact one: a running error analysis of a program on its data.

Every operation is charged by the standard model, ``|rounded - exact| <= relative * |exact| + absolute``, and
every error is carried through what follows. The bound holds for whatever order the factors and the summands
are taken in, across statements too, so that one bound serves every schedule; only a product with a sum is not
multiplied out. See Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 to 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import frexp, inf

import numpy as np
from numpy.typing import ArrayLike

from samhw.reference.domain import Domain, Reduction, Sum
from samhw.reference.relation import Array
from samhw.reference.values import VALUES, as_values

__all__ = ["Rounding", "Running"]

_SMALLEST_NORMAL = 2.0**-126


@dataclass(frozen=True)
class Rounding:
    """How a value type rounds: an operation errs by at most ``relative * |exact| + absolute``.

    The functions of docs/numerics.md that are not correctly rounded may err twice as much. With `relative` 0
    (fixed point) sums are exact.
    """

    relative: float
    absolute: float

    @classmethod
    def fixed(cls, fraction: int) -> "Rounding":
        """Fixed point with that many fraction bits, as long as nothing saturates."""
        return cls(0.0, 2.0 ** -(fraction + 1))

    @classmethod
    def floating(cls, mantissa: int) -> "Rounding":
        """Floating point with that many mantissa bits (bf16: 7, f32: 23) and subnormals flushed to zero, as
        long as nothing overflows."""
        return cls(2.0 ** -(mantissa + 1), _SMALLEST_NORMAL)


# The parts of an element, in the first axis of an array.
_VALUE, _ERROR, _TERMS, _FACTOR, _WEIGHT = range(5)


class Running(Domain):
    """Elements of five parts:

    * value;
    * error: the bound so far;
    * terms: the value with a plus for every minus, on which the roundings of a sum depend, whatever cancels
      and whatever order it is taken in;
    * factor: the same for an element that is multiplied: its own additions are done by then, but a sum of
      products may still be taken in another order together with what follows;
    * weight: as factor, with everything multiplied at least 1, on which absolute errors depend: whatever a
      product is multiplied by after it was rounded, they make its error no greater than this.

    The last three are 0 where the value is exactly 0, as no rounding disturbs a zero.
    """

    def __init__(self, rounding: Rounding) -> None:
        self.relative = rounding.relative
        self.absolute = rounding.absolute
        self.sums_are_exact = rounding.relative == 0

    def element(self, value: Array, error: ArrayLike) -> Array:
        """A quantity that no sum can be taken apart in: stored, or the result of a function."""
        value = as_values(value).astype(np.float64)
        error = np.broadcast_to(_no_nan(np.asarray(error, np.float64)), value.shape)
        magnitude = np.abs(value)
        greatest = magnitude + error
        weight = np.where(greatest > 0, np.maximum(greatest, 1) * (1 + self.absolute), 0)
        return np.stack([value, error, magnitude, magnitude, weight])

    def exact(self, value: Array) -> Array:
        return self.element(value, 0.0)

    def number(self, value: int | float) -> Array:
        return self.element(np.asarray(value), 0.0 if self.represents(value) else self.rounded(abs(value)))

    def represents(self, value: int | float) -> bool:
        """Whether the value type has this number."""
        if self.sums_are_exact:
            return self.absolute == 0 or (value / (2 * self.absolute)).is_integer()
        return (frexp(value)[0] / self.relative).is_integer()

    def rounded(self, magnitude: float) -> float:
        return self.relative * magnitude + self.absolute

    def add(self, a: Array, b: Array) -> Array:
        value, error, terms = a[:_FACTOR] + b[:_FACTOR]
        if not self.sums_are_exact:
            # Zero and zero are zero.
            error = error + self.relative * (terms + error) + self.absolute * (terms + error > 0)
        result = self.element(value, error)
        result[_TERMS] = terms
        return result

    def negate(self, a: Array) -> Array:
        return np.stack([-a[_VALUE], *a[_ERROR:]])

    def indicator(self, mask: Array) -> Array:
        """Off by 1 where it is uncertain whether the mask is zero."""
        return self.element(mask[_VALUE] != 0, _uncertain(mask))

    def factor(self, a: Array, *, alone: bool) -> Array:
        # Nothing is multiplied in a plain sum, so that each of its terms may be summed by itself.
        magnitude = a[_TERMS if alone else _FACTOR]
        count = (magnitude + a[_ERROR] > 0).astype(np.float64)
        return np.stack([a[_VALUE], a[_ERROR], magnitude, a[_WEIGHT], count, a[_FACTOR]])

    def products(self, factors: Sequence[Array]) -> Sequence[Sum]:
        values, errors, magnitudes, weights, counts, others = (
            [factor[part] for factor in factors] for part in range(6)
        )
        # The exact change of a product: one factor's error at a time, those before it changed already.
        greatest = [m + e for m, e in zip(magnitudes, errors, strict=True)]
        error = [[*greatest[:n], e, *magnitudes[n + 1 :]] for n, e in enumerate(errors) if e.any()]
        return [[values], error, [magnitudes], [weights], [counts], [others]]

    def partial(self, sums: Sequence[Array]) -> Array:
        return np.stack(np.broadcast_arrays(*sums))

    def summed(
        self, sums: Sequence[Array], factors: int, divisors: Sequence[Array], *, over_points: bool
    ) -> Array:
        value, error, terms, weight, count, factor = sums
        greatest = terms + error
        values = VALUES.summed([value], factors, [divisor[_VALUE] for divisor in divisors], over_points=False)
        operations = factors - 1 + len(divisors)
        for other in map(self.inverse, divisors):
            # One more factor of every product.
            most = other[_FACTOR] + other[_ERROR]
            error = _times(error, other[_FACTOR]) + _times(greatest, other[_ERROR])
            greatest, weight = _times(greatest, most), _times(weight, other[_WEIGHT])
            terms, factor = _times(terms, other[_FACTOR]), _times(factor, other[_FACTOR])
            count = count * (most > 0)
        additions = np.maximum(count - 1, 0) if over_points else 0
        if self.sums_are_exact:
            error = error + operations * self.absolute * weight
        else:
            growth = np.expm1((operations + additions) * np.log1p(self.relative))
            error = error + growth * greatest
            error = error + (operations + (additions > 0)) * self.absolute * (1 + growth) * weight
        return np.stack(np.broadcast_arrays(values, _no_nan(error), terms, factor, weight))

    def inverse(self, divisor: Array) -> Array:
        """1 / divisor as a factor. Its rounding is that of the division."""
        value, error = divisor[_VALUE], divisor[_ERROR]
        least = np.abs(value) - error
        change = np.where(error == 0, 0, np.where(least > 0, error / (np.abs(value) * least), inf))
        return self.element(1 / value, change)

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        values = [argument[_VALUE] for argument in arguments]
        errors = [argument[_ERROR] for argument in arguments]
        result = VALUES.call(function, values)
        change = _CHANGES[function](function, values, errors)
        change = np.where(reduce(np.add, errors) == 0, 0, change)
        units = _ROUNDINGS[function]
        if function in ("lt", "le", "eq") and self.sums_are_exact:
            # The greatest number stands for 1 where a fixed-point type has none.
            units = 2
        greatest = np.abs(result) + change
        charge = units * (self.relative * greatest + self.absolute * (greatest > 0))
        return self.element(result, change + charge)

    def extremes(self, reduction: str, a: Array, mask: Array | None) -> Sequence[Reduction]:
        found = VALUES.extremes(reduction, a[_VALUE], None if mask is None else mask[_VALUE])
        error = a[_ERROR]
        if mask is not None:
            # Whether a point counts is uncertain, and with it everything about the result.
            error = np.where(_uncertain(mask) > 0, inf, np.where(mask[_VALUE] != 0, error, 0))
        return [*found, (np.maximum, error)]

    def extreme(self, reduction: str, found: Sequence[Array], zero: Array) -> Array:
        *values, error = found
        return self.element(VALUES.extreme(reduction, values, zero), error)

    def result(self, a: Array) -> Array:
        return a[: _ERROR + 1].copy()


def _times(a: Array, b: Array) -> Array:
    """The product; zero times anything is zero."""
    product = a * b
    return np.where((a == 0) | (b == 0), 0, product) if np.isnan(product).any() else product


def _no_nan(error: Array) -> Array:
    """The error, infinite where it is not defined."""
    return np.where(np.isnan(error), inf, error)


def _uncertain(a: Array) -> Array:
    """1 where an element's error leaves open whether it is zero."""
    return ((a[_ERROR] > 0) & (np.abs(a[_VALUE]) <= a[_ERROR])).astype(np.float64)


# How far the exact result of a function may move with its arguments, from their values and errors.


def _monotone(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    """The function at both ends of the interval around its argument; no bound where it has no value there."""
    (x,), (error,) = values, errors
    middle, high, low = (VALUES.call(function, [end]) for end in (x, x + error, x - error))
    return _no_nan(np.maximum(np.abs(high - middle), np.abs(middle - low)))


def _reciprocal(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    return np.where(np.abs(values[0]) > errors[0], _monotone(function, values, errors), inf)


def _lipschitz(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    """The greatest slope times the error; with several arguments, that of the one that is taken."""
    return _GREATEST_SLOPES[function] * reduce(np.maximum, errors)


def _leaky_relu(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    (x, slope), (error, slope_error) = values, errors
    return np.maximum(1, np.abs(slope) + slope_error) * error + slope_error * np.abs(x)


def _comparison(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    return (np.abs(values[0] - values[1]) <= errors[0] + errors[1]).astype(np.float64)


def _select(function: str, values: Sequence[Array], errors: Sequence[Array]) -> Array:
    (condition, a, b), (error, a_error, b_error) = values, errors
    certain = np.where(condition != 0, a_error, b_error)
    is_certain = (error == 0) | (np.abs(condition) > error)
    return np.where(is_certain, certain, np.abs(a - b) + np.maximum(a_error, b_error))


_GREATEST_SLOPES = {"abs": 1.0, "max": 1.0, "min": 1.0, "gelu": 1.129, "silu": 1.1}

_CHANGES = {
    **dict.fromkeys(("relu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt"), _monotone),
    **dict.fromkeys(_GREATEST_SLOPES, _lipschitz),
    **dict.fromkeys(("lt", "le", "eq"), _comparison),
    "reciprocal": _reciprocal,
    "leaky_relu": _leaky_relu,
    "select": _select,
}

_EXACT = ("abs", "relu", "max", "min", "lt", "le", "eq", "select")

_ROUNDINGS = {**dict.fromkeys(_CHANGES, 2), **dict.fromkeys(_EXACT, 0), "leaky_relu": 1}
"""How many roundings a function's result is off by at most: two where it is within one ulp."""
