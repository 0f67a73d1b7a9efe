"""What is computed at points along an index, row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from samhw.lang import Access, Expr, Statement
from samhw.lang.reference.contraction import Contraction
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.lookup import Integers
from samhw.lang.reference.pieces import in_pieces
from samhw.lang.reference.relation import Array, Points, Relation
from samhw.lang.reference.running import in_rows

__all__ = ["Along", "along"]


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
