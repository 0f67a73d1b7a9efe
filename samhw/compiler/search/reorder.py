"""Other orders of a schedule's regions than their statements were written with: a descent by estimate.

For each region the first order that storage permits is tried for each index that can stand outermost, and
from the best one on what differs from it by two neighbours, as long as that helps.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from samhw.choices.schedule import Schedule
from samhw.compiler.search.regroup import orders_of
from samhw.compiler.search.spaces import OrderSpace, free_spaces
from samhw.errors import InputError, ScheduleError
from samhw.lang import Program

__all__ = ["best_orders"]

Order = tuple[str, ...]


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
