"""The orders of rows that a search tries where lanes share rows that are uneven."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from samhw.choices.lanes.candidates import more_lanes
from samhw.choices.schedule import Schedule
from samhw.choices.split.candidates import even_splits
from samhw.compiler.search.tried import CLEARLY, AutoChoice, Search, Stage, Start, gain_words
from samhw.compiler.search.work import Load, lane_loads

__all__ = ["STAGES", "even_orders", "neighbours"]


def even_orders(schedule: Schedule, load: Load) -> Iterator[Schedule]:
    """The schedule with another order of a tensor's rows, so that lanes may be even."""
    tensor = load.tensor
    if tensor in schedule.split or tensor in schedule.permute_rows or not load.is_uneven:
        return
    for order in (f"even({load.lanes})", "by length"):
        yield replace(schedule, permute_rows={**schedule.permute_rows, tensor: order})


def _arranged(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """With the rows that lanes share in other orders, or split, where lanes are uneven."""
    known = search.job.statistics(best.schedule)
    if known is None:
        return best
    for load in lane_loads(search.program, best.schedule, known):
        found = best
        for schedule in chain(even_orders(best.schedule, load), even_splits(best.schedule, load)):
            way = search.tried(schedule)
            if way is not None and search.has_room(way):
                found = min(found, way, key=lambda way: way.cycles)
            if CLEARLY * found.cycles <= load.least * best.cycles:
                break  # Nothing else can be clearly faster.
        if found.cycles < CLEARLY * best.cycles:
            notes.append(_line(load, best, found))
            best = found
    return best


def _even(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    found = _arranged(search, best, notes)
    return found if found is best else more_lanes(search, found, notes)  # Even lanes may be worth more.


STAGES: Mapping[str, Stage] = {"even": _even}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With one order less, or one where lanes are uneven."""
    schedule = at.schedule
    for tensor in schedule.permute_rows.keys() - at.job.schedule.permute_rows.keys():
        others = {name: rows for name, rows in schedule.permute_rows.items() if name != tensor}
        yield replace(schedule, permute_rows=others)
    if at.known is not None:
        for load in lane_loads(at.job.program, schedule, at.known):
            yield from even_orders(schedule, load)


def _line(load: Load, before: AutoChoice, after: AutoChoice) -> str:
    """What rows in another order, or a split, gain."""
    name = load.tensor
    split = after.schedule.split.get(name)
    what = (
        f"rows: of {name} {after.schedule.permute_rows.get(name)}"
        if split is None
        else f"split: {name} as {split}"
    )
    return (
        f"{what}, as the busiest of {load.lanes} lanes had {load.busiest:,.0f} entries, where the mean has "
        f"{load.entries / load.lanes:,.0f} ({gain_words(before.cycles, after.cycles)})"
    )
