"""What is computed at points along an index, row by row.

argmax and argmin: the coordinate of the first of the greatest, or least, values along an index.

top, bottom and their coordinates: the best values along an index, in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from samhw.lang import COORDINATES, RANKINGS, Access, Expr, Literal, Statement
from samhw.lang.reference.contraction import Contraction
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.lookup import Integers
from samhw.lang.reference.pieces import in_pieces
from samhw.lang.reference.relation import Array, Points, Relation
from samhw.lang.reference.running import in_rows, points_to_visit

__all__ = ["Along", "along", "coordinate", "ranking"]


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
