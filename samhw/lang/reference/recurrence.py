"""Linear recurrences along an index: at each point what h has become, or what it has become in the end."""

from collections.abc import Mapping

import numpy as np

from samhw.lang import Access, Expr, Recurrence, Statement, free_indices
from samhw.lang.reference.along import Along, along
from samhw.lang.reference.contraction import Contraction
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.elimination import SumOfProducts
from samhw.lang.reference.lookup import Integers
from samhw.lang.reference.relation import Array, Points, Relation
from samhw.lang.reference.running import accumulated, points_to_visit, row_ends
from samhw.lang.traverse import factors_of

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
    found = along(domain, statement, run.children, kept, run.index, leaves, extents, sets)
    factor, value = _masked(domain, found)
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
    """What h has become after the last point: each value times the factors of all points after its own,
    summed up."""
    mask = statement.mask
    own = {run.index, *free_indices(run.factor), *(() if mask is None else mask.variables)}
    names = tuple(index for index in statement.indices if index in own)
    sets = points_to_visit(statement, run.index, run.operand, leaves, extents, None, names)
    found = along(domain, statement, [run.factor], names, run.index, leaves, extents, sets)
    (factor,) = _masked(domain, found)
    behind = Points(names, found.points.rows(names))
    products = Relation(
        behind, (), _products_behind(domain, factor, found.starts), {index: extents[index] for index in names}
    )
    # No tensor of a program has such a name.
    access = Access.of("factors after", names)
    kept = statement.lhs.names
    contraction = Contraction(domain, {**leaves, access: products}, extents, kept, (run.index,))
    factors: list[Expr] = [access, *factors_of(run.operand)]
    sums = SumOfProducts(contraction, factors, [], mask, [] if within is None else [within])
    return sums.result(lambda array: array)


def _products_behind(domain: Domain, factor: Array, starts: Integers) -> Array:
    """For each element of rows, the product of the factors after it in its row."""
    count = factor.shape[-1]
    backwards = count - row_ends(starts, count)[::-1]
    found = domain.reductions("prod", factor[..., ::-1], None)
    products = [accumulated(by, part, backwards) for by, part in found]
    values = domain.reduced("prod", products, np.zeros((), bool))
    before = np.roll(values, 1, axis=-1)
    one = domain.indicator(domain.number(1))
    before[..., backwards] = one.reshape((*one.shape, 1))
    return before[..., ::-1]


def _masked(domain: Domain, found: Along) -> list[Array]:
    """The factor and the value: where a mask is zero, which may be uncertain, 1 and 0."""
    one = domain.indicator(domain.number(1))
    one = one.reshape((*one.shape, 1))
    mask = found.mask
    if mask is None or (mask == one).all():
        return list(found.elements)
    factor, *values = found.elements
    without = domain.add(one, domain.negate(mask))
    return [
        domain.add(domain.product([mask, factor]), without),
        *(domain.product([mask, value]) for value in values),
    ]
