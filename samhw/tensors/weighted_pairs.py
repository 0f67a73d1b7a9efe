"""Distinct pairs of nodes, each drawn in proportion to the weights of both.

Pairs are numbers, row * n + column, and come in ascending order.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.limits import WORD, check_memory
from samhw.tensors.formats.arrays import IntArray, run_starts

__all__ = ["pairs_of_all", "pairs_one_by_one"]

Allowed = Callable[[IntArray, IntArray], npt.NDArray[np.bool_]]
"""Which of some rows and columns may be pairs."""

_ROUNDS = 100
"""How often what is missing is drawn again."""

_TOGETHER = 1 << 18
"""Random numbers that are looked at together, as many as a cache holds."""

_PART = 64
"""Pairs are merged with those that there are already, at a cost of all; so at least one in this many of these
is looked at together."""


def pairs_of_all(rng: "np.random.Generator", weights: npt.NDArray[np.float64], count: int) -> IntArray:
    """A sample without replacement of all pairs, for which each of them gets a number."""
    n = len(weights)
    check_memory(4 * WORD * n * n, f"a power-law graph of {n:,} nodes", "use fewer nodes or a lower density")
    # A race of exponential clocks draws without replacement: the edges that ring first, at rates in
    # proportion to their weights, are the sample.
    times = rng.exponential(size=(n, n)) / (weights[:, None] * weights)
    return np.sort(np.argsort(times, axis=None)[:count])


def pairs_one_by_one(
    rng: "np.random.Generator", weights: npt.NDArray[np.float64], count: int, allowed: Allowed | None
) -> IntArray:
    """The same without looking at all pairs: those that are drawn again are left out, which makes the first
    of them a sample without replacement. Time and memory grow with the nodes and the pairs.

    Raises
    ------
    InputError
        When a few pairs have nearly all of the weight, so that others are hardly ever drawn.
    """
    n = len(weights)
    check_memory(8 * WORD * count, f"a power-law graph of {count:,} edges", "use fewer edges")
    ends = np.cumsum(weights)
    found = np.zeros(0, np.int64)
    for _ in range(_ROUNDS):
        if len(found) == count:
            return found
        draws = 2 * (count - len(found)) + 64
        row, column = _nodes(rng, ends, draws), _nodes(rng, ends, draws)
        if allowed is not None:
            keep = allowed(row, column)
            row, column = row[keep], column[keep]
        row *= n
        row += column
        found = _with_first(found, row, count)
    raise InputError(f"a power-law graph of so great a skew has no {count:,} edges: use a lower skew")


def _nodes(rng: "np.random.Generator", ends: npt.NDArray[np.float64], draws: int) -> IntArray:
    """Nodes in proportion to their weights.

    Each is the first whose end lies after a random number. For many numbers a guide table says for each of
    equally wide cells where to begin (Chen and Asau, 1974).
    """
    last = len(ends) - 1
    if draws < 4 * len(ends):
        nodes: IntArray = np.minimum(np.searchsorted(ends, rng.random(draws) * ends[-1], "right"), last)
        return nodes
    # As many cells as a power of two, so that the cell of a number is exact.
    cells = 1 << (2 * last + 1).bit_length()
    guide = np.searchsorted(ends, np.arange(cells) / cells * ends[-1], "right")
    nodes = np.empty(draws, np.int64)
    for start in range(0, draws, _TOGETHER):
        part = nodes[start : start + _TOGETHER]
        shares = rng.random(len(part))
        guide.take((shares * cells).astype(np.int64), out=part, mode="clip")
        places = shares * ends[-1]
        # Most are there already.
        before = np.flatnonzero(ends.take(part, mode="clip") <= places)
        part[before] = np.searchsorted(ends, places[before], "right")
    np.minimum(nodes, last, out=nodes)
    return nodes


def _with_first(found: IntArray, drawn: IntArray, count: int) -> IntArray:
    """Distinct pairs with the first ones of those drawn that they lack, up to `count` in all."""
    while len(drawn) and (missing := count - len(found)):
        # Of as many as are missing all are taken, whatever their order.
        size = max(missing, len(found) // _PART)
        part, drawn = drawn[:size], drawn[size:]
        if size > missing:
            distinct, first = np.unique(part, return_index=True)
            at = np.minimum(np.searchsorted(found, distinct), len(found) - 1)
            part = part[np.sort(first[found[at] != distinct])[:missing]]
        both = np.concatenate([found, np.sort(part)])
        both.sort(kind="stable")  # Which merges two runs.
        found = both[run_starts(len(both), both)]
    return found
