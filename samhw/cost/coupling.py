"""What rows of unequal length cost where two parts of a graph work on them, one after the other.

The first stage may be ahead by the rows that a reducer's banks and the channels after it hold. With few of
them each row takes about as long as the slower stage takes for it, and with many the slower stage sets the
pace in all. Both are taken to be one server each, with a finite buffer between them.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samhw.cost.statistics import Support, TensorStatistics

__all__ = ["Stage", "coupled_cycles", "two_stages"]

MOST_ROWS = 1 << 16
"""That are gone through; what they take stands for all."""


@dataclass(frozen=True)
class Stage:
    """One of two parts of a graph.

    Attributes:
        work: the coordinates at which its busiest node works.
        busy: the cycles that this takes.
    """

    work: Support
    busy: float


def coupled_cycles(
    first: Stage,
    second: Stage,
    outer: Sequence[str],
    ahead: int,
    statistics: TensorStatistics,
    lanes: int = 1,
) -> float | None:
    """The cycles of both parts together; None where nothing is known of single rows, or all are alike.

    Args:
        outer: the indices of the rows, outermost first.
        ahead: the rows that the first stage may have finished before the second one has.
        lanes: how many share the rows.
    """
    counts = statistics.by_row((first.work, second.work), outer)
    if counts is None or not all(count.sum() for count in counts):
        return None
    own, other = (
        (count * (stage.busy / count.sum()))[::lanes][:MOST_ROWS]
        for stage, count in zip((first, second), counts, strict=True)
    )
    slower = float(max(own.sum(), other.sum()))
    return two_stages(own, other, ahead) / slower * max(first.busy, second.busy) if slower else None


def two_stages(first: NDArray[np.float64], second: NDArray[np.float64], ahead: int) -> float:
    """When the second of two stages ends, which goes through rows after the first one.

    Args:
        first: how long that takes for each row.
        second: the same.
        ahead: how many rows the first may have finished that the second has not, at least 1.
    """
    ended = deque([0.0] * ahead, maxlen=ahead)
    mine = theirs = 0.0
    for own, other in zip(first.tolist(), second.tolist(), strict=True):
        mine = max(mine, ended[0]) + own
        theirs = max(theirs, mine) + other
        ended.append(theirs)
    return theirs
