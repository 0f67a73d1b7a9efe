"""One statement, computed at the points where it may be anything but zero, some points at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import numpy as np

from samhw.frontend import (
    Access,
    Add,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Reshape,
    Statement,
    Sub,
    accesses,
    free_indices,
)
from samhw.frontend.expr import factors_of
from samhw.reference.domain import Domain, Reduction, sum_of_products
from samhw.reference.groups import Groups
from samhw.reference.join import distinct
from samhw.reference.lookup import Lookup
from samhw.reference.moves import concatenated, elements, reshaped
from samhw.reference.pieces import in_pieces, side_by_side
from samhw.reference.relation import Array, Points, Relation, gathered
from samhw.reference.support import support

__all__ = ["evaluate_statement"]

Finish: TypeAlias = Callable[[Array], Array]
"""Takes what is to be kept of the elements of a result."""

Gather: TypeAlias = Callable[[Access], Array]
"""Gives a tensor's elements at some points."""


def _same(array: Array) -> Array:
    return array


def evaluate_statement(
    domain: Domain,
    statement: Statement,
    tensors: Mapping[str, Relation],
    extents: Mapping[str, int],
    *,
    is_last: bool = False,
    within: Points | None = None,
) -> Relation:
    """The result of a statement, by the modes of its left side.

    Args:
        tensors: what the statement reads, by the modes of the tensors.
        extents: of every index.
        is_last: nothing is computed from the result, so that only `Domain.result` of it is kept.
        within: points over modes of the left side; outside of them, nothing need be computed.
    """
    kept = statement.lhs.indices
    leaves = {
        access: tensors[access.tensor].renamed({str(m): i for m, i in enumerate(access.indices)})
        for access in statement.reads
    }
    finish = domain.result if is_last else _same
    with np.errstate(all="ignore"):
        match statement.rhs:
            case Reshape(operand):
                moved = elements(domain, reshaped(leaves[operand], operand, kept, extents))
                result = replace(moved, values=finish(moved.values))
            case Concat():
                moved = concatenated(domain, statement.rhs, leaves, kept)
                result = replace(moved, values=finish(moved.values))
            case _:
                result = _Walk(domain, statement, leaves, extents, within).result(finish)
        if result.is_nearly_full:
            result = result.filled(kept)
    return result.renamed({index: str(mode) for mode, index in enumerate(kept)})


class _Walk:
    def __init__(
        self,
        domain: Domain,
        statement: Statement,
        leaves: Mapping[Access, Relation],
        extents: Mapping[str, int],
        within: Points | None,
    ) -> None:
        self.domain = domain
        self.statement = statement
        self.leaves = leaves
        self.extents = extents
        self.indices = statement.indices
        self.kept = statement.lhs.indices
        self.reduced = statement.reduction_indices
        self.within: list[Points] = []
        if within is not None:
            self.within.append(Points(tuple(self.kept[int(m)] for m in within.indices), within.coords))

    def result(self, finish: Finish) -> Relation:
        if self.statement.reduction == "sum":
            return self.sum(self.statement.rhs, finish)
        return self.extreme(finish)

    # Sums

    def sum(self, expr: Expr, finish: Finish = _same) -> Relation:
        """The sum of all terms, each over its own indices."""
        domain = self.domain
        match expr:
            case Add(left, right):
                return self.add([self.sum(left), self.sum(right)], lambda a: domain.add(a[0], a[1]), finish)
            case Sub(left, right):
                return self.add(
                    [self.sum(left), self.sum(right)],
                    lambda a: domain.add(a[0], domain.negate(a[1])),
                    finish,
                )
            case Neg(operand):
                term = self.sum(operand)
                values = domain.negate(term.values)
                return replace(term, values=finish(values))
        return self.term(expr, finish)

    def add(
        self,
        terms: Sequence[Relation],
        compute: Callable[[Sequence[Array]], Array],
        finish: Finish,
    ) -> Relation:
        found = []
        for points, arrays in side_by_side(terms, self.kept):
            array = compute(arrays)
            found.append((points, finish(array)))
        return self.assembled(found)

    def term(self, expr: Expr, finish: Finish) -> Relation:
        # Without a sum, all is taken as it is written: x / inf is zero, and so is its product with NaN.
        is_sum = bool(set(free_indices(expr)).intersection(self.reduced))
        factors, divisors = self.fraction(expr) if is_sum else ([expr], [])
        mask = self.statement.mask
        domain = self.domain

        def reductions(gather: Gather, axes: tuple[int, ...]) -> list[Reduction]:
            arrays = [self.element(factor, gather) for factor in factors]
            sums = domain.sums(arrays, None if mask is None else gather(mask))
            known: dict[int, Array] = {}
            for terms in sums:
                if id(terms) not in known:
                    known[id(terms)] = sum_of_products(terms, axes)
            return [(np.add, known[id(terms)]) for terms in sums]

        def finished(found: Sequence[Array], gather: Gather) -> Array:
            below = [self.element(divisor, gather) for divisor in divisors]
            array = domain.summed(found[:-1], len(factors), below, over_points=bool(self.reduced))
            return finish(array)

        sets = [support(factor, self.leaves, self.extents) for factor in factors]
        return self.reduce([*factors, *divisors], sets, reductions, finished)

    def fraction(self, expr: Expr) -> tuple[list[Expr], list[Expr]]:
        """Factors and divisors of a term. A quotient within a product is a factor, which an infinite divisor
        makes zero, whatever the others are; so is one whose divisor has a summed index."""
        if isinstance(expr, Div) and not set(free_indices(expr.right)) & set(self.reduced):
            factors, divisors = self.fraction(expr.left)
            return factors, [*divisors, expr.right]
        return list(factors_of(expr)), []

    # The greatest and the least

    def extreme(self, finish: Finish) -> Relation:
        statement, domain = self.statement, self.domain
        mask, rhs = statement.mask, statement.rhs
        points_in_all = prod(self.extents[index] for index in self.reduced)

        def reductions(gather: Gather, axes: tuple[int, ...]) -> list[Reduction]:
            array = self.element(rhs, gather)
            found = domain.extremes(statement.reduction, array, None if mask is None else gather(mask))
            return [(by, by.reduce(a, axes, keepdims=True)) for by, a in found]

        def finished(found: Sequence[Array], gather: Gather) -> Array:
            *found, count = found
            zero = count < points_in_all if mask is None else np.zeros((), bool)
            array = domain.extreme(statement.reduction, found, zero)
            return finish(array)

        sets = [] if mask else [support(rhs, self.leaves, self.extents)]
        return self.reduce([rhs], sets, reductions, finished)

    # What both have in common

    def reduce(
        self,
        operands: Sequence[Expr],
        sets: Sequence[Points],
        reductions: Callable[[Gather, tuple[int, ...]], list[Reduction]],
        finished: Callable[[Sequence[Array], Gather], Array],
    ) -> Relation:
        """Reduces what is computed at all points to the indices of the left side.

        Args:
            operands: what is computed; those that are no tensors, element by element.
            sets: points outside of which nothing is reduced.
            reductions: what is reduced, from elements and the axes that are reduced at each point.
            finished: the elements of a result, from what was reduced, and last how many points each is made
                of.
        """
        mask, rank = self.statement.mask, len(self.indices)
        reads = {access for operand in operands for access in accesses(operand)} | ({mask} if mask else set())
        bounding = distinct([*sets, *([self.leaves[mask].points] if mask else []), *self.within])
        arrays = [self.leaves[access].indices for access in reads]
        arrays += [free_indices(operand) for operand in operands if not isinstance(operand, Access)]
        arrays.append(tuple(index for index in self.kept if any(index in array for array in arrays)))
        indices, pieces = in_pieces(bounding, arrays, self.kept, self.extents)
        inside = [index for index in self.reduced if index not in indices]
        axes = tuple(self.indices.index(index) - rank for index in inside)
        kept = [index for index in self.kept if index in indices]
        results: list[tuple[Points, Array]] = []
        state = _Operands(self)

        def emit(points: Points, found: Sequence[Array]) -> None:
            array = finished(found, state.at(points))
            # The indices of the left side come first; the others have extent 1 by now.
            results.append((points, array.reshape(array.shape[: array.ndim - rank + len(self.kept)])))

        groups = Groups(kept, self.extents, emit)
        count = prod(self.extents[index] for index in inside)
        for points in pieces:
            found = [(by, _wide(a, points.count, rank)) for by, a in reductions(state.at(points), axes)]
            found.append((np.add, np.full((points.count, *(1,) * rank), count)))
            if len(kept) == len(indices):
                # Every point is a result of its own.
                emit(points, [array for _, array in found])
            else:
                groups.add(points, found)
        if len(kept) < len(indices):
            groups.finish()
        return self.assembled(results)

    def assembled(self, found: Sequence[tuple[Points, Array]]) -> Relation:
        """The pieces of a result as one relation; their axes are those of the left side."""
        indices = found[0][0].indices
        coords = np.concatenate([points.rows(indices) for points, _ in found], axis=1)
        rank = len(self.kept)
        arrays = []
        for points, array in found:
            lead = array.ndim - 1 - rank
            shape = (
                *array.shape[:lead],
                points.count,
                *(
                    n if i in indices else self.extents[i]
                    for i, n in zip(self.kept, array.shape[lead + 1 :], strict=True)
                ),
            )
            arrays.append((lead, np.broadcast_to(array, shape)))
        lead = arrays[0][0]
        values = (
            arrays[0][1] if len(arrays) == 1 else np.concatenate([array for _, array in arrays], axis=lead)
        )
        dense = tuple(index for index in self.kept if index not in indices)
        values = values.reshape((*values.shape[: lead + 1], *(self.extents[index] for index in dense)))
        extents = {index: self.extents[index] for index in self.kept}
        return Relation(Points(indices, coords), dense, values, extents)

    def element(self, expr: Expr, gather: Gather) -> Array:
        """The elements of `expr` at some points."""
        domain = self.domain
        match expr:
            case Access():
                return gather(expr)
            case Literal(value):
                number = domain.number(value)
                return number.reshape((*number.shape, *(1,) * (1 + len(self.indices))))
            case Neg(operand):
                return domain.negate(self.element(operand, gather))
            case Add(left, right):
                return domain.add(self.element(left, gather), self.element(right, gather))
            case Sub(left, right):
                return domain.add(self.element(left, gather), domain.negate(self.element(right, gather)))
            case Mul():
                return domain.product([self.element(f, gather) for f in factors_of(expr)])
            case Div(left, right):
                return domain.product([self.element(left, gather)], [self.element(right, gather)])
            case Call(function, arguments):
                return domain.call(function, [self.element(argument, gather) for argument in arguments])
        raise TypeError(f"'{expr}' has no elements")


class _Operands:
    """The elements of tensors at points, with what it takes to find them."""

    def __init__(self, walk: _Walk) -> None:
        self.walk = walk
        self.lookups: dict[Access, dict[tuple[str, ...], Lookup]] = {}
        self.constants: dict[Access, Array] = {}

    def at(self, points: Points) -> Gather:
        return lambda access: self.gather(access, points)

    def gather(self, access: Access, points: Points) -> Array:
        relation = self.walk.leaves[access]
        is_constant = not set(relation.indices).intersection(points.indices)
        if is_constant and access in self.constants:
            return self.constants[access]
        places = Points.everything() if is_constant else points
        array = gathered(relation, places, self.walk.indices, self.lookups.setdefault(access, {}))
        if relation.plain:
            array = self.walk.domain.exact(array)
        if is_constant:
            self.constants[access] = array
        return array


def _wide(array: Array, count: int, rank: int) -> Array:
    """With a first axis for every point."""
    array = np.asarray(array)
    shape = (1,) * (rank + 1 - array.ndim) + array.shape
    return np.broadcast_to(array.reshape(shape), (count, *shape[1:]))
