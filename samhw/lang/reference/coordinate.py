"""argmax and argmin: the coordinate of the first of the greatest, or least, values along an index."""

from collections.abc import Mapping

from samhw.lang import COORDINATES, Access, Statement
from samhw.lang.reference.along import along
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.relation import Points, Relation
from samhw.lang.reference.running import points_to_visit

__all__ = ["coordinate"]


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
