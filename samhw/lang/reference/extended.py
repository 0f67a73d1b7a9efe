"""Error bounds where infinities and NaN may come up, by the rules of docs/programs.md.

What a floating-point type gives there may depend on the order of factors and summands: infinity times the sum
of 1 and -1 is 0, but the sum of the products is NaN. So an element is one of three things:

* a number, within a bound;
* an infinity or NaN, whatever the order;
* *open*: an infinity or NaN, or else the number that there is without the products that hold one, within a
  bound.

A product with an infinity or NaN can vanish from a sum only when that is multiplied by a partial sum, which
may be zero if its terms have both signs, or by a product that may be too small for the type. In a sum of
products where neither is so, it stays.
"""

from collections.abc import Sequence
from functools import reduce
from math import inf, isnan, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.lang.reference.bounds import ERROR, FACTOR, TERMS, VALUE, WEIGHT, Rounding, RunningError, uncertain
from samhw.lang.reference.domain import Reduction, Sum
from samhw.lang.reference.plain_values import NARROW, VALUES, over_rows, steps
from samhw.lang.reference.relation import Array, Mask

__all__ = ["Extended"]

# Two more parts of an element.
SIGN, OPEN = 5, 6

_PARTS = 6
"""Those of a factor in `RunningError`. After them come indicators: a sum of products counts points."""

_PASSING = ("abs", "relu", "leaky_relu", "max", "min", "rint", *NARROW)
"""Functions that give an infinity or NaN for one, whatever may be uncertain of their other argument."""


class Extended(RunningError):
    """Elements of seven parts, the five of `RunningError` and

    * sign: 1 or -1 where an element, and everything that it is a sum of, surely has that sign; NaN has 1;
    * open: 1 where it is open. If the value is no number then, there is no number that it may be.

    The parts of `RunningError` say nothing of an element whose value is no number.
    """

    def __init__(self, rounding: Rounding) -> None:
        super().__init__(rounding)
        self.surely_beyond = rounding.greatest * (1 + 2 * rounding.relative)
        # As many as eight factors that are no less can be multiplied without becoming zero.
        self.small = rounding.absolute**0.125 * (1 + 2 * rounding.relative)
        # More than what is lost of a product of weight 1 where its parts were too small for the type.
        self.lost = max(2.0**-100, 8 * rounding.absolute)

    def element(self, value: Array, error: ArrayLike) -> Array:
        a = super().element(value, error)
        return self.classified(np.concatenate([a, np.zeros((2, *a.shape[1:]))]))

    def classified(self, a: Array) -> Array:
        """Sets sign and openness of what is not a sum of products, from its value and error."""
        error = a[ERROR].copy()
        a[VALUE] = self.without_infinities(a[VALUE])
        a[VALUE] = value = np.where((error == inf) & ~np.isfinite(a[VALUE]), 0, a[VALUE])
        a[OPEN] = (error == inf) | (a[OPEN] > 0)
        a[ERROR] = np.where(np.isfinite(value), error, 0)
        is_sure = (np.abs(value) > error) & (a[OPEN] == 0)
        a[SIGN] = np.where(np.isnan(value), 1, np.where(is_sure, np.sign(value), 0)) * (a[OPEN] == 0)
        return self.limited(a, np.abs(value) + error)

    def without_infinities(self, value: Array) -> Array:
        """NaN in the place of infinities, in a type that has none."""
        return np.where(np.isinf(value), nan, value) if isnan(self.beyond) else value

    def limited(self, a: Array, greatest: Array) -> Array:
        """What is too great for the type, or may have been on the way."""
        is_over = np.isfinite(a[VALUE]) & (a[OPEN] == 0) & ~(greatest <= self.greatest)
        # A partial product may have been too small for the type; what is greater than this was not.
        least = np.abs(a[VALUE]) - a[ERROR] - self.lost * a[WEIGHT]
        is_sure = is_over & (a[SIGN] != 0) & (least >= self.surely_beyond)
        with np.errstate(invalid="ignore"):  # Of what is not sure, the sign may be 0.
            a[VALUE] = np.where(is_sure, a[SIGN] * self.beyond, a[VALUE])
        a[SIGN] = np.where(is_sure & np.isnan(a[VALUE]), 1, a[SIGN])
        a[ERROR] = np.where(is_sure, 0, a[ERROR])
        a[OPEN] = np.where(is_over & ~is_sure, 1, a[OPEN])
        a[SIGN] = np.where(is_over & ~is_sure, 0, a[SIGN])
        return a

    def anything(self, a: Array, where: Array) -> Array:
        """Open there, with any number."""
        a[VALUE] = np.where(where & ~np.isfinite(a[VALUE]), 0, a[VALUE])
        a[ERROR] = np.where(where, inf, a[ERROR])
        a[WEIGHT] = np.where(where, inf, a[WEIGHT])
        a[OPEN] = np.where(where, 1, a[OPEN])
        a[SIGN] = np.where(where, 0, a[SIGN])
        return a

    # Sums of two

    def add(self, a: Array, b: Array) -> Array:
        a, b = np.broadcast_arrays(a, b)
        value, error, terms = a[:FACTOR] + b[:FACTOR]
        error = error + self.relative * (terms + error) + self.absolute * (terms + error > 0)
        error = np.where(np.isfinite(a[VALUE]) & np.isfinite(b[VALUE]), error, 0)
        result = self.element(value, error)
        result[OPEN] = np.maximum(a[OPEN], b[OPEN])
        result[TERMS] = np.where(np.isfinite(value), terms, np.abs(value))
        return self.limited(self.classified(result), terms + error)

    def negate(self, a: Array) -> Array:
        result = super().negate(a)
        result[SIGN] = np.where(np.isnan(a[VALUE]), a[SIGN], -a[SIGN])
        return result

    def minus_itself(self, a: Array) -> Array:
        is_number = np.isfinite(a[VALUE]) & (a[OPEN] == 0)
        return np.where(is_number, super().minus_itself(a), self.add(a, self.negate(a)))

    def at_most(self, a: Array, b: Array) -> Mask:
        is_so: Mask = super().at_most(a, b) & (a[OPEN] == 0) & (b[OPEN] == 0)
        return is_so

    # Sums of products

    def indicator(self, mask: Array) -> Array:
        found = super().indicator(mask)
        is_open = mask[OPEN] > 0
        found[ERROR] = np.where(is_open, 1, found[ERROR])
        found[SIGN] = np.where(is_open | (found[ERROR] > 0), 0, found[SIGN])
        return found

    def factor(self, a: Array, *, alone: bool, whole: bool) -> Array:
        is_number = np.isfinite(a[VALUE])
        bare = np.where(is_number, a[:SIGN], 0)
        parts = super().factor(bare, alone=alone, whole=whole)
        present = (parts[4] > 0) | ~is_number | (a[OPEN] > 0)
        finite = is_number & (a[OPEN] == 0)
        is_great = ~is_number | (np.abs(a[VALUE]) - a[ERROR] >= self.small)
        sign = np.where(is_great, a[SIGN], 0) if not alone else a[SIGN]
        is_nan = np.isnan(a[VALUE]) & (a[OPEN] == 0)
        is_special = ~is_number & (a[OPEN] == 0)
        stays = is_special & whole
        sure = np.abs(sign)
        counts = [present, present & finite, present & ~is_nan, sign, sign * finite]
        counts += [sure, sure * ~(stays & is_nan), sure * ~stays, sign * ~stays]
        # Open, and surely no number.
        is_none = ~is_number & (a[OPEN] > 0)
        counts += [np.maximum(sure, is_none), np.where(is_none & whole, 0, np.maximum(sure, is_none))]
        return np.concatenate([parts, np.stack([count.astype(np.float64) for count in counts])])

    def products(self, factors: Sequence[Array]) -> Sequence[Sum]:
        counts = range(_PARTS, len(factors[0]))
        return [*super().products(factors), *([[factor[n] for factor in factors]] for n in counts)]

    def summed(
        self, sums: Sequence[Array], factors: int, divisors: Sequence[Array], *, over_points: bool
    ) -> Array:
        plain = super().summed(sums[:_PARTS], factors, (), over_points=over_points)
        present, finite, no_nan, sign, finite_sign, *others = sums[_PARTS:]
        sure, no_nan_stays, none_stays, sign_without, sure_or_none, none_open = others
        count = present - finite
        is_there = count > 0
        # All of them stay, and have one sign.
        is_one = is_there & (np.abs(sign - finite_sign) == count)
        has_nan = is_one & (present > no_nan)
        # Some stay in any case, NaN or infinities of both signs.
        staying = sure - none_stays
        has_nan = has_nan | (sure > no_nan_stays) | (np.abs(sign - sign_without) < staying)
        value = np.where(is_one, np.sign(sign - finite_sign) * inf, plain[VALUE])
        value = np.where(sure_or_none > none_open, inf, value)
        value = self.without_infinities(np.where(has_nan, nan, value))
        a = np.stack(np.broadcast_arrays(*plain, np.zeros_like(value), np.zeros_like(value)))
        a[VALUE] = value
        a[OPEN] = is_there & ~is_one & ~has_nan
        a[ERROR] = np.where(np.isfinite(value), a[ERROR], 0)
        a[SIGN] = np.where((np.abs(sign) == present) & (present > 0) & (a[OPEN] == 0), np.sign(sign), 0)
        a[OPEN] = np.where(a[ERROR] == inf, 1, a[OPEN])
        over = a[TERMS] + a[ERROR]
        if factors > 1 or over_points:
            over = np.maximum(over, a[WEIGHT])
        a = self.limited(a, over)
        # The numbers among an infinity's summands may be too great in their turn.
        a[OPEN] = np.where(is_one & ~has_nan & ~(over <= self.greatest), 1, a[OPEN])
        for divisor in divisors:
            a = self.divided(a, divisor)
        return a

    def divided(self, a: Array, divisor: Array) -> Array:
        a, divisor = np.broadcast_arrays(a, divisor)
        value, below = a[VALUE], divisor[VALUE]
        is_open, below_open = a[OPEN] > 0, divisor[OPEN] > 0
        is_number, is_nan = np.isfinite(value), np.isnan(value) & ~is_open
        is_zero = (value == 0) & (a[ERROR] == 0) & (a[TERMS] == 0) & ~is_open
        may_be_zero = is_number & (np.abs(value) <= a[ERROR])
        is_usual = np.isfinite(below) & ~below_open & (np.abs(below) > divisor[ERROR])
        result = self.quotient(a, np.where(is_usual, divisor, self.like(divisor, 1.0)))
        # Zero divided by anything is zero.
        special = ~(is_number & is_usual)
        result[VALUE] = np.where(special, np.where(is_zero, 0, value / below), result[VALUE])
        result[ERROR] = np.where(special, 0, result[ERROR])
        by_infinity = is_number & np.isinf(below) & ~below_open
        result[TERMS : WEIGHT + 1] = np.where(by_infinity, 0, result[TERMS : WEIGHT + 1])
        result[SIGN] = np.where(is_usual, a[SIGN] * np.sign(below), np.isnan(result[VALUE]) & ~is_open)
        result = self.limited(result, np.maximum(result[WEIGHT], result[TERMS] + result[ERROR]))
        by_zero = (below == 0) & (divisor[ERROR] == 0) & ~below_open
        result = self.infinite(result, by_zero & ~is_zero & ~is_nan)
        unclear = below_open | ~(is_usual | by_zero | ~np.isfinite(below))
        unclear |= (by_zero | np.isnan(below)) & may_be_zero
        return self.anything(result, unclear & ~is_zero & ~is_nan)

    def infinite(self, a: Array, where: Mask) -> Array:
        """An infinity of either sign there, as a zero has none; or NaN."""
        if isnan(self.beyond):
            return np.where(where, self.like(a, nan), a)
        a[OPEN] = np.where(where, 1, a[OPEN])
        a[SIGN] = np.where(where, 0, a[SIGN])
        return a

    def quotient(self, a: Array, divisor: Array) -> Array:
        """a / divisor, as far as a is a number, and the divisor one that is not zero."""
        bare = np.where(np.isfinite(a[VALUE]), a[:SIGN], 0)
        sums = [bare[VALUE], bare[ERROR], bare[TERMS], bare[WEIGHT], np.ones_like(a[VALUE]), bare[FACTOR]]
        found = super().summed(sums, 1, [divisor[:SIGN]], over_points=False)
        return np.concatenate([found, a[SIGN:]])

    def like(self, a: Array, value: float) -> Array:
        """A number for each element."""
        return self.element(np.full(a.shape[1:], value), 0.0)

    # Functions, and reductions of everything on the right side

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        arguments = np.broadcast_arrays(*arguments)
        values = [argument[VALUE] for argument in arguments]
        errors = [argument[ERROR] for argument in arguments]
        result = super().call(function, arguments)
        if function == "exp":
            beyond = np.exp(values[0] - errors[0]) >= self.surely_beyond
            result = np.where(beyond, self.like(result, self.beyond), result)
        elif function in ("reciprocal", "rsqrt"):
            result = self.infinite(result, (values[0] == 0) & (errors[0] == 0))
        elif function in _PASSING:
            passed = VALUES.call(function, values)
            result = np.where(np.isfinite(passed), result, self.element(passed, 0.0))
        is_open = [argument[OPEN] > 0 for argument in arguments]
        unclear = reduce(np.logical_or, is_open)
        if function == "select":
            condition, *branches = is_open
            is_uncertain = condition | (uncertain(arguments[0]) > 0)
            either = ~np.isfinite(values[1]) | ~np.isfinite(values[2]) | branches[0] | branches[1]
            unclear = condition | np.where(is_uncertain, either, np.where(values[0] != 0, *branches))
        return self.anything(result, unclear)

    def reductions(self, reduction: str, a: Array, mask: Array | None) -> Sequence[Reduction]:
        is_open = a[OPEN] > 0
        is_nan = np.isnan(a[VALUE]) & ~is_open
        if reduction in ("sum", "prod"):
            return self.accumulations(reduction, a, mask, is_open)
        if mask is not None:
            is_open = (mask[OPEN] > 0) | (is_open & (mask[VALUE] != 0))
            is_nan = is_nan & (mask[VALUE] != 0) & (uncertain(mask) == 0) & (mask[OPEN] == 0)
        is_open, is_nan = np.broadcast_arrays(is_open, is_nan)
        found = super().reductions(reduction, a, mask)
        return [*found, (np.logical_or, is_open), (np.logical_or, is_nan)]

    def reduced(self, reduction: str, found: Sequence[Array], zero: Mask) -> Array:
        if reduction in ("sum", "prod"):
            return self.accumulated(reduction, found, zero)
        *plain, is_open, is_nan = found
        result = super().reduced(reduction, plain, zero)
        result = self.anything(result, np.logical_and(is_open, np.logical_not(is_nan)))
        return np.where(is_nan, self.like(result, nan), result)

    def accumulations(
        self, reduction: str, a: Array, mask: Array | None, is_open: Mask
    ) -> Sequence[Reduction]:
        """What must be reduced for the sum or the product of elements, each taken as it is."""
        value = np.where(is_open, 0, a[VALUE])
        if mask is not None:
            is_open = (is_open & (mask[VALUE] != 0)) | (mask[OPEN] > 0)
            value = np.where(mask[VALUE] != 0, value, 0)
        is_number = np.isfinite(value)
        # As a factor, what is not a number is 1 here.
        bare = np.where(
            is_number & ~is_open, a[:SIGN], self.like(a, 1.0 if reduction == "prod" else 0.0)[:SIGN]
        )
        found = super().reductions(reduction, bare, mask if mask is None else mask[:SIGN])
        marks = (np.isnan(value), value == inf, value == -inf, is_open)
        return [*found, *((np.logical_or, mark) for mark in np.broadcast_arrays(*marks))]

    def accumulated(self, reduction: str, found: Sequence[Array], zero: Mask) -> Array:
        """The sum or the product, from what `accumulations` has asked for."""
        *plain, nan_found, plus_found, minus_found, open_found = found
        has_nan, has_plus, has_minus = nan_found > 0, plus_found > 0, minus_found > 0
        is_open = open_found > 0
        result = super().reduced(reduction, plain, zero)
        if reduction == "prod":
            # In some orders a product may leave the range on the way, or be zero.
            *_, weight, has_zero, count = plain
            growth = np.expm1(np.maximum(count - 1, 0) * np.log1p(self.relative))
            is_open = is_open | has_nan | has_plus | has_minus | ~((1 + growth) * weight <= self.greatest)
            return self.anything(result, is_open & (has_zero == 0) & ~zero)
        *_, error, terms, _ = plain
        result = self.limited(result, terms + error)
        beyond = ~(terms + error <= self.greatest)
        is_nan = has_nan | (has_plus & has_minus)
        infinite = np.where(has_plus[None], self.like(result, inf), self.like(result, -inf))
        result = np.where((has_plus | has_minus)[None], infinite, result)
        unclear = is_open | ((has_plus | has_minus) & beyond)
        result = self.anything(result, np.logical_and(unclear, ~is_nan))
        return np.where(is_nan, self.like(result, nan), result)

    def recurrence(self, factor: Array, value: Array, starts: NDArray[np.int64]) -> Array:
        # The first factor counts for nothing.
        is_first = np.zeros(factor.shape[1:], bool)
        is_first[starts] = True
        factor = np.where(is_first, 0, factor)
        special = [~np.isfinite(a[VALUE]) | (a[OPEN] > 0) for a in (factor, value)]
        bare, added = (np.where(odd, 0, a[:SIGN]) for odd, a in zip(special, (factor, value), strict=True))
        values, error, _, greatest = self.recurrent(bare, added, starts)
        is_open = special[0] | special[1] | ~(greatest <= self.greatest)
        for at in steps(starts, values.shape[-1]):
            is_open[at] |= is_open[at - 1]
        return self.anything(self.element(values, error), is_open)

    def best_values(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        is_open = a[OPEN] > 0
        is_nan = np.isnan(a[VALUE]) & ~is_open
        if mask is not None:
            is_open = (mask[OPEN] > 0) | (is_open & (mask[VALUE] != 0))
            is_nan = is_nan & (mask[VALUE] != 0) & (uncertain(mask) == 0) & (mask[OPEN] == 0)
        result = super().best_values(op, a, mask, at, starts, k)
        # NaN comes before what is open, wherever that is.
        nans = over_rows(np.add, is_nan.astype(np.int64), starts)[starts]
        surely_nan = np.tile(np.arange(k), len(starts)) < np.repeat(nans, k)
        any_open = np.repeat(over_rows(np.logical_or, is_open, starts)[starts], k)
        result = self.anything(result, np.logical_and(any_open, ~surely_nan))
        return np.where(surely_nan, self.like(result, nan), result)

    def is_open(self, a: Array) -> Mask:
        is_open: Mask = super().is_open(a) | (a[OPEN] > 0)
        return is_open

    def result(self, a: Array) -> Array:
        return a[[VALUE, ERROR, OPEN]]
