"""Sets of points: what they have in common, taken in pieces, and their union."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np

from samhw.lang.reference.lookup import Lookup, pieces, spread
from samhw.lang.reference.relation import Points

__all__ = ["distinct", "intersection", "joined", "union", "union_of"]


def union(a: Points, b: Points, extents: Mapping[str, int]) -> Points:
    """What is in a, in b or in both, as far as coordinates can tell: along the indices of both."""
    if not a.count or not b.count:
        return b if not a.count else a
    common = tuple(index for index in a.indices if index in b.indices)
    if not common:
        return Points.everything()
    if a.coords is b.coords and a.indices == b.indices:
        return a
    both = Points(common, np.concatenate([a.rows(common), b.rows(common)], axis=1))
    first = Lookup(both.coords, [extents[index] for index in common]).distinct()
    return Points(common, both.coords[:, first])


def distinct(sets: Sequence[Points]) -> list[Points]:
    """The sets that leave something out, each once."""
    result: list[Points] = []
    for points in sets:
        same = (o for o in result if o.coords is points.coords and o.indices == points.indices)
        if (points.indices or not points.count) and not any(same):
            result.append(points)
    return result


def intersection(sets: Sequence[Points], extents: Mapping[str, int]) -> Points:
    """What is in all of them."""
    sets = distinct(sets)
    if len(sets) < 2:
        return sets[0] if sets else Points.everything()
    (found,) = joined(sets, extents, 1 << 62, None)
    return found


def joined(
    sets: Sequence[Points], extents: Mapping[str, int], most: int, leading: str | None
) -> Iterator[Points]:
    """What is in all of some sets, in pieces of about `most` points, at least one.

    The points come in the order of the index `leading`, and as far as possible a piece begins with a new
    coordinate of it.
    """
    start, rest = _start([*sets] or [Points.everything()], leading)
    stages, indices = [], list(start.indices)
    while rest:
        # What shares the most indices leaves the fewest points.
        after = min(rest, key=lambda s: (len(set(s.indices).difference(indices)), s.count))
        rest.remove(after)
        common = [index for index in after.indices if index in indices]
        own = [index for index in after.indices if index not in indices]
        lookup = Lookup(after.rows(common), [extents[index] for index in common])
        stages.append((common, lookup, own, after.rows(own)))
        indices += own

    def extended(points: Points, stage: int) -> Iterator[Points]:
        if stage == len(stages) or not points.count:
            yield points
            return
        common, lookup, own, rows = stages[stage]
        begin, end = lookup.ranges(points.rows(common), points.count)
        for low, high in pieces(end - begin, most):
            left, position = spread(begin[low:high], end[low:high])
            new = rows[:, lookup.at(position)]
            coords = np.concatenate([points.coords[:, low:high][:, left], new])
            yield from extended(Points((*points.indices, *own), coords), stage + 1)

    is_empty = True
    for low, high in _starting_pieces(start, leading, most):
        for points in extended(Points(start.indices, start.coords[:, low:high]), 0):
            if points.count:
                is_empty = False
                yield points
    if is_empty:
        yield Points(tuple(indices), np.zeros((len(indices), 0), np.int64))


def _start(sets: list[Points], leading: str | None) -> tuple[Points, list[Points]]:
    """The set to begin with, in the order of an index, and the other sets."""
    candidates = [points for points in sets if leading in points.indices] or sets
    start = min(candidates, key=lambda points: (-len(points.indices), points.count))
    rest = list(sets)
    rest.remove(start)
    if leading is not None:
        row = start.rows([leading])[0]
        if (row[1:] < row[:-1]).any():
            start = Points(start.indices, start.coords[:, np.argsort(row, kind="stable")])
    return start, rest


def _starting_pieces(start: Points, leading: str | None, most: int) -> Iterator[tuple[int, int]]:
    if leading is None or start.count <= most:
        yield from pieces(np.ones(start.count, np.int64), most)
        return
    row = start.rows([leading])[0]
    changes = np.flatnonzero(row[1:] != row[:-1]) + 1
    low = 0
    while low < start.count:
        high = min(low + most, start.count)
        if high < start.count:
            change = int(np.searchsorted(changes, high, "right"))
            if change and changes[change - 1] > low:
                high = int(changes[change - 1])
        yield low, high
        low = high


def union_of(sets: Sequence[Points], extents: Mapping[str, int]) -> Points:
    """What is in any of them."""
    return reduce(lambda a, b: union(a, b, extents), sets, Points.nothing())
