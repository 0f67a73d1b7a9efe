"""Linear recurrences along an index: at each point what h has become, or what it has become in the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from samhw.frontend import Access, Expr, Recurrence, Statement, free_indices
from samhw.frontend.expr import factors_of
from samhw.reference.contraction import Contraction
from samhw.reference.domain import Domain
from samhw.reference.elimination import SumOfProducts
from samhw.reference.lookup import Integers
from samhw.reference.pieces import in_pieces
from samhw.reference.relation import Array, Points, Relation
from samhw.reference.running import accumulated, in_rows, points_to_visit, row_ends

__all__ = ["recurrence"]


def recurrence(
    domain: Domain,
    statement: Statement,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    within: Points | None,
) -> Relation:
    """The result of a statement whose right side is a recurrence, over the indices of its left side.

    Args:
        leaves: the tensors that the statement reads, over indices.
        extents: of every index.
        within: points outside of which the result is not needed.
    """
    run, kept = statement.rhs, statement.lhs.names
    assert isinstance(run, Recurrence)
    if run.index not in kept:
        return _at_the_end(domain, statement, run, leaves, extents, within)
    sets = points_to_visit(statement, run.index, run.operand, leaves, extents, within)
    found = _along(domain, statement, run.children, kept, run.index, leaves, extents, sets)
    factor, value = found.elements
    values = domain.recurrence(factor, value, found.starts)
    points = Points(kept, found.points.rows(kept))
    return Relation(points, (), values, {index: extents[index] for index in kept})


def _at_the_end(
    domain: Domain,
    statement: Statement,
    run: Recurrence,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    within: Points | None,
) -> Relation:
    """What h has become behind the last point: each value times the factors of all points behind its own,
    summed up."""
    mask = statement.mask
    own = {run.index, *free_indices(run.factor), *(() if mask is None else mask.names)}
    names = tuple(index for index in statement.indices if index in own)
    sets = points_to_visit(statement, run.index, run.factor, leaves, extents, None, names)
    found = _along(domain, statement, [run.factor], names, run.index, leaves, extents, sets)
    (factor,) = found.elements
    behind = Points(names, found.points.rows(names))
    products = Relation(
        behind, (), _products_behind(domain, factor, found.starts), {index: extents[index] for index in names}
    )
    # No tensor of a program has such a name.
    access = Access.of("factors behind", names)
    kept = statement.lhs.names
    contraction = Contraction(domain, {**leaves, access: products}, extents, kept, (run.index,))
    factors: list[Expr] = [access, *factors_of(run.operand)]
    sums = SumOfProducts(contraction, factors, [], mask, [] if within is None else [within])
    return sums.result(lambda array: array)


def _products_behind(domain: Domain, factor: Array, starts: Integers) -> Array:
    """For each element of rows, the product of the factors behind it in its row."""
    count = factor.shape[-1]
    backwards = count - row_ends(starts, count)[::-1]
    found = domain.reductions("prod", factor[..., ::-1], None)
    products = [accumulated(by, part, backwards) for by, part in found]
    values = domain.reduced("prod", products, np.zeros((), bool))
    before = np.roll(values, 1, axis=-1)
    one = domain.number(1)
    before[..., backwards] = one.reshape((*one.shape, 1))
    return before[..., ::-1]


@dataclass(frozen=True)
class _Along:
    """Expressions at points in the order of an index: `starts` are where its rows begin."""

    points: Points
    elements: Sequence[Array]
    starts: Integers


def _along(
    domain: Domain,
    statement: Statement,
    exprs: Sequence[Expr],
    kept: Sequence[str],
    index: str,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    sets: Sequence[Points],
) -> _Along:
    """The first of two expressions is a factor: where a mask is zero it is 1, and the other one 0."""
    contraction = Contraction(domain, leaves, extents, kept, ())
    gathered = contraction.gathering()
    indices, pieces = in_pieces(sets, [kept], kept, extents)
    coords, columns = [], []
    for points in pieces:
        gather = gathered(points)
        column = [_column(contraction.element(expr, gather), points.count, len(kept)) for expr in exprs]
        rows = points.rows(indices)
        if statement.mask is not None:
            mask = _column(domain.indicator(gather(statement.mask)), points.count, len(kept))
            is_there = (mask != 0).any(axis=tuple(range(mask.ndim - 1)))
            column, mask, rows = [a[..., is_there] for a in column], mask[..., is_there], rows[:, is_there]
            column = _masked(domain, column, mask)
        columns.append(column)
        coords.append(rows)
    points, order, starts = in_rows(Points(indices, np.concatenate(coords, axis=1)), kept, index)
    elements = [np.concatenate(parts, axis=-1)[..., order] for parts in zip(*columns, strict=True)]
    return _Along(points, elements, starts)


def _column(array: Array, count: int, rank: int) -> Array:
    """The elements at points alone, behind the axes for their parts."""
    lead = array.shape[: array.ndim - 1 - rank]
    return np.broadcast_to(array, (*lead, count, *(1,) * rank)).reshape((*lead, count))


def _masked(domain: Domain, column: Sequence[Array], mask: Array) -> list[Array]:
    """The factor and the value where it may be uncertain whether a mask is zero."""
    one = domain.number(1)
    one = one.reshape((*one.shape, 1))
    if (mask == one).all():
        return list(column)
    factor, *values = column
    without = domain.add(one, domain.negate(mask))
    return [
        domain.add(domain.product([mask, factor]), without),
        *(domain.product([mask, value]) for value in values),
    ]
