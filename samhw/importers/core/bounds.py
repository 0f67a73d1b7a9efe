"""What the hardware of one statement can take, so that the importer makes several of what is beyond."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["DEEPEST", "MOST_JOINED", "grouped"]

Item = TypeVar("Item")

DEEPEST = 15
"""The levels of a stream, and so the loops of a statement."""

MOST_JOINED = 9
"""The streams that meet in one place, and so the terms of a sum, and the parts of a concatenation. There is
room for one more, which is what says where a dense result has values."""


def grouped(items: Sequence[Item]) -> list[Sequence[Item]]:
    """Neighbours in as few groups as can be, of about one size, each few enough to meet in one place."""
    count = -(-len(items) // MOST_JOINED)
    ends = [len(items) * n // count for n in range(count + 1)]
    return [items[a:b] for a, b in pairwise(ends)]
