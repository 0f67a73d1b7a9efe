"""Other orders of a schedule's regions than their statements were written with: a descent by estimate.

For each region the first order that storage permits is tried for each index that can stand outermost, and
from the best one on what differs from it by two neighbours, as long as that helps.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from samhw.choices.fuse.candidates import LEVELS, orders_of, regroupings
from samhw.choices.schedule import Schedule
from samhw.compiler.search.spaces import OrderSpace, free_spaces
from samhw.compiler.search.tried import CLEARLY, AutoChoice, Search, Stage, Start, gain_words
from samhw.errors import InputError, ScheduleError
from samhw.lang import Program

__all__ = ["STAGES", "best_orders", "neighbours"]

Order = tuple[str, ...]

PATIENCE = 90
"""How many before no further orders are tried."""


def best_orders(
    program: Program, schedule: Schedule, cycles: Callable[[Schedule], float | None]
) -> Mapping[str, Order]:
    """The best orders of a schedule's regions that were found, by the last result of each; none where storage
    leaves none.

    Args:
        program: as it is written.
        schedule: with its regions. Orders that it has stay.
        cycles: what is expected of a schedule; None if it cannot be, or if no more are to be tried.
    """
    known = orders_of(schedule)
    try:
        applied = replace(schedule, order={}).apply(program).bind({})
    except InputError:
        return {}
    regions = [
        region
        for region in applied.regions
        if not region.reshapes and region.is_plain and region.label not in known
    ]
    spaces = {region.label: free_spaces(applied, region) for region in regions if region.label}
    starts = {label: list(_starts(found)) for label, found in spaces.items()}
    if not all(starts.values()):
        return {}
    best = {**known, **{label: orders[0] for label, orders in starts.items()}}
    least = cycles(replace(schedule, order=best))
    for label, waiting in starts.items():
        tried = {best[label]}
        while waiting:
            order = waiting.pop(0)
            if order in tried:
                continue
            tried.add(order)
            found = cycles(replace(schedule, order={**best, label: order}))
            if found is not None and (least is None or found < least):
                best[label], least = order, found
            if not waiting and least is not None:
                waiting = [other for other in _swapped(spaces[label], best[label]) if other not in tried]
    return {} if least is None else best


def _starts(spaces: Sequence[OrderSpace]) -> Iterator[Order]:
    for space in spaces:
        try:
            yield from space.outermost()
        except ScheduleError:
            continue


def _swapped(spaces: Sequence[OrderSpace], order: Order) -> Iterator[Order]:
    for space in spaces:
        if set(space.indices) == set(order):
            yield from space.swapped(order)


def _reordered(search: Search, best: AutoChoice) -> AutoChoice:
    """The same in other orders, whatever orders statements were written with; with these, in more or
    fewer regions."""
    if search.given.order:
        return best
    for fuse in (best.compiled.schedule.fuse, *LEVELS[::-1], "none"):
        best = _with_orders(search, best, replace(best.schedule, fuse=fuse, order={}))
    while True:
        found = best
        for other in regroupings(best.compiled.schedule):
            found = _with_orders(search, found, replace(best.schedule, fuse=other.fuse, order=other.order))
        if found.cycles >= CLEARLY * best.cycles:
            return best
        best = found


def _with_orders(search: Search, best: AutoChoice, schedule: Schedule) -> AutoChoice:
    """The better of what is known and another schedule in its best orders, as long as there is
    patience."""
    if not search.has(PATIENCE):
        return best
    orders = best_orders(search.program, schedule, partial(_cycles, search))
    found = search.seen(replace(schedule, order=orders))
    return best if found is None or found.cycles >= CLEARLY * best.cycles else found


def _cycles(search: Search, schedule: Schedule) -> float | None:
    """What is expected of a schedule, as long as there is patience; None if it cannot be."""
    found = search.tried(schedule) if search.has(PATIENCE) else search.seen(schedule)
    return None if found is None else found.cycles


def _other(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    found = _reordered(search, best)
    if found.cycles >= CLEARLY * best.cycles:
        return best
    notes.append(_line(best, found))
    return found


STAGES: Mapping[str, Stage] = {"other": _other}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With another order of one region."""
    if at.job.schedule.order:
        return
    schedule = at.schedule
    grouped = replace(schedule, fuse=at.compiled.schedule.fuse)
    known = schedule.order if isinstance(schedule.order, Mapping) else {}
    taken = at.compiled.schedule.order
    assert isinstance(taken, Mapping)
    try:
        program = replace(grouped, order={}).apply(at.job.program).bind({})
    except InputError:
        return
    for region in program.regions:
        if region.reshapes or not region.is_plain or region.label is None:
            continue
        for space in free_spaces(program, region):
            yield from (
                replace(grouped, order={**known, region.label: order})
                for order in _near(space, taken.get(region.label, ()))
            )


def _near(space: OrderSpace, order: Sequence[str]) -> list[tuple[str, ...]]:
    """The first orders of a space for each outermost index, and those next to one; none where storage leaves
    none."""
    try:
        found = list(space.outermost())
    except ScheduleError:
        return []
    return [*found, *space.swapped(order)] if set(order) == set(space.indices) else found


def _line(before: AutoChoice, after: AutoChoice) -> str:
    """What other orders gain."""
    assert isinstance(after.schedule.order, Mapping)
    orders = "; ".join(f"{label} {','.join(order) or '-'}" for label, order in after.schedule.order.items())
    return f"orders: {orders} ({gain_words(before.cycles, after.cycles)})"
