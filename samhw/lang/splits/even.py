"""Rows shared so that each of some parts has about equally many entries."""

from collections.abc import Sequence
from heapq import heappop, heapreplace

import numpy as np
from numpy.typing import NDArray

__all__ = ["evenly_shared"]


def evenly_shared(
    lengths: NDArray[np.int64], count: int, room: Sequence[int] | None = None
) -> list[list[int]]:
    """The rows of each part, the longest first.

    The longest rows first, each goes to the part that has the fewest entries so far; the fullest part has at
    most 4/3 of what is possible (Graham, Bounds on multiprocessing timing anomalies, 1969), if every part has
    room for as many rows as come.

    Args:
        lengths: of the rows, in entries.
        room: how many rows each part has room for, in all as many as there are; by default any number, and
            rows without entries are in no part.
    """
    parts: list[list[int]] = [[] for _ in range(count)]
    filled = [(0, n) for n in range(count) if room is None or room[n]]
    rows = np.argsort(-lengths, kind="stable")
    for row in (rows if room is not None else rows[: np.count_nonzero(lengths)]).tolist():
        entries, part = filled[0]
        parts[part].append(row)
        if room is not None and len(parts[part]) == room[part]:
            heappop(filled)
        else:
            heapreplace(filled, (entries + int(lengths[row]), part))
    return parts
