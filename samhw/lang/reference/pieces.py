"""Taking long work in pieces, each with arrays of about the same size."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod

from samhw.lang.reference.join import joined, union
from samhw.lang.reference.lookup import Lookup
from samhw.lang.reference.relation import Array, Points, Relation, gathered

__all__ = ["in_pieces", "side_by_side"]

PIECE = 1 << 16
"""How many elements an array of a piece has, about."""


_WHOLE = 1 << 22
"""How many elements an operand may have that is the same for all points, and so is kept."""


def in_pieces(
    sets: Sequence[Points],
    blocks: Sequence[Collection[str]],
    kept: Sequence[str],
    extents: Mapping[str, int],
) -> tuple[tuple[str, ...], Iterator[Points]]:
    """The points that all sets have in common, in the order of the first of the indices `kept` that they
    have, and the indices that they have: those of the sets, and what it takes to keep arrays small.

    Args:
        blocks: the indices of each array that there is for a piece.
    """
    sets, block = _enumerated(sets, blocks, kept, extents)
    indices = tuple(dict.fromkeys(index for points in sets for index in points.indices))
    leading = next((index for index in kept if index in indices), None)
    return indices, joined(sets, extents, max(1, PIECE // block), leading)


def side_by_side(
    relations: Sequence[Relation], kept: Sequence[str], within: Points | None = None
) -> Iterator[tuple[Points, list[Array]]]:
    """The values of several relations over the same indices wherever one of them may not be zero, in pieces.

    The arrays have the axes (..., points, kept). With `within`, only what lies in those points is given.
    """
    extents = relations[0].extents
    points = relations[0].points
    for relation in relations[1:]:
        points = union(points, relation.points, extents)
    _, pieces = in_pieces([points, *([] if within is None else [within])], [kept], kept, extents)
    lookups: list[dict[tuple[str, ...], Lookup]] = [{} for _ in relations]
    for piece in pieces:
        yield piece, [gathered(r, piece, kept, found) for r, found in zip(relations, lookups, strict=True)]


def _enumerated(
    sets: Sequence[Points],
    blocks: Sequence[Collection[str]],
    kept: Collection[str],
    extents: Mapping[str, int],
) -> tuple[list[Points], int]:
    """The sets with further indices, so that arrays along the others are small, and the elements of the
    largest of those at one point."""
    sets = list(sets)
    indices = {index for points in sets for index in points.indices}
    while True:
        sizes = [
            (prod(extents[i] for i in block if i not in indices), bool(indices.intersection(block)), block)
            for block in blocks
        ]
        # What is the same at all points is there only once.
        over = [
            (size, block)
            for size, varies, block in sizes
            if size > (PIECE if varies or not indices else _WHOLE)
        ]
        if not over:
            return sets, max((size for size, varies, _ in sizes if varies or not indices), default=1)
        _, block = max(over, key=lambda item: item[0])
        index = max((i for i in block if i not in indices), key=lambda i: (i in kept, extents[i]))
        sets.append(Points.along(index, extents[index]))
        indices.add(index)
