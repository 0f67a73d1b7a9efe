"""The arrays in banks that a search tries: those that leave room for more lanes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.choices.deal.candidates import more_in_ranges
from samhw.choices.interleave import NONE
from samhw.choices.lanes.candidates import more_lanes_of
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search.tried import LARGER, AutoChoice, Search, Stage, Start, size_words
from samhw.graph import block_rams
from samhw.graph.banks import is_worth, unbanked

__all__ = ["STAGES", "neighbours"]

TRIED = 3
"""Arrays that are tried, those first whose copies take most."""


def _shared(compiled: Compiled) -> list[str]:
    """The arrays that may lie in banks."""
    design = compiled.design
    names = [name for name in design.memory if is_worth(design, name) and not unbanked(design, name)]

    def size(name: str) -> int:
        memory = design.memory[name]
        return design.copies[name] * block_rams(memory.capacity, design.stored(memory).width(32))

    return sorted(names, key=lambda name: (-size(name), name))[:TRIED]


def _more(way: AutoChoice) -> Iterator[Schedule]:
    """The schedule with twice as many lanes."""
    yield from more_in_ranges(way.schedule)
    yield from more_lanes_of(way.schedule, way.compiled)


def _in_banks(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """With an array in banks, where copies leave no room: for as many lanes as are worth it then."""
    if search.job.room.budget is None or best.schedule.interleave != NONE:
        return best
    found = best
    for name in _shared(best.compiled):
        way = search.tried(replace(best.schedule, interleave=(name,)))
        if way is None or not search.has_room(way):
            continue
        way = search.grown(way, _more) if "lanes" in search.job.room.grows else way
        if not search.has_room(found) or way.cycles < LARGER * found.cycles:
            found = way
    if found is not best:
        notes.append(f"interleave: {found.schedule.word('interleave')}, {size_words(best, found)}")
    return found


STAGES: Mapping[str, Stage] = {"banks": _in_banks}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With an array in banks, or without, if there is only so much room."""
    if at.job.room.budget is not None and at.schedule.interleave == NONE:
        yield from (replace(at.schedule, interleave=(name,)) for name in _shared(at.compiled))
    elif at.schedule.interleave != at.job.schedule.interleave:
        yield replace(at.schedule, interleave=at.job.schedule.interleave)
