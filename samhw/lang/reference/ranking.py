"""top, bottom and their coordinates: the best values along an index, in order."""

from collections.abc import Mapping

import numpy as np

from samhw.lang import RANKINGS, Access, Expr, Literal, Statement
from samhw.lang.reference.along import along
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.relation import Points, Relation
from samhw.lang.reference.running import points_to_visit

__all__ = ["ranking"]


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
