"""The lanes that a search tries."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled

__all__ = ["NO_LIMIT", "Room", "more_lanes"]

MOST = 16
"""Lanes of an index that are tried."""


@dataclass(frozen=True)
class Room:
    """How large a design may be.

    Attributes:
        lanes: whether lanes are tried.
        blocks: whether blocks are tried.
        luts: how many LUTs of an ECP5 it is expected to take at the most; None for as many as it likes.
    """

    lanes: bool = False
    luts: int | None = None
    blocks: bool = False


NO_LIMIT = Room()
"""Any number of LUTs, and no lanes and no blocks but those that are given."""


def more_lanes(schedule: Schedule, compiled: Compiled) -> Iterator[Schedule]:
    """The schedule with twice as many lanes of an index that stands outermost in a region."""
    for index in dict.fromkeys(region.order[0] for region in compiled.regions if region.order):
        count = 2 * schedule.lanes.get(index, 1)
        if count <= MOST:
            yield replace(schedule, lanes={**schedule.lanes, index: count})
