"""Lanes by part: how many of the lanes of an index each part gets, so that they have the same to do."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_LANES", "Busiest", "dealt", "lane_shares"]

Busiest = Callable[[str, int], Callable[[int], int]]
"""Of a part and a mode of it, what the busiest lane has to do, by the number of lanes."""

MOST_LANES = 16
"""Of one scatter: more are a tree of such, whose factors are at most this."""


def lane_shares(busiest: Sequence[Callable[[int], int]], lanes: int) -> list[int]:
    """For each part a number of lanes, `lanes` in all, or one for each part if these are more.

    The busiest lane of all has as little to do as is possible: the numbers are the least ones with which no
    lane has more.

    Args:
        busiest: for each part, what its busiest lane has to do, by its number of lanes.
    """
    counts = [n for n in range(1, lanes + 1) if _has_tree(n)] or [1]
    work = np.array([[own(n) for n in counts] for own in busiest])
    chosen = np.zeros(len(busiest), np.int64)
    bounds = np.unique(work)
    low, high = 0, len(bounds)
    while low < high:
        middle = (low + high) // 2
        fits = work <= bounds[middle]
        least = fits.argmax(axis=1)
        if fits.any(axis=1).all() and sum(counts[n] for n in least) <= lanes:
            chosen, high = least, middle
        else:
            low = middle + 1
    return [counts[n] for n in chosen]


def dealt(rows: NDArray[np.int64]) -> Callable[[int], int]:
    """By the number of lanes, the entries of the busiest of them, to which rows of these lengths are dealt in
    turn."""

    def busiest(lanes: int) -> int:
        turns = np.arange(len(rows)) % lanes
        return int(np.bincount(turns, weights=rows, minlength=1).max())

    return busiest


def _has_tree(lanes: int) -> bool:
    """Whether a tree of scatters has this many lanes."""
    for factor in range(2, MOST_LANES + 1):
        while lanes % factor == 0:
            lanes //= factor
    return lanes == 1
