"""How far a backend's result may be from the exact one: a running error analysis of a program on its data.

Every operation is charged by the standard model, ``|rounded - exact| <= relative * |exact| + absolute``, and
every error is carried through what follows. The bound holds for whatever order the factors and the summands
are taken in, across statements too, so that one bound serves every schedule; only a product with a sum is not
multiplied out. See Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 to 4.

Here all numbers are in the range of the type, and stay so in whatever order. Where they may leave it,
extended.py has infinities and NaN, and saturating.py fixed point.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import frexp, inf, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.lang.reference.domain import Domain, Reduction, Sum
from samhw.lang.reference.function_bounds import ROUNDINGS, change_of, no_nan
from samhw.lang.reference.plain_values import VALUES, as_values, counting, over_rows, steps
from samhw.lang.reference.relation import Array, Mask
from samhw.lang.reference.sorting import Uncertain, best, descending, row_numbers, taken

__all__ = [
    "ERROR",
    "FACTOR",
    "TERMS",
    "VALUE",
    "WEIGHT",
    "Rounding",
    "RunningError",
    "difference",
    "uncertain",
]

_SMALLEST_NORMAL = 2.0**-126


@dataclass(frozen=True)
class Rounding:
    """How a value type rounds: an operation errs by at most ``relative * |exact| + absolute``.

    The functions of docs/numerics.md that are not correctly rounded may err twice as much. With `relative` 0
    (fixed point) sums are exact. `greatest` is the greatest number of the type, and `beyond` what is greater
    becomes: an infinity, NaN, or, where the type saturates, the greatest. A program's own numbers err by
    `relative` too, but for those that have no more bits than a type that errs by `numbers`, if that is given.
    """

    relative: float
    absolute: float
    greatest: float = inf
    beyond: float = inf
    has_subnormals: bool = False
    numbers: float | None = None

    @property
    def saturates(self) -> bool:
        """What is too great becomes the greatest number."""
        return self.beyond == self.greatest < inf

    @classmethod
    def fixed(cls, width: int, fraction: int) -> "Rounding":
        """Fixed point of that many bits, this many of them after the point; saturates."""
        greatest = (2.0 ** (width - 1) - 1) * 2.0**-fraction
        return cls(0.0, 2.0 ** -(fraction + 1), greatest, greatest)

    @classmethod
    def whole(cls) -> "Rounding":
        """Integers, of which an overflow ends a run."""
        return cls(0.0, 0.5)

    @classmethod
    def floating(cls, mantissa: int) -> "Rounding":
        """Floating point with that many mantissa bits (bf16: 7, f32: 23) and subnormals flushed to zero."""
        return cls(2.0 ** -(mantissa + 1), _SMALLEST_NORMAL, (2 - 2.0**-mantissa) * 2.0**127)

    @classmethod
    def gradual(cls, mantissa: int, least: float, greatest: float, beyond: float = inf) -> "Rounding":
        """Floating point with that many mantissa bits and subnormals, from its least number above zero to its
        greatest (f8e4m3: 3, 2^-9, 448 and NaN beyond; f8e5m2: 2, 2^-16, 57344)."""
        return cls(2.0 ** -(mantissa + 1), least / 2, greatest, beyond, has_subnormals=True)

    @classmethod
    def double(cls) -> "Rounding":
        """The double precision in which the reference computes."""
        return cls(2.0**-53, 2.0**-1022, float(np.finfo(np.float64).max))


# The parts of an element, in the first axis of an array.
VALUE, ERROR, TERMS, FACTOR, WEIGHT = range(5)


class RunningError(Domain):
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

    `is_in_range` tells afterwards whether everything is finite, in whatever order it was computed.
    """

    def __init__(self, rounding: Rounding) -> None:
        self.rounding = rounding
        self.relative = rounding.relative
        self.absolute = rounding.absolute
        self.greatest = rounding.greatest
        self.beyond = rounding.beyond
        self.has_subnormals = rounding.has_subnormals
        self.unit = rounding.relative if rounding.numbers is None else rounding.numbers
        self.sums_are_exact = rounding.relative == 0
        # Whole numbers have whole products.
        self.of_products = 0.0 if self.sums_are_exact and rounding.absolute == 0.5 else rounding.absolute
        self.is_in_range = True

    def element(self, value: Array, error: ArrayLike) -> Array:
        """A quantity that no sum can be taken apart in: stored, or the result of a function."""
        return self.parts(value, error)

    def parts(self, value: Array, error: ArrayLike) -> Array:
        """The five parts of such a quantity, whatever the range of the type."""
        value = as_values(value).astype(np.float64)
        error = np.broadcast_to(no_nan(np.asarray(error, np.float64)), value.shape)
        magnitude = np.abs(value)
        greatest = magnitude + error
        # NaN stays, and leaves every range.
        weight = np.where(greatest == 0, 0, np.maximum(greatest, 1) * (1 + self.absolute))
        self.watch(weight)
        return np.stack([value, error, magnitude, magnitude, weight])

    def watch(self, greatest: Array) -> None:
        """Notes if numbers may be as great as this."""
        if self.greatest < inf and not np.max(greatest, initial=0) <= self.greatest:
            self.is_in_range = False

    def exact(self, value: Array) -> Array:
        return self.element(value, 0.0)

    def number(self, value: int | float) -> Array:
        if isnan(self.beyond):
            value = min(max(value, -self.greatest), self.greatest)
        return self.element(np.asarray(value), 0.0 if self.represents(value) else self.rounded(abs(value)))

    def represents(self, value: int | float) -> bool:
        """Whether the value type has this number."""
        if self.sums_are_exact:
            return self.absolute == 0 or (value / (2 * self.absolute)).is_integer()
        if self.has_subnormals and not (value / (2 * self.absolute)).is_integer():
            return False
        return (frexp(value)[0] / self.unit).is_integer()

    def rounded(self, magnitude: float) -> float:
        return self.relative * magnitude + self.absolute

    def add(self, a: Array, b: Array) -> Array:
        value, error, terms = a[:FACTOR] + b[:FACTOR]
        if not self.sums_are_exact:
            # Zero and zero are zero.
            error = error + self.relative * (terms + error) + self.absolute * (terms + error > 0)
        result = self.element(value, error)
        result[TERMS] = terms
        self.watch(terms + error)
        return result

    def negate(self, a: Array) -> Array:
        return np.stack([-a[VALUE], *a[ERROR:]])

    def minus_itself(self, a: Array) -> Array:
        return self.element(np.zeros_like(a[VALUE]), 0.0)

    def at_most(self, a: Array, b: Array) -> Mask:
        is_so: Mask = a[VALUE] + a[ERROR] <= b[VALUE] - b[ERROR]
        return is_so

    def indicator(self, mask: Array) -> Array:
        """Off by 1 where it is uncertain whether the mask is zero."""
        return self.element(mask[VALUE] != 0, uncertain(mask))

    def factor(self, a: Array, *, alone: bool, whole: bool) -> Array:
        # Nothing is multiplied in a plain sum, so that each of its terms may be summed by itself.
        magnitude = a[TERMS if alone else FACTOR]
        count = (magnitude + a[ERROR] > 0).astype(np.float64)
        return np.stack([a[VALUE], a[ERROR], magnitude, a[WEIGHT], count, a[FACTOR]])

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
        values = VALUES.summed([value], factors, [divisor[VALUE] for divisor in divisors], over_points=False)
        operations = factors - 1 + len(divisors)
        for other in map(self.inverse, divisors):
            # One more factor of every product.
            most = other[FACTOR] + other[ERROR]
            error = _times(error, other[FACTOR]) + _times(greatest, other[ERROR])
            greatest, weight = _times(greatest, most), _times(weight, other[WEIGHT])
            terms, factor = _times(terms, other[FACTOR]), _times(factor, other[FACTOR])
            count = count * (most > 0)
        additions = np.maximum(count - 1, 0) if over_points else 0
        growth = np.expm1((operations + additions) * np.log1p(self.relative))
        self.watch((1 + growth) * weight)
        if self.sums_are_exact:
            rounded = (factors - 1) * self.of_products + len(divisors) * self.absolute
            error = error + rounded * weight
        else:
            error = error + growth * greatest
            error = error + (operations + (additions > 0)) * self.absolute * (1 + growth) * weight
        return np.stack(np.broadcast_arrays(values, no_nan(error), terms, factor, weight))

    def inverse(self, divisor: Array) -> Array:
        """1 / divisor as a factor. Its rounding is that of the division."""
        value, error = divisor[VALUE], divisor[ERROR]
        least = np.abs(value) - error
        change = np.where(error == 0, 0, np.where(least > 0, error / (np.abs(value) * least), inf))
        return self.parts(1 / value, change)

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        values = [argument[VALUE] for argument in arguments]
        errors = [argument[ERROR] for argument in arguments]
        result = VALUES.call(function, values)
        change = change_of(function)(function, values, errors)
        change = np.where(reduce(np.add, errors) == 0, 0, change)
        units = ROUNDINGS.get(function, 0)
        greatest = np.abs(result) + change
        charge = units * (self.relative * greatest + self.absolute * (greatest > 0))
        if function == "exp" and not self.sums_are_exact:
            charge = np.where((values[0] == 0) & (errors[0] == 0), 0, charge)
        # An infinity or NaN is not rounded.
        charge = np.where(np.isfinite(result), charge, 0)
        return self.element(result, change + charge)

    def reductions(self, reduction: str, a: Array, mask: Array | None) -> Sequence[Reduction]:
        found = VALUES.reductions(reduction, a[VALUE], None if mask is None else mask[VALUE])
        value, error = a[VALUE], a[ERROR]
        if mask is not None:
            # Whether a point counts is uncertain, and with it everything about the result.
            error = np.where(uncertain(mask) > 0, inf, np.where(mask[VALUE] != 0, error, 0))
            value = np.where(mask[VALUE] != 0, value, 1 if reduction == "prod" else 0)
        magnitude = np.abs(value)
        greatest = magnitude + error
        if reduction == "sum":
            count = (greatest > 0).astype(np.float64)
            return [*found, (np.add, error), (np.add, magnitude), (np.add, count)]
        if reduction == "prod":
            # A factor that is surely zero makes the product zero, whatever the others are.
            is_zero = greatest == 0
            factors = [np.where(is_zero, 1, part) for part in (magnitude, greatest, np.maximum(greatest, 1))]
            # Multiplying by a one rounds nothing.
            count = ((magnitude != 1) | (error > 0)).astype(np.float64)
            counts = [(np.logical_or, is_zero), (np.add, count)]
            return [*found, *((np.multiply, factor) for factor in factors), *counts]
        return [*found, (np.maximum, error)]

    def reduced(self, reduction: str, found: Sequence[Array], zero: Mask) -> Array:
        if reduction == "sum":
            *values, error, terms, count = found
            error = self.sum_error(error, terms, count)
        elif reduction == "prod":
            *values, magnitude, greatest, weight, is_zero, count = found
            error = self.product_error(magnitude, greatest, weight, count)
            error = np.where(np.logical_or(is_zero, zero), 0, error)
        else:
            *values, error = found
        result = self.element(VALUES.reduced(reduction, values, zero), error)
        if reduction == "prod":
            # Factors above 1 may come after those below 1.
            result[WEIGHT] = np.where(result[WEIGHT] > 0, np.maximum(result[WEIGHT], weight), 0)
        return result

    def recurrence(self, factor: Array, value: Array, starts: NDArray[np.int64]) -> Array:
        return self.element(*self.recurrent(factor, value, starts)[:2])

    def recurrent(
        self, factor: Array, value: Array, starts: NDArray[np.int64]
    ) -> tuple[Array, Array, Array, Array]:
        """Values, errors, the sums of the magnitudes of all terms, and the greatest numbers that may come up:
        whatever the order, a term passes at most a multiplication and an addition at each element, and a
        factor as many; but multiplying by a one rounds nothing."""
        values = VALUES.recurrence(factor[VALUE], value[VALUE], starts)
        change, most = factor[ERROR], np.abs(factor[VALUE]) + factor[ERROR]
        error, greatest = value[ERROR].copy(), np.abs(value[VALUE]) + value[ERROR]
        # All with factors of at least 1, and their products alone.
        weight, scale = greatest.copy(), np.ones_like(greatest)
        additions, products = np.zeros_like(greatest), np.zeros_like(greatest)
        for at in steps(starts, values.shape[-1]):
            before, r = at - 1, np.maximum(most[at], 1)
            error[at] += _times(error[before], most[at]) + _times(np.abs(values[before]), change[at])
            greatest[at] += _times(greatest[before], most[at])
            weight[at] += _times(weight[before], r)
            scale[at] = scale[before] * r
            additions[at] = additions[before] + 1
            products[at] = products[before] + ((factor[VALUE, at] != 1) | (change[at] > 0))
        growth = np.expm1((additions + products) * np.log1p(self.relative))
        weight = np.maximum(weight, scale) * (1 + growth)
        charge = growth * greatest
        if self.of_products:
            charge = charge + (additions + 2 * products) * self.of_products * weight
        self.watch(weight)
        return values, error + np.where(greatest > 0, charge, 0), greatest, weight

    def coordinate(
        self, op: str, a: Array, mask: Array | None, at: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> Array:
        """The bound reaches to the furthest coordinate whose element may come first."""
        value = a[VALUE] if op == "max" else -a[VALUE]
        counts = np.ones(value.shape, bool) if mask is None else (mask[VALUE] == 1) & (mask[ERROR] == 0)
        is_open = self.is_open(a)
        is_nan = np.isnan(value) & ~is_open
        least = np.where(is_open | is_nan | ~counts, -inf, value - a[ERROR])
        most = np.where(is_open | is_nan, inf, value + a[ERROR])
        # An element that is surely as great keeps later ones off; and so does NaN.
        sure = over_rows(np.maximum, least, starts)
        none = np.iinfo(np.int64).max
        is_sure = counts & ~is_open & ~is_nan & (least == sure)
        first = over_rows(np.minimum, np.where(is_sure, at, none), starts)
        nan_at = over_rows(np.minimum, np.where(is_nan & counts, at, none), starts)
        has_nan = nan_at < none
        may_be = np.where(has_nan, is_open | is_nan, (most > sure) | ((most == sure) & (at <= first)))
        may_be = may_be & (~has_nan | (at <= nan_at))
        found = VALUES.coordinate(op, a[VALUE], None if mask is None else mask[VALUE], at, starts)
        each = np.repeat(found, np.diff(np.append(starts, len(at))))
        # Where nothing surely counts, there may be nothing.
        nothing = np.logical_not(over_rows(np.logical_or, counts, starts))
        error = np.maximum(np.where(may_be, np.abs(at - each), 0), np.where(nothing, each, 0))
        return self.element(found, over_rows(np.maximum, error, starts)[starts])

    def best_values(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        """Put in order, values are off by no more than the worst of them."""
        counts = counting(a[VALUE], None if mask is None else mask[VALUE])
        error = a[ERROR]
        if mask is not None:
            error = np.where(uncertain(mask) > 0, inf, np.where(counts, error, 0))
        worst = over_rows(np.maximum, error, starts)[starts]
        places = best(op, a[VALUE], counts, at, starts, k)
        return self.element(taken(a[VALUE], places), np.repeat(worst, k))

    def best_places(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        """The bound reaches to the furthest coordinate whose element may have the rank."""
        counts = np.ones(at.shape, bool) if mask is None else (mask[VALUE] == 1) & (mask[ERROR] == 0)
        is_open, away = self.is_open(a), a[ERROR] if op == "max" else -a[ERROR]
        worst, far = (-inf, nan) if op == "max" else (inf, nan)
        known = Uncertain(
            descending(op, np.where(is_open, worst, a[VALUE] - away)),
            descending(op, np.where(is_open, far, a[VALUE] + away)),
            *(counts, at, starts),
        )
        first, last = known.ranks()
        present = counting(a[VALUE], None if mask is None else mask[VALUE])
        found = taken(at, best(op, a[VALUE], present, at, starts, k)).reshape(-1, k)
        rows = row_numbers(starts, len(at))
        sure = np.bincount(rows, counts, len(starts))
        error = np.zeros(found.shape)
        for rank in range(k):
            may_be = (first <= rank) & (rank <= last)
            distance = np.where(may_be, np.abs(at - found[rows, rank]), 0)
            # Where no more elements surely count, there may be none.
            error[:, rank] = over_rows(np.maximum, distance, starts)[starts]
            error[:, rank] = np.maximum(error[:, rank], np.where(sure <= rank, found[:, rank], 0))
        return self.element(found.reshape(-1), error.reshape(-1))

    def is_open(self, a: Array) -> Mask:
        """Of which elements nothing is known."""
        is_open: Mask = a[ERROR] == inf
        return is_open

    def sum_error(self, error: Array, terms: Array, count: Array) -> Array:
        """The error of a sum of this many elements, in any order, from the sums of their errors and of their
        magnitudes."""
        self.watch(terms + error)
        if self.sums_are_exact:
            return error
        additions = np.maximum(count - 1, 0)
        growth = np.expm1(additions * np.log1p(self.relative))
        sums: Array = error + growth * (terms + error) + additions * self.absolute * (1 + growth)
        return sums

    def product_error(self, magnitude: Array, greatest: Array, weight: Array, count: Array) -> Array:
        """The error of a product of this many elements, in any order, from the products of their magnitudes,
        of the greatest that these may be, and of that where it is above 1."""
        growth = np.expm1(np.maximum(count - 1, 0) * np.log1p(self.relative))
        self.watch((1 + growth) * weight)
        # The difference of two products that were rounded here.
        change = np.maximum(greatest - magnitude, 0) + (greatest > magnitude) * 2.0**-50 * count * greatest
        error: Array = no_nan(change) + growth * greatest
        if self.of_products:
            error = error + np.maximum(count - 1, 0) * self.of_products * (1 + growth) * weight
        return error

    def result(self, a: Array) -> Array:
        return np.stack([a[VALUE], a[ERROR], np.zeros_like(a[VALUE])])


def _times(a: Array, b: Array) -> Array:
    """The product; zero times anything is zero."""
    product = a * b
    return np.where((a == 0) | (b == 0), 0, product) if np.isnan(product).any() else product


def uncertain(a: Array) -> Array:
    """1 where an element's error leaves open whether it is zero."""
    is_open: Mask = (a[ERROR] > 0) & (np.abs(a[VALUE]) <= a[ERROR])
    return is_open.astype(np.float64)


def difference(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Of each element. None where both are the same infinity, or no number; an infinite one where one of them
    is no number."""
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.abs(actual - expected)
    return np.where(same, 0.0, np.where(np.isnan(found), np.inf, found))
