"""Rounds by brute force: each cell as soon as all that it needs is there. Shares no code with samhw."""

from collections.abc import Callable, Iterable
from itertools import product

Cell = tuple[int, ...]


def asap(extents: Iterable[int], needs: Callable[[Cell], Iterable[Cell]]) -> dict[Cell, int]:
    """The round of each cell of a box, where `needs` gives what each depends on, in the box or not. Cells
    come in lexicographic order, and depend on earlier ones."""
    found: dict[Cell, int] = {}
    for cell in product(*map(range, extents)):
        found[cell] = 1 + max((found[other] for other in needs(cell) if other in found), default=-1)
    return found


def shape_of(rounds: dict[Cell, int]) -> tuple[int, int, int]:
    """Cells, rounds, and the most cells of a round."""
    counts: dict[int, int] = {}
    for m in rounds.values():
        counts[m] = counts.get(m, 0) + 1
    return len(rounds), len(counts), max(counts.values())
