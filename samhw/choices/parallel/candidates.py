"""The regions that a search runs side by side."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.choices.parallel import ALL, NONE
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search.tried import AutoChoice, Search, Stage, Start, size_words
from samhw.compiler.side_by_side import levels_of
from samhw.graph.fabrics import equal_regions

__all__ = ["STAGES", "neighbours"]

MOST = 4
"""Kinds of levels that are tried, those whose regions might save the most cycles."""


def _more(schedule: Schedule, compiled: Compiled) -> Iterator[Schedule]:
    """The schedule with all side by side that can be; and with one more region side by side in each of the
    levels that are alike, such as those of the layers of a network: the longest that still waits there. With
    scans all or none."""
    repeats = any(region.repeat for region in compiled.regions)
    if schedule.parallel == ALL or (repeats and compiled.memory is not None):
        return
    yield replace(schedule, parallel=ALL)
    if repeats:
        return
    lists = () if isinstance(schedule.parallel, str) else tuple(map(tuple, schedule.parallel))
    together = {name: names for names in lists for name in names}
    alike: dict[object, list[tuple[float, tuple[str, ...], tuple[str, ...]]]] = defaultdict(list)
    for level in _levels(compiled):
        names = [name for name, _, _ in level]
        known = next((together[name] for name in names if name in together), ())
        left = [(name, cycles, form) for name, cycles, form in level if name not in known]
        if len(level) > 1 and left:
            # The first two begin a list.
            taken = left[: 1 if known else 2]
            gain = sum(cycles for _, cycles, _ in taken[0 if known else 1 :])
            forms = tuple(form for _, _, form in level), len(known)
            alike[forms].append((gain, known, (*known, *(name for name, _, _ in taken))))
    best = sorted(alike.values(), key=lambda found: -sum(gain for gain, _, _ in found))
    for found in best[:MOST]:
        kept = [names for names in lists if names not in [before for _, before, _ in found]]
        yield replace(schedule, parallel=(*kept, *(names for _, _, names in found)))


def _levels(compiled: Compiled) -> list[list[tuple[str, float, int]]]:
    """The regions of each level, the longest first: the last result of each, its cycles as far as capacities
    tell, and the first region that is equal to it."""
    regions = compiled.regions
    form = {n: group[0] for group in equal_regions([r.graph for r in regions]) for n in group}
    found: dict[int, list[tuple[str, float, int]]] = defaultdict(list)
    for number, level in enumerate(levels_of(regions)):
        region = regions[number]
        found[level].append((region.region.written[-1], region.expected.cycles, form.get(number, number)))
    return [sorted(level, key=lambda one: -one[1]) for level in found.values()]


def _side_by_side(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """With as much side by side as there is room for, if that is to be tried."""
    if "parallel" not in search.job.room.grows or search.given.parallel != NONE:
        return best
    found = search.grown(best, lambda way: _more(way.schedule, way.compiled))
    if found is not best:
        notes.append(f"side by side: {found.schedule.word('parallel')}, {size_words(best, found)}")
    return found


STAGES: Mapping[str, Stage] = {"more": _side_by_side}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With more side by side, or one after another."""
    if at.job.schedule.parallel == NONE:
        yield from _more(at.schedule, at.compiled)
        yield replace(at.schedule, parallel=NONE)
