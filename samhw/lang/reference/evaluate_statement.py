"""One statement, computed at the points where it may be anything but zero, some points at a time; and sums of
several relations, at a cost that follows what each of them stores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import numpy as np

from samhw.lang import (
    COORDINATES,
    RANKINGS,
    Access,
    Add,
    Concat,
    Div,
    Expr,
    Name,
    Neg,
    Recurrence,
    Reshape,
    RunningReduction,
    Statement,
    Sub,
    free_indices,
)
from samhw.lang.reference.along import coordinate, ranking, recurrence, running
from samhw.lang.reference.contraction import Contraction, Gather, provenance_of
from samhw.lang.reference.domain import Domain, Reduction
from samhw.lang.reference.elimination import SumOfProducts
from samhw.lang.reference.indexed import concatenated, elements, gathered_at, place_name, places_of, reshaped
from samhw.lang.reference.lookup import Lookup
from samhw.lang.reference.pieces import side_by_side
from samhw.lang.reference.plain_values import support
from samhw.lang.reference.relation import Array, Points, Relation
from samhw.lang.traverse import factors_of, signed_terms

__all__ = ["evaluate_statement"]

Assembled = Callable[[Sequence[tuple[Points, Array]]], Relation]


def added(domain: Domain, terms: Sequence[Relation], kept: Sequence[str], assembled: Assembled) -> Relation:
    """The sum of some relations over the same indices, left to right.

    As long as they have their points along the same indices, only what is stored is added: where a relation
    has nothing, it adds nothing. So parts that do not meet, of however many there are, are put together in
    one go.

    Args:
        kept: the indices.
        assembled: makes a relation of pieces, as `Contraction.assembled` does.
    """
    found, *rest = terms
    while rest:
        count = next((n for n, term in enumerate(rest) if not _are_alike(found, term)), len(rest))
        if count:
            found = _point_by_point(domain, [found, *rest[:count]])
        else:
            count = 1
            pieces = side_by_side([found, rest[0]], kept)
            found = assembled([(points, domain.add(one, other)) for points, (one, other) in pieces])
        rest = rest[count:]
    return found


def _are_alike(one: Relation, other: Relation) -> bool:
    """Both have points along the same indices, and the same axes along all others."""
    indices = one.points.indices
    return bool(indices) and set(indices) == set(other.points.indices) and one.dense == other.dense


def _point_by_point(domain: Domain, terms: Sequence[Relation]) -> Relation:
    """The sum of relations that are alike: at each point of what is there, the first value, then the second
    one is added to it, and so on."""
    first = terms[0]
    indices, axis = first.points.indices, first.lead
    coords = np.concatenate([term.points.rows(indices) for term in terms], axis=1)
    values = np.concatenate([term.values for term in terms], axis=axis)
    lookup = Lookup(coords, [first.extents[index] for index in indices])
    starts = lookup.starts()
    counts = np.diff(starts, append=lookup.count)
    at = lookup.at(starts)
    total = values.take(at, axis)
    # With the axis of the points in front, whatever lies before it.
    points = np.moveaxis(total, axis, 0)
    for nth in range(1, int(np.max(counts, initial=1))):
        more = np.flatnonzero(counts > nth)
        further = values.take(lookup.at(starts[more] + nth), axis)
        points[more] = np.moveaxis(domain.add(total.take(more, axis), further), axis, 0)
    return replace(first, points=Points(indices, coords[:, at]), values=total, provenance=None)


Finish: TypeAlias = Callable[[Array], Array]
"""Takes what is to be kept of the elements of a result."""


def _same(array: Array) -> Array:
    return array


def evaluate_statement(
    domain: Domain,
    statement: Statement,
    tensors: Mapping[str, Relation],
    extents: Mapping[str, int],
    *,
    shape: Sequence[int] = (),
    is_last: bool = False,
    within: Points | None = None,
) -> Relation:
    """The result of a statement, by the modes of its left side.

    Args:
        tensors: what the statement reads, by the modes of the tensors.
        extents: of every index.
        shape: of the result, where its left side has more than names of indices.
        is_last: nothing is computed from the result, so that only `Domain.result` of it is kept.
        within: points over modes of the left side; outside of them, nothing need be computed.
    """
    if not statement.lhs.is_plain:
        return _scattered(domain, statement, tensors, extents, shape, is_last=is_last)
    kept = statement.lhs.names
    leaves = {
        access: tensors[access.tensor].renamed({str(m): i for m, i in enumerate(access.names)})
        if access.is_plain
        else gathered_at(access, tensors, extents)
        for access in statement.reads
    }
    for access, leaf in list(leaves.items()):
        if leaf.provenance is not None:
            leaves[provenance_of(access)] = leaf.provenance.since
    if within is not None:
        within = Points(tuple(kept[int(mode)] for mode in within.indices), within.coords)
    finish = domain.result if is_last else _same
    with np.errstate(all="ignore"):
        match statement.rhs:
            case Reshape(operand):
                moved = elements(domain, reshaped(leaves[operand], operand, kept, extents))
                result = replace(moved, values=finish(moved.values))
            case Concat():
                moved = concatenated(domain, statement.rhs, leaves, kept)
                result = replace(moved, values=finish(moved.values))
            case RunningReduction():
                found = running(domain, statement, leaves, extents, within)
                result = replace(found, values=finish(found.values))
            case Recurrence():
                found = recurrence(domain, statement, leaves, extents, within)
                result = replace(found, values=finish(found.values))
            case _ if statement.reduction in COORDINATES:
                found = coordinate(domain, statement, leaves, extents, within)
                result = replace(found, values=finish(found.values))
            case _ if statement.reduction in RANKINGS:
                found = ranking(domain, statement, leaves, extents, within)
                result = replace(found, values=finish(found.values))
            case _:
                result = _Walk(domain, statement, leaves, extents, within).result(finish)
        if result.is_nearly_full:
            result = result.filled(kept)
    return result.renamed({index: str(mode) for mode, index in enumerate(kept)})


def _scattered(
    domain: Domain,
    statement: Statement,
    tensors: Mapping[str, Relation],
    extents: Mapping[str, int],
    shape: Sequence[int],
    *,
    is_last: bool,
) -> Relation:
    """The result of a statement whose left side names or computes places: what it gives at each of its
    indices, summed where they come to one place."""
    lhs = statement.lhs
    alone = replace(statement, lhs=Access.of(lhs.tensor, lhs.variables))
    source = evaluate_statement(domain, alone, tensors, extents)
    places = places_of(lhs, tensors, shape, extents)
    over = places.points.indices
    at = [
        index.variable if isinstance(index, Name) else place_name(mode)
        for mode, index in enumerate(lhs.indices)
    ]
    summed = Statement(
        Access.of(lhs.tensor, at), Access.of("source", lhs.variables), mask=Access.of("places", over)
    )
    named = {str(mode): index for mode, index in enumerate(over)}
    by_mode = replace(places, points=replace(places.points, indices=tuple(named)))
    by_mode = replace(by_mode, extents={mode: places.extents[index] for mode, index in named.items()})
    known = {"source": source, "places": by_mode}
    return evaluate_statement(domain, summed, known, {**extents, **places.extents}, is_last=is_last)


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
        self.kept = statement.lhs.names
        self.reduced = statement.reduction_indices
        self.contraction = Contraction(domain, leaves, extents, self.kept, self.reduced)
        self.within = [] if within is None else [within]

    def result(self, finish: Finish) -> Relation:
        if self.statement.reduction == "sum":
            return self.sum(self.statement.rhs, finish)
        return self.reduction(finish)

    # Sums

    def sum(self, expr: Expr, finish: Finish = _same) -> Relation:
        """The sum of all terms, each over its own indices."""
        domain = self.domain
        match expr:
            case Add() | Sub():
                found = []
                for sign, one in signed_terms(expr):
                    term = self.sum(one)
                    found.append(term if sign > 0 else replace(term, values=domain.negate(term.values)))
                total = added(domain, found, self.kept, self.contraction.assembled)
                return replace(total, values=finish(total.values))
            case Neg(operand):
                term = self.sum(operand)
                values = domain.negate(term.values)
                return replace(term, values=finish(values))
        return self.term(expr, finish)

    def term(self, expr: Expr, finish: Finish) -> Relation:
        # Without a sum, all is taken as it is written: x / inf is zero, and so is its product with NaN.
        is_sum = bool(set(free_indices(expr)).intersection(self.reduced))
        factors, divisors = self.fraction(expr) if is_sum else ([expr], [])
        product = SumOfProducts(self.contraction, factors, divisors, self.statement.mask, self.within)
        return product.result(finish)

    def fraction(self, expr: Expr) -> tuple[list[Expr], list[Expr]]:
        """Factors and divisors of a term. A quotient within a product is a factor, which an infinite divisor
        makes zero, whatever the others are; so is one whose divisor has a summed index."""
        if isinstance(expr, Div) and not set(free_indices(expr.right)) & set(self.reduced):
            factors, divisors = self.fraction(expr.left)
            return factors, [*divisors, expr.right]
        return list(factors_of(expr)), []

    # The greatest, the least, and the product

    def reduction(self, finish: Finish) -> Relation:
        statement, domain = self.statement, self.domain
        mask, rhs = statement.mask, statement.rhs
        points_in_all = prod(self.extents[index] for index in self.reduced)

        def reductions(gather: Gather, axes: tuple[int, ...]) -> list[Reduction]:
            array = self.contraction.element(rhs, gather)
            found = domain.reductions(statement.reduction, array, None if mask is None else gather(mask))
            return [(by, by.reduce(a, axes, keepdims=True)) for by, a in found]

        def finished(found: Sequence[Array], gather: Gather) -> Array:
            *found, count = found
            zero = count < points_in_all if mask is None else np.zeros((), bool)
            array = domain.reduced(statement.reduction, found, zero)
            return finish(array)

        if mask is None:
            operands, points = [rhs], support(rhs, self.leaves, self.extents)
        else:
            operands, points = [rhs, mask], self.leaves[mask].points
        return self.contraction.reduce(operands, [points, *self.within], reductions, finished)
