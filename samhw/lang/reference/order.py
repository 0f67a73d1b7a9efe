"""Which sum of a product of many factors is taken next.

The order is chosen by what is stored, and has nothing to do with that of a compiler.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf, prod

__all__ = ["sum_next"]


def sum_next(
    factors: Sequence[tuple[Collection[str], float]], reduced: Collection[str], extents: Mapping[str, int]
) -> tuple[list[int], set[str], float]:
    """Which factors of a product are joined next, by their positions; which indices are summed then; and at
    about how many points: of all sums that are left, it is the one over the fewest. If there is none, all of
    the factors are joined.

    Args:
        factors: the indices of each, and at which share of its points it may be anything but zero.
        reduced: the indices that are to be summed.
    """
    best, least = list(range(len(factors))), inf
    for index in dict.fromkeys(i for indices, _ in factors for i in indices if i in reduced):
        span = {i for indices, _ in factors if index in indices for i in indices}
        # What has no other index costs nothing, and makes the points fewer.
        taken = [n for n, (indices, _) in enumerate(factors) if span.issuperset(indices)]
        points = prod(factors[n][1] for n in taken) * prod(float(extents[i]) for i in span)
        if points < least:
            best, least = taken, points
    inside = {i for n in best for i in factors[n][0]}
    outside = {i for n, (indices, _) in enumerate(factors) if n not in best for i in indices}
    if not outside:
        least = prod(density for _, density in factors) * prod(float(extents[i]) for i in inside)
    return best, {i for i in inside - outside if i in reduced}, least
