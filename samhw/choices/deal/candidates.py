"""The ranges of rows that a search tries."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.choices.choice import counts_text
from samhw.choices.deal import RANGES
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search.tried import AutoChoice, Search, Stage, Start, size_words

__all__ = ["STAGES", "neighbours"]

MOST = 64
"""Lanes with ranges that are tried: each takes block memories of its own only for its share."""


def _ranges(schedule: Schedule, compiled: Compiled) -> Iterator[Schedule]:
    """The schedule with ranges for an index that stands outermost in a region, and has lanes."""
    for index in dict.fromkeys(region.order[0] for region in compiled.regions if region.order):
        if schedule.lanes.get(index, 1) > 1 and index not in schedule.deal:
            yield replace(schedule, deal={**schedule.deal, index: RANGES})


def _more(schedule: Schedule) -> Iterator[Schedule]:
    """The schedule with twice as many lanes of an index with ranges."""
    for index in schedule.ranged:
        if (count := 2 * schedule.lanes.get(index, 1)) <= MOST:
            yield replace(schedule, lanes={**schedule.lanes, index: count})


def _in_ranges(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """With ranges of rows for the lanes that there are, and for two where there are none yet: where that is
    no slower, and as many more lanes as are worth it and have room."""
    may_grow = "lanes" in search.job.room.grows
    starts = [best.schedule]
    if may_grow:
        outermost = dict.fromkeys(region.order[0] for region in best.compiled.regions if region.order)
        starts += [replace(best.schedule, lanes={**best.schedule.lanes, index: 2}) for index in outermost]
    found = best
    for start in starts:
        for schedule in _ranges(start, best.compiled):
            way = search.tried(schedule)
            if way is not None and search.has_room(way):
                way = search.grown(way, lambda way: _more(way.schedule)) if may_grow else way
                found = way if way.cycles <= found.cycles else found
    if found is not best:
        lanes = counts_text(found.schedule.lanes)
        notes.append(f"ranges: of rows, lanes {lanes}, {size_words(best, found)}")
    return found


STAGES: Mapping[str, Stage] = {"ranges": _in_ranges}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With ranges, without them, or with more lanes that have some."""
    yield from _ranges(at.schedule, at.compiled)
    for index in at.schedule.deal.keys() - at.job.schedule.deal.keys():
        others = {name: way for name, way in at.schedule.deal.items() if name != index}
        yield replace(at.schedule, deal=others)
    if "lanes" in at.job.room.grows:
        yield from _more(at.schedule)
