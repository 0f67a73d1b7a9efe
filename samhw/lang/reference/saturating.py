"""Error bounds of fixed point where results may leave the range, and saturate.

How much a sum or a product loses then depends on its order: with a range up to 128, 100 + 100 - 100 is 28
from left to right, and 100 from right to left. So an element is kept as it is without saturation, and its
value is an interval that holds for every order, `limits`. With P and N the sums of the positive and of the
negative terms, and S = P + N:

* As long as P does not leave the range, nothing saturates at the top; and at the bottom if N does not.
* A sum that saturates at the top, as a whole or in part, is from there on no less than ``greatest + N``. So
  it is no less than the lesser of S and ``greatest + N`` in any order; likewise at the bottom.
* What saturates before it is multiplied by factors below 1 is made less by these: instead of `greatest`
  there is the product of `greatest` and all factors below 1.

Sums that saturate for sure, of terms of one sign, so have an interval of one number.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.lang.reference.bounds import ERROR, FACTOR, TERMS, VALUE, WEIGHT, Rounding, RunningError, uncertain
from samhw.lang.reference.domain import Reduction, Sum
from samhw.lang.reference.plain_values import VALUES, steps
from samhw.lang.reference.relation import Array, Mask

__all__ = ["Saturating"]

# More parts of an element.
SHRINK, SCALED, MIRRORED, DONE = 5, 6, 7, 8

_PARTS = 6
"""Those of a factor in `RunningError`."""

_AS_IT_IS = 2

_POWER = 32
"""Only sums are taken over points: the root of a sum of high powers stands for the greatest of some numbers,
and is no less. The power of what leaves the range may be infinite."""


class Saturating(RunningError):
    """Elements of nine parts, the five of `RunningError` without saturation, and

    * shrink: no factor or product of factors in the element makes anything less by more than this, which is
      at least 1;
    * scaled: 1 where it may hold something that has saturated before it was multiplied or divided;
    * mirrored: 1 where it may hold something that has saturated before its sign was changed; as the range
      has one negative number more, this is then off by one unit;
    * done: 1 where it is not computed together with what follows; 2 if the range does not matter to it.

    All are 0 where the value is exactly 0.
    """

    def __init__(self, rounding: Rounding) -> None:
        super().__init__(rounding)
        self.unit = 2 * rounding.absolute
        self.lowest = -rounding.greatest - self.unit

    # Elements

    def element(self, value: Array, error: ArrayLike) -> Array:
        """A quantity that nothing is computed together with, as it has saturated. NaN is 0."""
        value = np.asarray(value, np.float64)
        error = np.broadcast_to(np.asarray(error, np.float64), value.shape)
        value = np.where(np.isnan(value), 0, value)
        with np.errstate(invalid="ignore"):
            low, high = value - error, value + error
        # An infinite value with an infinite error may be anything.
        low = np.where(np.isnan(low), self.lowest, low)
        high = np.where(np.isnan(high), self.greatest, high)
        return self.within(value, low, high)

    def within(self, value: Array, low: Array, high: Array) -> Array:
        """A number near a value, from low to high as far as the range goes."""
        # A zero has no sign.
        middle = np.clip(value, self.lowest, self.greatest) + 0.0
        low, high = (np.clip(end, self.lowest, self.greatest) for end in (low, high))
        return self.alone(middle, np.maximum(high - middle, middle - low))

    def alone(self, value: Array, error: Array) -> Array:
        """What is done, without saturation."""
        a = super().element(value, error)
        least = np.abs(value) - a[ERROR]
        is_there = a[WEIGHT] > 0
        shrink = np.where(is_there, np.where(least > 0, 1 / np.clip(least, 1e-300, 1), np.inf), 0)
        nothing = np.zeros_like(a[VALUE])
        return np.concatenate([a, np.stack([shrink, nothing, nothing, is_there.astype(np.float64)])])

    def ends(self, a: Array) -> tuple[Array, Array]:
        """The sums of the positive and of the negative terms, with errors."""
        value, error, terms = a[:FACTOR]
        return (terms + value) / 2 + error, (value - terms) / 2 - error

    def limits(self, a: Array) -> tuple[Array, Array]:
        """The least and the greatest number that an element may be, in whatever order it is computed."""
        low, high = a[VALUE] - a[ERROR], a[VALUE] + a[ERROR]
        above, below = self.ends(a)
        is_scaled = a[SCALED] > 0
        bottom = self.lowest + self.unit * ((a[MIRRORED] > 0) | is_scaled)
        share = np.where(is_scaled, 1 / np.maximum(a[SHRINK], 1), 1)
        may_fall = is_scaled | (above > self.greatest)
        may_rise = is_scaled | (below < bottom)
        least = np.where(may_fall, np.minimum(low, share * self.greatest + below), low)
        most = np.where(may_rise, np.maximum(high, share * bottom + above), high)
        return least, most

    def settled(self, a: Array) -> Array:
        """The element as what follows finds it, if that is not computed together with it."""
        return self.within(a[VALUE], *self.limits(a))

    def number(self, value: int | float) -> Array:
        value = min(max(value, self.lowest), self.greatest)
        return self.element(np.asarray(value), 0.0 if self.represents(value) else self.absolute)

    # Sums of two

    def add(self, a: Array, b: Array) -> Array:
        value, error, terms = a[:FACTOR] + b[:FACTOR]
        result = self.alone(value, error)
        result[TERMS] = terms
        result[SHRINK:DONE] = np.maximum(a[SHRINK:DONE], b[SHRINK:DONE])
        return result

    def negate(self, a: Array) -> Array:
        result = super().negate(a)
        above, below = self.ends(a)
        may_saturate = (a[SCALED] > 0) | (above > self.greatest) | (below <= self.lowest)
        result[MIRRORED] = np.maximum(a[MIRRORED], may_saturate)
        return result

    def at_most(self, a: Array, b: Array) -> Mask:
        return super().at_most(self.settled(a), self.settled(b))

    # Sums of products

    def indicator(self, mask: Array) -> Array:
        mask = self.settled(mask)
        result = self.alone((mask[VALUE] != 0).astype(np.float64), uncertain(mask))
        # Nothing is multiplied by it, so that it is 1 in a type that has no 1, too.
        result[DONE] *= _AS_IT_IS
        return result

    def factor(self, a: Array, *, alone: bool, whole: bool) -> Array:
        if not alone:
            a = np.where(a[DONE] == 1, self.settled(a), a)
        is_done = a[DONE] > 0
        parts = super().factor(a[:SHRINK], alone=alone, whole=whole)
        present = parts[4]
        if alone:
            # All partial sums of what is multiplied by nothing are sums of the result.
            is_inside = np.logical_not(whole | is_done)
            sums = products = np.where(is_inside, a[WEIGHT], 0)
        else:
            sums = np.where(whole & is_done, np.abs(a[VALUE]) + a[ERROR], a[WEIGHT])
            products = a[WEIGHT]
        is_one = (a[VALUE] == 1) & (a[ERROR] == 0)
        is_simple = (whole & is_done) | is_one
        # Greater than 1 where the mark is set.
        marks = [1 + a[SCALED], 1 + a[MIRRORED], 1 + np.logical_not(is_done)]
        found = [sums, products**_POWER, a[SHRINK] ** _POWER, is_simple, *marks]
        return np.concatenate([parts, np.where(present > 0, np.stack(np.broadcast_arrays(*found)), 0)])

    def products(self, factors: Sequence[Array]) -> Sequence[Sum]:
        counts = range(_PARTS, len(factors[0]))
        return [*super().products(factors), *([[factor[n] for factor in factors]] for n in counts)]

    def summed(
        self, sums: Sequence[Array], factors: int, divisors: Sequence[Array], *, over_points: bool
    ) -> Array:
        plain = super().summed(sums[:_PARTS], factors, (), over_points=over_points)
        count = sums[4]
        inside, peak, shrink, simple, scaled, mirrored, undone = sums[_PARTS:]
        # Of two factors that nothing is summed of before, all that saturates is a term of the result.
        is_simple = (factors <= 2) & (simple == count)
        most = np.where(is_simple, 0, np.maximum(inside, peak ** (1 / _POWER)))
        is_done = np.logical_not(over_points or factors > 1) & (undone == count) & (count > 0)
        parts = [
            np.where(shrink == count, np.minimum(shrink, 1), shrink ** (1 / _POWER)),
            (scaled > count) | ~(most <= self.greatest),
            (mirrored > count) | ((factors > 1) & ~is_simple & (count > 0)),
            is_done,
        ]
        a = np.stack(np.broadcast_arrays(*plain, *parts))
        for divisor in divisors:
            divisor = self.settled(divisor)
            a, most = self.divided(a, divisor, most)
        return a

    def divided(self, a: Array, divisor: Array, most: Array) -> tuple[Array, Array]:
        """The quotient, and how great what it is made of may be on the way."""
        a = np.where(a[DONE] == 1, self.settled(a), a)
        a, divisor = np.broadcast_arrays(a, divisor)
        least, greatest = (np.abs(divisor[VALUE]) + sign * divisor[ERROR] for sign in (-1, 1))
        is_usual, is_done = least > 0, a[DONE] > 0
        safe = np.where(is_usual, divisor, self.exact(np.ones_like(least)))
        sums = [a[VALUE], a[ERROR], a[TERMS], a[WEIGHT], np.ones_like(least), a[FACTOR]]
        plain = super().summed(sums, 1, [safe[:SHRINK]], over_points=False)
        most = np.maximum(most, a[TERMS] + a[ERROR]) / np.where(is_usual, np.minimum(least, 1), 1)
        is_scaled = (a[SCALED] > 0) | (~is_done & ~(most <= self.greatest))
        shrink = a[SHRINK] * np.maximum(greatest, 1)
        result = np.concatenate([plain, np.stack([shrink, is_scaled, is_scaled, np.zeros_like(least)])])
        is_zero = a[TERMS] + a[ERROR] == 0
        return np.where(is_usual | is_zero, result, self.by_zero(a, divisor)), most

    def by_zero(self, a: Array, divisor: Array) -> Array:
        """The quotient of what is not zero by what may be: saturated with the sign of the dividend."""
        above, below = self.ends(a)
        is_sure = (divisor[VALUE] == 0) & (divisor[ERROR] == 0)
        share = np.where(a[DONE] > 0, 1, 1 / np.maximum(a[SHRINK], 1))
        is_positive = is_sure & (a[VALUE] > a[ERROR]) & (below + a[ERROR] >= 0)
        is_negative = is_sure & (a[VALUE] < -a[ERROR]) & (above - a[ERROR] <= 0)
        low = np.where(is_positive, share * self.greatest, self.lowest)
        high = np.where(is_negative, share * self.lowest, self.greatest)
        return self.within(np.where(a[VALUE] == 0, 0, np.copysign(np.inf, a[VALUE])), low, high)

    # Functions, and reductions of everything on the right side

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        return super().call(function, [self.settled(argument) for argument in arguments])

    def reductions(self, reduction: str, a: Array, mask: Array | None) -> Sequence[Reduction]:
        a, mask = self.settled(a), None if mask is None else self.settled(mask)
        found = super().reductions(reduction, a, mask)
        if reduction != "prod":
            return found
        counts = a[SHRINK] > 0 if mask is None else (a[SHRINK] > 0) & (mask[VALUE] != 0)
        return [*found, (np.multiply, np.where(counts, a[SHRINK], 1))]

    def reduced(self, reduction: str, found: Sequence[Array], zero: Mask) -> Array:
        if reduction == "sum":
            *values, error, terms, _ = found
            result = self.alone(VALUES.reduced(reduction, values, zero), error)
            result[TERMS] = terms
            return self.settled(result)
        if reduction != "prod":
            return super().reduced(reduction, found, zero)
        *values, magnitude, greatest, weight, is_zero, count, shrink = found
        error = self.product_error(magnitude, greatest, weight, count)
        is_zero = np.logical_or(is_zero, zero)
        result = self.alone(VALUES.reduced(reduction, values, zero), np.where(is_zero, 0, error))
        is_scaled = np.logical_not((weight <= self.greatest) | (is_zero > 0))
        result[WEIGHT] = np.where(result[WEIGHT] > 0, np.maximum(result[WEIGHT], weight), 0)
        result[SHRINK:] = np.stack([np.where(is_zero, 0, shrink), is_scaled, is_scaled, 0 * weight])
        return result

    def recurrence(self, factor: Array, value: Array, starts: NDArray[np.int64]) -> Array:
        """In blocks, products of factors saturate by themselves."""
        factor, value = self.settled(factor), self.settled(value)
        values, error, terms, _ = self.recurrent(factor, value, starts)
        result = self.alone(values, error)
        result[TERMS] = terms
        most, product = terms + error, np.ones_like(terms)
        shrink, least = np.ones_like(terms), np.maximum(value[SHRINK], 1)
        for at in steps(starts, values.shape[-1]):
            before, r = at - 1, np.abs(factor[VALUE, at]) + factor[ERROR, at]
            product[at] = np.maximum(product[before], 1) * r
            most[at] = np.maximum(most[at], np.maximum(most[before], product[at]))
            # Nothing of what has come before is left.
            stays = r > 0
            shrink[at] = np.where(stays, shrink[before] * np.maximum(factor[SHRINK, at], 1), 1)
            least[at] = np.maximum(least[at], np.where(stays, least[before], 1))
        result[SHRINK] = shrink * least
        result[SCALED] = ~(most <= self.greatest)
        return self.settled(result)

    def coordinate(
        self, op: str, a: Array, mask: Array | None, at: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> Array:
        return super().coordinate(op, self.settled(a), mask, at, starts)

    def best_values(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        return super().best_values(op, self.settled(a), mask, at, starts, k)

    def best_places(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        return super().best_places(op, self.settled(a), mask, at, starts, k)

    def result(self, a: Array) -> Array:
        return super().result(self.settled(a))
