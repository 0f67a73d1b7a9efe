"""What is computed at points along an index, row by row.

argmax and argmin: the coordinate of the first of the greatest, or least, values along an index.

top, bottom and their coordinates: the best values along an index, in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from samhw.lang import (
    COORDINATES,
    RANKINGS,
    Access,
    Expr,
    Literal,
    Recurrence,
    RunningReduction,
    Statement,
    free_indices,
)
from samhw.lang.reference.contraction import Contraction, wide
from samhw.lang.reference.domain import Domain, Reduction
from samhw.lang.reference.elimination import SumOfProducts
from samhw.lang.reference.join import distinct
from samhw.lang.reference.lookup import Integers, Lookup
from samhw.lang.reference.pieces import in_pieces
from samhw.lang.reference.plain_values import steps, support
from samhw.lang.reference.relation import Array, Mask, Points, Provenance, Relation
from samhw.lang.traverse import factors_of

__all__ = [
    "Along",
    "accumulated",
    "along",
    "coordinate",
    "in_rows",
    "points_to_visit",
    "ranking",
    "recurrence",
    "row_ends",
    "running",
]


# Running reductions: at each point along an index, the reduction of what has come so far.


def running(
    domain: Domain,
    statement: Statement,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    within: Points | None,
) -> Relation:
    """The result of a statement whose right side is a running reduction, over the indices of its left side.

    It is computed at every coordinate along the index of the reduction, or where the mask is not zero.

    Args:
        leaves: the tensors that the statement reads, over indices.
        extents: of every index.
        within: points outside of which the result is not needed.
    """
    run, kept = statement.rhs, statement.lhs.names
    assert isinstance(run, RunningReduction)
    # A row without anything stays zero; a product begins with a one.
    operand: Expr = Literal(1) if run.exclusive and run.reduction == "prod" else run.operand
    sets = points_to_visit(statement, run.index, operand, leaves, extents, within)
    points, found = _computed(domain, statement, run, leaves, extents, sets)
    points, order, starts = in_rows(points, kept, run.index)
    accumulations = [accumulated(by, part[order], starts) for by, part in found]
    values = domain.reduced(run.reduction, accumulations, np.zeros((), bool))
    whole = Points(kept, points.rows(kept))
    sizes = {index: extents[index] for index in kept}
    is_extreme = run.reduction in ("max", "min")
    if not (is_extreme or run.exclusive):
        return Relation(whole, (), values, sizes)
    before = np.roll(values, 1, axis=-1)
    first = domain.number(int(run.reduction == "prod"))
    before[..., starts] = first.reshape((*first.shape, 1))
    provenance = None
    if is_extreme:
        elements = domain.reduced(run.reduction, [part[order] for _, part in found], np.zeros((), bool))
        stays = domain.at_most(*((elements, before) if run.reduction == "max" else (before, elements)))
        since = _since(stays, points.rows((run.index,))[0], starts, exclusive=run.exclusive)
        source = (replace(run, exclusive=False), kept, statement.mask)
        rows = tuple(index for index in kept if index != run.index)
        provenance = Provenance(source, rows, Relation(whole, (), since, sizes, plain=True))
    return Relation(whole, (), before if run.exclusive else values, sizes, provenance=provenance)


def _since(stays: Mask, places: Integers, starts: Integers, *, exclusive: bool) -> Integers:
    """From which element on, counted from 1, a running maximum or minimum has surely stayed what it is; -1
    before the first element.

    Args:
        stays: where it is surely the one before.
        places: of the elements in their rows, which begin at `starts`.
    """
    changes = np.where(stays, 0, places + 1)
    changes[starts] = places[starts] + 1
    since: Integers = accumulated(np.maximum, changes, starts).astype(np.int64)
    if exclusive:
        since = np.roll(since, 1)
        since[starts] = -1
    return since


def points_to_visit(
    statement: Statement,
    along: str,
    operand: Expr,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    within: Points | None,
    indices: Sequence[str] | None = None,
) -> list[Points]:
    """The points that must be looked at, as what is in all of some sets that together have all indices.

    Args:
        along: the index along which a value goes on.
        operand: where it is zero all along that index, so is the result.
        within: points outside of which the result is not needed.
        indices: of the points; without them, those of the left side.
    """
    sets = [] if within is None else [within.all_along(along, extents)]
    if statement.mask is not None:
        sets.append(leaves[statement.mask].points)
    else:
        visited = support(operand, leaves, extents).all_along(along, extents)
        if indices is not None:
            visited = visited.onto([index for index in visited.indices if index in indices], extents)
        sets.append(visited)
    sets = distinct(sets)
    listed = {index for points in sets for index in points.indices}
    names = statement.lhs.names if indices is None else indices
    return sets + [Points.along(index, extents[index]) for index in names if index not in listed]


def _computed(
    domain: Domain,
    statement: Statement,
    run: RunningReduction,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    sets: Sequence[Points],
) -> tuple[Points, list[Reduction]]:
    """The points, as far as the mask may not be zero there, and what must be reduced along them."""
    mask, kept = statement.mask, statement.lhs.names
    contraction = Contraction(domain, leaves, extents, kept, ())
    gathered = contraction.gathering()
    indices, pieces = in_pieces(sets, [kept], kept, extents)
    rank = len(kept)
    coords, columns = [], []
    by: list[np.ufunc] = []
    for points in pieces:
        gather = gathered(points)
        masked = None if mask is None else gather(mask)
        found = domain.reductions(run.reduction, contraction.element(run.operand, gather), masked)
        by = [function for function, _ in found]
        column = [wide(part, points.count, rank).reshape(points.count) for _, part in found]
        rows = points.rows(indices)
        if masked is not None:
            parts = domain.indicator(masked) != 0
            is_there = parts.any(axis=tuple(range(parts.ndim - 1 - rank)))
            is_there = wide(is_there, points.count, rank).reshape(points.count)
            column, rows = [part[is_there] for part in column], rows[:, is_there]
        columns.append(column)
        coords.append(rows)
    merged = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    whole = Points(indices, np.concatenate(coords, axis=1))
    return whole, list(zip(by, merged, strict=True))


def in_rows(points: Points, kept: Sequence[str], along: str) -> tuple[Points, Integers, Integers]:
    """The points row by row, a row being those that differ in one index alone; their places before; and where
    rows begin."""
    others = [index for index in kept if index != along]
    rows = points.rows((*others, along))
    order = np.lexsort(rows[::-1])
    ordered = Points((*others, along), rows[:, order])
    if not points.count:
        return ordered, order, np.zeros(0, np.int64)
    outer = ordered.rows(others)
    return ordered, order, Lookup(outer, [int(row.max()) + 1 for row in outer]).starts()


def row_ends(starts: Integers, count: int) -> Integers:
    """Where rows end, of this many elements in all."""
    return np.append(starts[1:], count)[: len(starts)]


def accumulated(by: np.ufunc, part: Array, starts: Integers) -> Array:
    """The running reduction of each row, from its start on."""
    result = part.copy()
    ends = row_ends(starts, len(part))
    if len(starts) <= (ends - starts).max(initial=0):
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            by.accumulate(part[start:end], out=result[start:end])
        return result
    # Many short rows go on side by side.
    for at in steps(starts, len(part)):
        result[at] = by(result[at - 1], result[at])
    return result


@dataclass(frozen=True)
class Along:
    """Expressions at points in the order of an index.

    Attributes:
        elements: of each expression, along the last axis.
        mask: 1 where the statement's mask is not zero, along the last axis; it may be uncertain, but is zero
            nowhere. None without a mask.
        starts: where rows begin, a row being the points that differ in the index alone.
    """

    points: Points
    elements: Sequence[Array]
    mask: Array | None
    starts: Integers


def along(
    domain: Domain,
    statement: Statement,
    exprs: Sequence[Expr],
    kept: Sequence[str],
    index: str,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    sets: Sequence[Points],
) -> Along:
    """Expressions at the points, as far as the mask of their statement may not be zero there.

    Args:
        kept: the indices of the points, with the one that the rows go along.
        leaves: the tensors that the statement reads, over indices.
        extents: of every index.
        sets: the points are what is in all of them; together they have all indices.
    """
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
            column, rows = [a[..., is_there] for a in [*column, mask]], rows[:, is_there]
        columns.append(column)
        coords.append(rows)
    points, order, starts = in_rows(Points(indices, np.concatenate(coords, axis=1)), kept, index)
    elements = [np.concatenate(parts, axis=-1)[..., order] for parts in zip(*columns, strict=True)]
    return Along(points, elements[: len(exprs)], elements[-1] if statement.mask else None, starts)


def _column(array: Array, count: int, rank: int) -> Array:
    """The elements at points alone, after the axes for their parts."""
    lead = array.shape[: array.ndim - 1 - rank]
    return np.broadcast_to(array, (*lead, count, *(1,) * rank)).reshape((*lead, count))


def coordinate(
    domain: Domain,
    statement: Statement,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    within: Points | None,
) -> Relation:
    """The result of a statement that is reduced by `argmax` or `argmin`, over the indices of its left side.

    Every coordinate along the index is looked at, or those where the mask is not zero. A row without any has
    the coordinate 0, and so has one of zeros alone.

    Args:
        leaves: the tensors that the statement reads, over indices.
        extents: of every index.
        within: points outside of which the result is not needed.
    """
    kept = statement.lhs.names
    (index,) = statement.reduction_indices
    names = (*kept, index)
    sets = points_to_visit(statement, index, statement.rhs, leaves, extents, within, names)
    found = along(domain, statement, [statement.rhs], names, index, leaves, extents, sets)
    (element,) = found.elements
    (at,) = found.points.rows((index,))
    op = COORDINATES[statement.reduction]
    values = domain.coordinate(op, element, found.mask, at, found.starts)
    points = Points(kept, found.points.rows(kept)[:, found.starts])
    return Relation(points, (), values, {i: extents[i] for i in kept})


def ranking(
    domain: Domain,
    statement: Statement,
    leaves: Mapping[Access, Relation],
    extents: Mapping[str, int],
    within: Points | None,
) -> Relation:
    """The result of a statement that puts values in order, over the indices of its left side.

    Every coordinate along the index is looked at, or those where the mask is not zero. A row has zeros after
    its last value.

    Args:
        leaves: the tensors that the statement reads, over indices.
        extents: of every index.
        within: points outside of which the result is not needed.
    """
    kept, rank = statement.lhs.names, statement.rank
    assert rank is not None
    (index,) = statement.reduction_indices
    outer = [name for name in kept if name != rank]
    names = (*outer, index)
    gives_places = statement.reduction.startswith("arg")
    # A row of zeros alone has zeros in order, but the coordinates of all of them.
    seen: Expr = Literal(1) if gives_places else statement.rhs
    if within is not None:
        within = within.all_along(rank, extents)
    sets = points_to_visit(statement, index, seen, leaves, extents, within, names)
    found = along(domain, statement, [statement.rhs], names, index, leaves, extents, sets)
    (element,) = found.elements
    (at,) = found.points.rows((index,))
    op, k = RANKINGS[statement.reduction], extents[rank]
    put_in_order = domain.best_places if gives_places else domain.best_values
    values = put_in_order(op, element, found.mask, at, found.starts, k)
    rows = found.points.rows(outer)[:, found.starts]
    coords = dict(zip(outer, np.repeat(rows, k, axis=1), strict=True))
    coords[rank] = np.tile(np.arange(k), len(found.starts))
    points = Points(kept, np.stack([coords[name] for name in kept]))
    return Relation(points, (), values, {i: extents[i] for i in kept})


# Linear recurrences along an index: at each point what h has become, or what it has become in the end.


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
