"""Which sum of a product of many factors is taken next.

The order is chosen by what is stored, and has nothing to do with that of a compiler.
"""

from collections.abc import Collection, Mapping, Sequence
from math import prod

from samhw.reference.relation import Points

__all__ = ["sum_next"]


def sum_next(
    factors: Sequence[tuple[Collection[str], Points]], reduced: Collection[str], extents: Mapping[str, int]
) -> tuple[list[int], set[str]]:
    """Which factors of a product are joined next, by their positions, and which indices are summed then: of
    all sums that are left, the one over the fewest points. If there is none, all of the factors are.

    Args:
        factors: the indices of each, and where it may be anything but zero.
        reduced: the indices that are to be summed.
    """
    best, least = list(range(len(factors))), float("inf")
    for index in dict.fromkeys(i for indices, _ in factors for i in indices if i in reduced):
        span = {i for indices, _ in factors if index in indices for i in indices}
        # What has no other index costs nothing, and makes the points fewer.
        taken = [n for n, (indices, _) in enumerate(factors) if span.issuperset(indices)]
        points = prod(float(extents[i]) for i in span)
        for n in taken:
            points *= _density(factors[n][1], extents)
        if points < least:
            best, least = taken, points
    inside = {i for n in best for i in factors[n][0]}
    outside = {i for n, (indices, _) in enumerate(factors) if n not in best for i in indices}
    return best, {i for i in inside - outside if i in reduced}


def _density(points: Points, extents: Mapping[str, int]) -> float:
    return points.count / max(1, prod(extents[index] for index in points.indices))
