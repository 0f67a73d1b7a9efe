"""What the reference computes with: numbers (plain_values.py), or those with error bounds (bounds.py).

Arrays of one computation have the same axes, of extent 1 where an operand does not vary, so that they
broadcast. A domain may keep several parts of an element in axes before them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samhw.lang.reference.relation import Array, Mask

__all__ = ["Domain", "Reduction", "Sum", "sum_of_products"]

Sum: TypeAlias = Sequence[Sequence[Array]]
"""The sum of some products, each of which is a list of factors."""

Reduction: TypeAlias = tuple[np.ufunc, Array]
"""What is reduced, and by what."""

_MOST_POINTS = 2**20
"""How many points a product that holds NaN may span at once."""


class Domain(ABC):
    """What expressions are evaluated to."""

    @abstractmethod
    def exact(self, values: Array) -> Array:
        """The elements of plain numbers."""

    @abstractmethod
    def number(self, value: int | float) -> Array:
        """A number of the program's text, without axes."""

    @abstractmethod
    def add(self, a: Array, b: Array) -> Array:
        """a + b."""

    @abstractmethod
    def negate(self, a: Array) -> Array:
        """-a."""

    def minus_itself(self, a: Array) -> Array:
        """a - a, of one and the same number."""
        return self.add(a, self.negate(a))

    @abstractmethod
    def at_most(self, a: Array, b: Array) -> Mask:
        """Where a is surely no greater than b."""

    @abstractmethod
    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        """A function of `check.FUNCTIONS`, element by element."""

    @abstractmethod
    def indicator(self, mask: Array) -> Array:
        """1 where the mask is not zero, else 0."""

    @abstractmethod
    def factor(self, a: Array, *, alone: bool, whole: bool) -> Array:
        """What must be known of an element in a product that is summed.

        Args:
            alone: nothing multiplies it.
            whole: no sum can be taken apart in it, and it varies along all indices that are summed, so that
                no part of a sum is taken before it is multiplied.
        """

    @abstractmethod
    def products(self, factors: Sequence[Array]) -> Sequence[Sum]:
        """What must be summed up of the product of some factors: one sum for each part of a factor."""

    @abstractmethod
    def partial(self, sums: Sequence[Array]) -> Array:
        """The sum of products as a factor of others, from what `products` has asked for."""

    @abstractmethod
    def summed(
        self, sums: Sequence[Array], factors: int, divisors: Sequence[Array], *, over_points: bool
    ) -> Array:
        """The sum of products, divided by the divisors, from what `products` has asked for.

        Args:
            factors: how many the products had.
            over_points: it goes over several points.
        """

    @abstractmethod
    def reductions(self, reduction: str, a: Array, mask: Array | None) -> Sequence[Reduction]:
        """What must be reduced for the "max", "min", "prod" or "sum" of a where the mask is not zero, for
        `reduced`."""

    @abstractmethod
    def reduced(self, reduction: str, found: Sequence[Array], zero: Mask) -> Array:
        """The reduction, from what `reductions` has asked for; 0 where the mask was zero all along.

        Args:
            zero: where there are zeros beside what was reduced.
        """

    @abstractmethod
    def recurrence(self, factor: Array, value: Array, starts: NDArray[np.int64]) -> Array:
        """What ``h = h * factor + value`` becomes at each element of rows, which begin at `starts`, one
        after the other along the last axis. At the start of a row it is the value, whatever the factor."""

    @abstractmethod
    def coordinate(
        self, op: str, a: Array, mask: Array | None, at: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> Array:
        """The coordinate of the first element of each row that is its "max" or "min", or NaN.

        Args:
            mask: 1 where an element counts, which may be uncertain; without it, all of them do.
            at: the coordinates of the elements, which ascend in each row.
            starts: where rows begin, one after the other along the last axis.
        """

    @abstractmethod
    def best_values(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        """The k elements of each row that are its "max" or "min", NaN before them, one after another, and
        zeros where there are no more; row by row along the last axis. Arguments as for `coordinate`."""

    @abstractmethod
    def best_places(
        self,
        op: str,
        a: Array,
        mask: Array | None,
        at: NDArray[np.int64],
        starts: NDArray[np.int64],
        k: int,
    ) -> Array:
        """The coordinates of these elements, likewise."""

    @abstractmethod
    def result(self, a: Array) -> Array:
        """What is kept of elements that nothing is computed from: with bounds, the value, the bound, and
        whether it is open (extended.py)."""

    def product(
        self, factors: Sequence[Array], divisors: Sequence[Array] = (), *, whole: Sequence[bool] = ()
    ) -> Array:
        """The product of the factors, divided by the divisors; `whole` as in `factor`, for each of them."""
        alone = len(factors) == 1
        parts = [
            self.factor(factor, alone=alone, whole=bool(whole) and whole[n])
            for n, factor in enumerate(factors)
        ]
        found = [sum_of_products(terms, ()) for terms in self.products(parts)]
        return self.summed(found, len(factors), divisors, over_points=False)


def sum_of_products(terms: Sum, axes: tuple[int, ...]) -> Array:
    """The sum of the products, over `axes`, which keep the extent 1.

    Zero times anything is zero, infinity and NaN too: sparse operands skip the points where they are zero.
    """
    if not terms:
        return np.zeros(())
    return reduce(np.add, (_product(factors, axes) for factors in terms))


def _product(factors: Sequence[Array], axes: tuple[int, ...]) -> Array:
    result = _einsum(factors, axes) if axes else reduce(np.multiply, factors)
    if result.dtype.kind != "f" or not np.isnan(result).any():
        return result
    shape = np.broadcast_shapes(*(factor.shape for factor in factors))
    step = max(1, _MOST_POINTS * shape[0] // max(1, prod(shape)))
    pieces = []
    for start in range(0, shape[0], step):
        piece = [f if f.shape[0] == 1 else f[start : start + step] for f in factors]
        zero = reduce(np.logical_or, (factor == 0 for factor in piece))
        pieces.append(np.where(zero, 0, reduce(np.multiply, piece)).sum(axes, keepdims=True))
    return np.concatenate(pieces)


def _einsum(factors: Sequence[Array], axes: tuple[int, ...]) -> Array:
    shape = np.broadcast_shapes(*(factor.shape for factor in factors))
    kept = [n for n in range(len(shape)) if n - len(shape) not in axes]
    dtype = np.result_type(*factors)
    if dtype.kind == "i" and _fits_float64(factors, shape):
        # Exact, and much faster, since there is a BLAS for it.
        factors = [factor.astype(np.float64) for factor in factors]
    operands: list[Any] = []
    for factor in factors:
        wide = [n for n, size in enumerate(factor.shape) if size != 1]
        operands += [factor.reshape([factor.shape[n] for n in wide]), wide]
    present = {n for subscripts in operands[1::2] for n in subscripts}
    result: Array = np.einsum(*operands, [n for n in kept if n in present], optimize=True)
    return result.astype(dtype, copy=False).reshape([shape[n] if n in kept else 1 for n in range(len(shape))])


def _fits_float64(factors: Sequence[Array], shape: tuple[int, ...]) -> bool:
    """Whether float64 is exact for every sum of products of these integers, in whatever order."""
    greatest = prod(max(1, int(np.max(np.abs(factor), initial=0))) for factor in factors)
    return greatest * prod(shape) < 2**53
