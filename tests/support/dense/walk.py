"""The one walk over a statement on dense arrays, for everything that is computed about it.

What the arrays hold is the matter of a `Domain`; values.py has the only one. Below, an array has the axes of
`Statement.indices` at its end, of extent 1 where it lacks an index, so that arrays of one statement
broadcast. A domain may keep several parts of an element in axes before them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from samhw.lang.expr import Access, Add, Call, Concat, Div, Expr, Literal, Mul, Neg, Reshape, Sub
from samhw.lang.statement import Statement
from samhw.lang.traverse import accesses, factors_of, free_indices

__all__ = ["Array", "Domain", "sum_of_products", "walk_statement"]

Array = NDArray[Any]

K = TypeVar("K")

_MOST_POINTS = 2**22
"""How many points a function's arguments may span at once; wider ones are taken slice by slice."""


class Domain(ABC):
    """What expressions are evaluated to. `axes` are those that are reduced, counted from the end."""

    @abstractmethod
    def number(self, value: int | float) -> Array:
        """A number of the program's text, without axes for indices."""

    @abstractmethod
    def add(self, a: Array, b: Array) -> Array:
        """a + b."""

    @abstractmethod
    def negate(self, a: Array) -> Array:
        """-a."""

    @abstractmethod
    def contract(
        self, factors: Sequence[Array], divisors: Sequence[Array], mask: Array | None, axes: tuple[int, ...]
    ) -> Array:
        """The product of the factors, summed over `axes` where the mask is not zero, divided by the divisors,
        which do not have those axes."""

    @abstractmethod
    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        """A function of `check.FUNCTIONS`, element by element."""

    @abstractmethod
    def extreme(self, reduction: str, a: Array, mask: Array | None, axes: tuple[int, ...]) -> Array:
        """The "max" or "min" of a over `axes` where the mask is not zero; 0 where it is zero all along."""


def walk_statement(
    domain: Domain, statement: Statement, tensors: Mapping[str, Array], extents: Mapping[str, int]
) -> Array:
    """The result of a statement, modes in the order of its left side.

    Args:
        tensors: the domain's array for each tensor that the statement reads.
        extents: the extent of every index.
    """
    kept = statement.lhs.names
    shape = tuple(extents[index] for index in kept)
    match statement.rhs:
        case Reshape(operand):
            array = tensors[operand.tensor]
            return array.reshape((*array.shape[: array.ndim - len(operand.indices)], *shape))
        case Concat(index, operands):
            parts = [_expand(tensors[part.tensor], part.names, kept) for part in operands]
            return np.concatenate(parts, axis=kept.index(index) - len(kept))
    leaves = {
        access: _expand(tensors[access.tensor], access.names, statement.indices) for access in statement.reads
    }
    # The indices of the left side come first, so that the others, of extent 1 by now, are the last axes.
    rank = len(statement.indices)
    with np.errstate(all="ignore"):
        result = _Walk(domain, statement).result(leaves)
    result = result.reshape(result.shape[: result.ndim - rank + len(kept)])
    return np.broadcast_to(result, (*result.shape[: result.ndim - len(kept)], *shape))


class _Walk:
    def __init__(self, domain: Domain, statement: Statement) -> None:
        self.domain = domain
        self.statement = statement
        self.rank = len(statement.indices)
        self.axis = {index: n - self.rank for n, index in enumerate(statement.indices)}
        self.kept = tuple(self.axis[index] for index in statement.lhs.names)
        self.reduced = tuple(self.axis[index] for index in statement.reduction_indices)

    def result(self, leaves: Mapping[Access, Array]) -> Array:
        if self.statement.reduction == "sum":
            return self.sum(self.statement.rhs, leaves)
        return _sliced(self.extreme, leaves, [self.statement.reads], self.kept)

    def extreme(self, leaves: Mapping[Access, Array]) -> Array:
        value = self.element(self.statement.rhs, leaves)
        mask = self.mask(leaves)
        return self.domain.extreme(self.statement.reduction, value, mask, self.reduced)

    def mask(self, leaves: Mapping[Access, Array]) -> Array | None:
        return None if self.statement.mask is None else leaves[self.statement.mask]

    def sum(self, expr: Expr, leaves: Mapping[Access, Array]) -> Array:
        """The sum of all terms, each over its own indices."""
        domain = self.domain
        match expr:
            case Add(left, right):
                return domain.add(self.sum(left, leaves), self.sum(right, leaves))
            case Sub(left, right):
                return domain.add(self.sum(left, leaves), domain.negate(self.sum(right, leaves)))
            case Neg(operand):
                return domain.negate(self.sum(operand, leaves))
        # Without a sum, all is taken as it is written: x / inf is zero, and so is its product with NaN.
        summed = bool(set(free_indices(expr)).intersection(self.statement.reduction_indices))
        factors, divisors = self.fraction(expr) if summed else ([expr], [])

        def term(leaves: Mapping[Access, Array]) -> Array:
            return domain.contract(
                [self.element(factor, leaves) for factor in factors],
                [self.element(divisor, leaves) for divisor in divisors],
                self.mask(leaves),
                self.reduced,
            )

        # Only what is computed element by element needs an array for all of its points.
        opaque = [set(accesses(factor)) for factor in (*factors, *divisors) if not isinstance(factor, Access)]
        return _sliced(term, leaves, opaque, self.kept)

    def fraction(self, expr: Expr) -> tuple[list[Expr], list[Expr]]:
        """Factors and divisors of a term. A quotient within a product is a factor, which an infinite divisor
        makes zero, whatever the others are; so is one whose divisor has a summed index."""
        if isinstance(expr, Div) and not set(free_indices(expr.right)) & set(
            self.statement.reduction_indices
        ):
            factors, divisors = self.fraction(expr.left)
            return factors, [*divisors, expr.right]
        return list(factors_of(expr)), []

    def element(self, expr: Expr, leaves: Mapping[Access, Array]) -> Array:
        """The elements of `expr` over all of its indices."""
        domain = self.domain
        match expr:
            case Access():
                return leaves[expr]
            case Literal(value):
                number = domain.number(value)
                return number.reshape((*number.shape, *(1,) * self.rank))
            case Neg(operand):
                return domain.negate(self.element(operand, leaves))
            case Add(left, right):
                return domain.add(self.element(left, leaves), self.element(right, leaves))
            case Sub(left, right):
                return domain.add(self.element(left, leaves), domain.negate(self.element(right, leaves)))
            case Mul():
                return domain.contract([self.element(f, leaves) for f in factors_of(expr)], [], None, ())
            case Div(left, right):
                return domain.contract([self.element(left, leaves)], [self.element(right, leaves)], None, ())
            case Call(function, arguments):
                return domain.call(function, [self.element(argument, leaves) for argument in arguments])
        raise TypeError(f"'{expr}' has no elements")


def _expand(array: Array, indices: Sequence[str], target: Sequence[str]) -> Array:
    """An array with modes `indices` as one with the axes `target`, of extent 1 where it has no such mode."""
    lead = array.ndim - len(indices)
    present = [index for index in target if index in indices]
    moved = array.transpose((*range(lead), *(lead + indices.index(index) for index in present)))
    sizes = dict(zip(present, moved.shape[lead:], strict=True))
    return moved.reshape((*moved.shape[:lead], *(sizes.get(index, 1) for index in target)))


def _sliced(
    compute: Callable[[Mapping[K, Array]], Array],
    arrays: Mapping[K, Array],
    groups: Sequence[Collection[K]],
    axes: Sequence[int],
) -> Array:
    """``compute(arrays)``, in slices along `axes` of the result, so that no group of arrays broadcasts to
    more than `_MOST_POINTS`. What has no such axis to be cut along is computed whole."""
    shapes = [np.broadcast_shapes(*(arrays[key].shape for key in group)) for group in groups if group]
    shape = max(shapes, key=prod, default=())
    axis = max((axis for axis in axes if -axis <= len(shape)), key=lambda axis: shape[axis], default=0)
    if prod(shape) <= _MOST_POINTS or axis == 0 or shape[axis] == 1:
        return compute(arrays)
    step = max(1, _MOST_POINTS * shape[axis] // prod(shape))
    pieces = []
    for start in range(0, shape[axis], step):
        piece = {key: _slice(array, axis, start, start + step) for key, array in arrays.items()}
        pieces.append(_sliced(compute, piece, groups, axes))
    return np.concatenate(pieces, axis)


def _slice(array: Array, axis: int, start: int, stop: int) -> Array:
    if array.shape[axis] == 1:
        return array
    index: tuple[Any, ...] = (..., slice(start, stop), *(slice(None),) * (-axis - 1))
    return array[index]


def sum_of_products(factors: Sequence[Array], axes: tuple[int, ...]) -> Array:
    """The product of the factors, summed over `axes`, which keep the extent 1.

    Zero times anything is zero, infinity and NaN too: sparse operands skip the points where they are zero.
    """
    result = _einsum(factors, axes) if axes else reduce(np.multiply, factors)
    if not np.isnan(result).any():
        return result

    def masked(arrays: Mapping[int, Array]) -> Array:
        products = reduce(np.multiply, arrays.values())
        zero = reduce(np.logical_or, (array == 0 for array in arrays.values()))
        return np.where(zero, 0, products).sum(axes, keepdims=True)

    arrays = dict(enumerate(factors))
    kept = [axis for axis in range(-result.ndim, 0) if axis not in axes]
    return _sliced(masked, arrays, [arrays.keys()], kept)


def _einsum(factors: Sequence[Array], axes: tuple[int, ...]) -> Array:
    shape = np.broadcast_shapes(*(factor.shape for factor in factors))
    kept = [n for n in range(len(shape)) if n - len(shape) not in axes]
    dtype = np.result_type(*factors)
    if dtype.kind == "i" and _fits_float64(factors, shape):
        # Exact, and much faster, since there is a BLAS for it.
        factors = [factor.astype(np.float64) for factor in factors]
    operands: list[Any] = []
    for factor in factors:
        wide = [n for n, size in enumerate(factor.shape) if size > 1]
        operands += [factor.reshape([factor.shape[n] for n in wide]), wide]
    present = {n for subscripts in operands[1::2] for n in subscripts}
    result = np.einsum(*operands, [n for n in kept if n in present], optimize=True)
    return result.astype(dtype).reshape([shape[n] if n in kept else 1 for n in range(len(shape))])


def _fits_float64(factors: Sequence[Array], shape: tuple[int, ...]) -> bool:
    """Whether float64 is exact for every sum of products of these integers, in whatever order."""
    greatest = prod(max(1, int(np.max(np.abs(factor), initial=0))) for factor in factors)
    return greatest * prod(shape) < 2**53
