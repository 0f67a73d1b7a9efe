"""Running reductions: at each point along an index, the reduction of what has come so far."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from samhw.lang import Access, Expr, Literal, RunningReduction, Statement
from samhw.lang.reference.contraction import Contraction, wide
from samhw.lang.reference.domain import Domain, Reduction
from samhw.lang.reference.join import distinct
from samhw.lang.reference.lookup import Integers, Lookup
from samhw.lang.reference.pieces import in_pieces
from samhw.lang.reference.plain_values import steps, support
from samhw.lang.reference.relation import Array, Mask, Points, Provenance, Relation

__all__ = ["accumulated", "in_rows", "points_to_visit", "row_ends", "running"]


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
