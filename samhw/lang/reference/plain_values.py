"""Plain numbers: what a program means.

Where an expression may be anything but zero.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.lang import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.reference.domain import Domain, Reduction, Sum
from samhw.lang.reference.join import intersection, union_of
from samhw.lang.reference.relation import Array, Mask, Points, Relation
from samhw.lang.reference.sorting import best, taken
from samhw.lang.traverse import factors_of

__all__ = ["CONVERSIONS", "NARROW", "VALUES", "as_values", "counting", "over_rows", "steps", "support"]


# Numbers of one value type as numbers of another, and scaled integers, by docs/numerics.md and by the names
# of types alone.


def _narrowed(x: Array, *, mantissa: int, least: int, greatest: float, beyond: float) -> Array:
    """The nearest number of a floating-point type, of two the even one.

    Args:
        mantissa: its bits.
        least: the exponent below which numbers lie as close as there.
        greatest: the greatest number; what rounds to more is `beyond`.
    """
    x = np.asarray(x, np.float64)
    exponent = np.maximum(np.frexp(np.where(np.isfinite(x), x, 0))[1] - 1, least)
    step = np.ldexp(1.0, exponent - mantissa)
    rounded = np.rint(x / step) * step
    return np.where(np.abs(rounded) > greatest, np.copysign(beyond, x), rounded)


def _flushed(x: Array, *, mantissa: int) -> Array:
    """As `_narrowed`, of a type with the exponents of f32 and without subnormals."""
    greatest = (2 - 2.0**-mantissa) * 2.0**127
    found = _narrowed(x, mantissa=mantissa, least=-(2**20), greatest=greatest, beyond=np.inf)
    return np.where(np.abs(found) < 2.0**-126, np.copysign(0.0, found), found)


NARROW: dict[str, Callable[[Array], Array]] = {
    "f8e4m3": partial(_narrowed, mantissa=3, least=-6, greatest=448.0, beyond=np.nan),
    "f8e5m2": partial(_narrowed, mantissa=2, least=-14, greatest=57344.0, beyond=np.inf),
}
"""Functions that round to a number of another type."""

_FLOATS: dict[str, Callable[[Array], Array]] = {
    **NARROW,
    "f16": partial(_narrowed, mantissa=10, least=-14, greatest=65504.0, beyond=np.inf),
    "bf16": partial(_flushed, mantissa=7),
    "f32": partial(_flushed, mantissa=23),
}


def _whole(x: Array) -> Array:
    """The nearest whole number. One that the type lacks ends a run."""
    x = np.asarray(x)
    return x if x.dtype.kind == "i" else np.rint(x)


def _fixed(x: Array, *, width: int, fraction: int) -> Array:
    units = np.rint(np.ldexp(np.where(np.isnan(x), 0, x).astype(np.float64), fraction))
    end = 2.0 ** (width - 1)
    return np.clip(units, -end, end - 1) * 2.0**-fraction


def _scaled(x: Array, multiplier: Array, shift: Array, *, width: int, is_signed: bool) -> Array:
    """x * multiplier / 2**shift to the nearest whole number of a type, ties to even."""
    x, m, s = (np.rint(part).astype(np.int64) for part in np.broadcast_arrays(x, multiplier, shift))
    product = x * m
    cut = product >> s
    twice_rest, unit = 2 * (product - (cut << s)), np.int64(1) << s
    up = (twice_rest > unit) | ((twice_rest == unit) & (cut & 1 == 1))
    end = 1 << width - is_signed
    found: Array = np.clip(cut + up, -end * is_signed, end - 1)
    return found


class _Conversions(dict[str, Callable[..., Array]]):
    """Functions by what `Call.called` says."""

    def __missing__(self, called: str) -> Callable[..., Array]:
        function, _, kind = called.partition(" ")
        sizes = [int(size) for size in re.findall(r"\d+", kind)]
        made: Callable[..., Array]
        if function == "scale":
            made = partial(_scaled, width=sizes[0], is_signed=kind.startswith("i"))
        elif kind in _FLOATS:
            made = _FLOATS[kind]
        elif kind.startswith("fixed"):
            made = partial(_fixed, width=sizes[0], fraction=sizes[1])
        else:
            made = _whole
        self[called] = made
        return made


CONVERSIONS = _Conversions()
"""The functions whose results have another type than their operands."""


def as_values(array: ArrayLike) -> Array:
    """The array as int64 or float64."""
    array = np.asarray(array)
    return array.astype(np.int64 if array.dtype.kind in "iub" else np.float64, copy=False)


class Values(Domain):
    """Integers as int64, as far as the operations give integers, everything else as float64."""

    def exact(self, values: Array) -> Array:
        return as_values(values)

    def number(self, value: int | float) -> Array:
        return as_values(value)

    def add(self, a: Array, b: Array) -> Array:
        return a + b

    def negate(self, a: Array) -> Array:
        return -a

    def at_most(self, a: Array, b: Array) -> Mask:
        is_so: Mask = a <= b
        return is_so

    def indicator(self, mask: Array) -> Array:
        is_counted: Mask = mask != 0
        return is_counted.astype(np.int64)

    def factor(self, a: Array, *, alone: bool, whole: bool) -> Array:
        return a

    def products(self, factors: Sequence[Array]) -> Sequence[Sum]:
        return [[factors]]

    def partial(self, sums: Sequence[Array]) -> Array:
        (result,) = sums
        return result

    def summed(
        self, sums: Sequence[Array], factors: int, divisors: Sequence[Array], *, over_points: bool
    ) -> Array:
        (result,) = sums
        for divisor in divisors:
            # Zero divided by anything is zero.
            result = np.where(result == 0, 0, result / divisor)
        return result

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        known = _FUNCTIONS.get(function) or CONVERSIONS[function]
        return known(*arguments)

    def reductions(self, reduction: str, a: Array, mask: Array | None) -> Sequence[Reduction]:
        if reduction in ("sum", "prod"):
            a, there = np.broadcast_arrays(a, True if mask is None else mask != 0)
            if reduction == "sum":
                return [(np.add, np.where(there, a, 0)), (np.logical_or, there)]
            # Zero times anything is zero.
            factors = np.where(there & (a != 0), a, 1)
            return [(np.multiply, factors), (np.logical_or, there & (a == 0)), (np.logical_or, there)]
        least = reduction == "max"
        if mask is None:
            a = np.asarray(a)
            return [(np.maximum if least else np.minimum, a), (np.logical_or, np.ones_like(a, bool))]
        a, mask = np.broadcast_arrays(a, mask != 0)
        if a.dtype.kind == "i":
            limits = np.iinfo(np.int64)
            neutral: float = limits.min if least else limits.max
        else:
            neutral = -np.inf if least else np.inf
        return [(np.maximum if least else np.minimum, np.where(mask, a, neutral)), (np.logical_or, mask)]

    def reduced(self, reduction: str, found: Sequence[Array], zero: Mask) -> Array:
        value, *has_zero, is_any = found
        value = np.where(is_any, value, 0)
        if reduction == "sum":
            return value
        if reduction == "prod":
            return np.where(np.logical_or(has_zero[0], zero), 0, value)
        return np.where(zero, np.maximum(value, 0) if reduction == "max" else np.minimum(value, 0), value)

    def recurrence(self, factor: Array, value: Array, starts: NDArray[np.int64]) -> Array:
        h = value.astype(np.result_type(factor, value))
        for at in steps(starts, h.shape[-1]):
            before, r = h[at - 1], factor[at]
            # Zero times anything is zero.
            h[at] = np.where((before == 0) | (r == 0), 0, before * r) + value[at]
        return h

    def coordinate(
        self, op: str, a: Array, mask: Array | None, at: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> Array:
        (by, counted), (_, there) = self.reductions(op, a, mask)
        best = over_rows(by, counted, starts)
        is_best = there & ((a == best) | (np.isnan(a) & np.isnan(best)))
        none = np.iinfo(np.int64).max
        first = over_rows(np.minimum, np.where(is_best, at, none), starts)[starts]
        return np.where(first == none, 0, first)

    def best_values(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        return taken(a, best(op, a, counting(a, mask), at, starts, k))

    def best_places(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        return taken(at, best(op, a, counting(a, mask), at, starts, k))

    def result(self, a: Array) -> Array:
        return a


def counting(a: Array, mask: Array | None) -> Mask:
    """Which elements count."""
    return np.ones(a.shape, bool) if mask is None else mask != 0


def steps(starts: NDArray[np.int64], count: int) -> Iterator[NDArray[np.int64]]:
    """The places of the second elements of all rows, then those of the third elements, and so on.

    Args:
        starts: where rows begin.
        count: of the elements of all rows.
    """
    lengths = np.diff(np.append(starts, count))
    longest_first = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[longest_first], lengths[longest_first]
    for place in range(1, int(lengths.max(initial=0))):
        yield starts[: np.searchsorted(-lengths, -place, "left")] + place


def over_rows(by: np.ufunc, a: Array, starts: NDArray[np.int64]) -> Array:
    """The reduction of each row, at all elements of the row; rows begin at `starts`."""
    if not a.size:
        return a
    lengths = np.diff(np.append(starts, len(a)))
    result: Array = np.repeat(by.reduceat(a, starts), lengths)
    return result


VALUES = Values()


def _leaky_relu(x: Array, slope: Array) -> Array:
    return np.where((x > 0) | np.isnan(x), x, VALUES.product([slope, x]))


def _select(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition != 0, a, b)


def _integer(comparison: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: comparison(a, b).astype(np.int64)


def _normal(x: NDArray[np.float64]) -> Array:
    """The distribution function of the normal distribution."""
    from scipy.special import ndtr  # Takes a tenth of a second to be imported, and few programs need it.

    return ndtr(x)


def _sigmoid(x: NDArray[np.float64]) -> Array:
    from scipy.special import expit  # Likewise.

    return expit(x)


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": _leaky_relu,
    # At minus infinity the limit is 0, but the product would be NaN.
    "gelu": lambda x: np.where(x == -np.inf, 0.0, x * _normal(x)),
    "silu": lambda x: np.where(x == -np.inf, 0.0, x * _sigmoid(x)),
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "rint": np.rint,
    **NARROW,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "max": np.maximum,
    "min": np.minimum,
    "lt": _integer(np.less),
    "le": _integer(np.less_equal),
    "eq": _integer(np.equal),
    "select": _select,
}


def support(expr: Expr, leaves: Mapping[Access, Relation], extents: Mapping[str, int]) -> Points:
    """Points outside of which an expression is zero, by what is stored: nothing is assumed to cancel."""

    def of(expr: Expr) -> Points:
        match expr:
            case Access():
                return leaves[expr].points
            case Literal(value):
                return Points.everything() if value else Points.nothing()
            case Neg(operand):
                return of(operand)
            case Mul():
                return intersection([of(factor) for factor in factors_of(expr)], extents)
            case Div(left, _):
                return of(left)
            case Add(left, right) | Sub(left, right):
                return union_of([of(left), of(right)], extents)
            case Call("select", (_, a, b)):
                return union_of([of(a), of(b)], extents)
            case Call(arguments=arguments):
                numbers = tuple(a.value if isinstance(a, Literal) else 0 for a in arguments)
                if not _vanishes(expr.called, numbers):
                    return Points.everything()
                return union_of([of(a) for a in arguments if not isinstance(a, Literal)], extents)
        raise TypeError(f"'{expr}' has no elements")

    return of(expr)


@cache
def _vanishes(function: str, arguments: tuple[int | float, ...]) -> bool:
    """Whether a function is zero there."""
    return bool(VALUES.call(function, [VALUES.number(argument) for argument in arguments]) == 0)
