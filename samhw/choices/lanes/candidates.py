"""The lanes that a search tries."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.choices.choice import counts_text
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search.tried import AutoChoice, Search, Stage, Start, size_words

__all__ = ["STAGES", "more_lanes", "neighbours"]

MOST = 16
"""Lanes of an index that are tried."""


def _more(schedule: Schedule, compiled: Compiled) -> Iterator[Schedule]:
    """The schedule with twice as many lanes of an index that stands outermost in a region."""
    for index in dict.fromkeys(region.order[0] for region in compiled.regions if region.order):
        count = 2 * schedule.lanes.get(index, 1)
        if count <= MOST:
            yield replace(schedule, lanes={**schedule.lanes, index: count})


def more_lanes(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """With lanes as long as they are worth it and there is room for them."""
    if "lanes" not in search.job.room.grows:
        return best
    # Where regions side by side leave no room for lanes, these may be worth more.
    in_turn = search.seen(replace(best.schedule, parallel=search.given.parallel))
    starts = dict.fromkeys((best.schedule, best.schedule if in_turn is None else in_turn.schedule))
    grown = (
        search.grown(start, lambda way: _more(way.schedule, way.compiled))
        for schedule in starts
        if (start := search.seen(schedule)) is not None
    )
    found = min(grown, key=lambda way: way.cycles, default=best)
    if found.schedule.lanes != best.schedule.lanes:
        notes.append(f"lanes: {counts_text(found.schedule.lanes)}, {size_words(best, found)}")
    return found


STAGES: Mapping[str, Stage] = {"more": more_lanes}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With more lanes, if those are to be tried."""
    return _more(at.schedule, at.compiled) if "lanes" in at.job.room.grows else iter(())
