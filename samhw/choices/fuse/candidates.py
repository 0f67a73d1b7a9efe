"""Other regions than a schedule has: two as one, one as two, a statement in the region next to its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from samhw.choices.fuse import FUSION_LEVELS, MODULE, FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.compiler.search.tried import CLEARLY, AutoChoice, Search, Stage, Start, gain_words
from samhw.compiler.search.work import work_of
from samhw.lang import Program

__all__ = ["LEVELS", "PATIENCE", "STAGES", "Move", "moved", "moves", "neighbours", "orders_of", "regroupings"]

Order = tuple[str, ...]

LEVELS: tuple[FusionLevel, ...] = ("partial", "full")
"""The levels of fusion that win most often."""

PATIENCE = 60
"""How many statements are compiled, over all candidates, before those that seldom win are left out. A
statement takes about 10 ms."""

MOST_STARTS = 3
"""From how many of the best ways to group the statements one of them is moved."""

MOST_MOVES = 3
"""How many statements are moved by way of trial, those that may gain most, before the best one stays."""

WITH_STOPS = 1.25
"""How many cycles a point of a statement takes at the most, with the stops of short rows."""


def regroupings(schedule: Schedule) -> Iterator[Schedule]:
    """The schedule with two neighbouring regions as one, and with a region in two. What changes has no order.

    Args:
        schedule: with lists of its regions, and their orders.
    """
    regions = list(map(tuple, schedule.fuse))
    for n in range(len(regions) - 1):
        yield _with_regions(schedule, [*regions[:n], regions[n] + regions[n + 1], *regions[n + 2 :]])
    for n, region in enumerate(regions):
        for cut in range(1, len(region)):
            yield _with_regions(schedule, [*regions[:n], region[:cut], region[cut:], *regions[n + 1 :]])


@dataclass(frozen=True)
class Move:
    """A statement in another region.

    Attributes:
        result: of the statement.
        others: the results that stay in its region.
        beside: the last result of the region that it comes to.
        schedule: with these regions.
    """

    result: str
    others: Order
    beside: str
    schedule: Schedule


def moves(program: Program, schedule: Schedule) -> Iterator[Move]:
    """Each statement in the region before its own, or after it, where its operands and its readers permit
    that. Regions that change have no order.

    Args:
        program: with the statements that the schedule's regions name.
        schedule: as for `regroupings`.
    """
    regions = list(map(tuple, schedule.fuse))
    reads = {one.lhs.tensor: {access.tensor for access in one.needs} for one in program.statements}
    place = {result: n for n, result in enumerate(reads)}
    for n, region in enumerate(regions):
        for result in region if len(region) > 1 else ():
            others = tuple(other for other in region if other != result)
            targets = []
            if n > 0 and reads[result].isdisjoint(others):
                targets.append(n - 1)
            if n + 1 < len(regions) and not any(result in reads[other] for other in others):
                targets.append(n + 1)
            for target in targets:
                moved = [*regions[:n], others, *regions[n + 1 :]]
                moved[target] = tuple(sorted((*regions[target], result), key=place.__getitem__))
                yield Move(result, others, regions[target][-1], _with_regions(schedule, moved))


def orders_of(schedule: Schedule) -> dict[str, Order]:
    """The orders of a schedule's regions, by the last result of each."""
    found = schedule.order if isinstance(schedule.order, Mapping) else {}
    return {label: tuple(order) for label, order in found.items()}


def _with_regions(schedule: Schedule, regions: Sequence[Order]) -> Schedule:
    """The schedule in other regions, with the orders of those that stay."""
    before = list(map(tuple, schedule.fuse))
    labels = {region[-1] for region in regions if region in before}
    orders = {label: order for label, order in orders_of(schedule).items() if label in labels}
    return replace(schedule, fuse=tuple(regions), order=orders)


def _regrouped(
    search: Search, best: AutoChoice, levels: Sequence[FusionLevel | FusionRule], patience: float = inf
) -> AutoChoice:
    """The best of some ways to group the statements."""
    for fuse in levels:
        if not search.has(patience):
            break
        found = search.tried(replace(best.schedule, fuse=fuse))
        if found is not None and found.cycles < CLEARLY * best.cycles:
            best = found
    return best


def moved(search: Search, best: AutoChoice, notes: list[str], below: float = inf) -> AutoChoice:
    """With statements that alone take long in a region in the one before or after it, where something
    else may take as long; of the best one, or of one that was nearly as good in other regions. Nothing is
    tried that cannot take fewer cycles than `below`."""
    if search.given.order:
        return best
    program = replace(best.schedule, fuse="none", order={}).apply(search.program).bind({})
    points = work_of(program, search.job.sizes()).points
    while True:
        found = best
        starts = _grouped_otherwise(search, best)
        ways = (way for start in starts for way in _moves_from(start, program, points))
        likely = [way for way in ways if way[0] < CLEARLY * min(best.cycles, below)]
        for _, move, schedule in sorted(likely, key=lambda way: way[0])[:MOST_MOVES]:
            other = search.tried(schedule)
            if other is not None and other.cycles < CLEARLY * found.cycles:
                found, taken = other, move
        if found is best:
            return best
        notes.append(f"moved: {taken.result} beside {taken.beside} ({gain_words(best.cycles, found.cycles)})")
        best = found


def _grouped_otherwise(search: Search, best: AutoChoice) -> list[AutoChoice]:
    """The best one, and the next ones that differ from it in their regions alone."""
    found: dict[object, AutoChoice] = {}
    for way in search.fastest_first():
        if replace(way.schedule, fuse=best.schedule.fuse, order=best.schedule.order) == best.schedule:
            found.setdefault(way.compiled.schedule.fuse, way)
    return list(found.values())[:MOST_STARTS]


def _moves_from(
    start: AutoChoice, program: Program, points: Mapping[str, float]
) -> Iterator[tuple[float, Move, Schedule]]:
    """What differs in the place of one statement, with the fewest cycles that it may take: a region takes at
    least as long as what stays in it."""
    for move in moves(program, start.compiled.schedule):
        gain = points[move.result] - max(points[other] for other in move.others)
        schedule = replace(start.schedule, fuse=move.schedule.fuse, order=move.schedule.order)
        yield start.cycles - WITH_STOPS * gain, move, schedule


def _levels(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    return _regrouped(search, best, LEVELS if search.job.scopes is None else (MODULE, *LEVELS))


STAGES: Mapping[str, Stage] = {
    "levels": _levels,
    "others": lambda search, best, notes: _regrouped(search, best, ("kinds", "none"), PATIENCE),
    "moved": moved,
}


def neighbours(at: Start) -> Iterator[Schedule]:
    """At another level of fusion, in one region more or less, or with one statement in the region next to its
    own."""
    schedule, given = at.schedule, at.job.schedule
    levels: tuple[FusionLevel | FusionRule, ...] = (*FUSION_LEVELS, "kinds")
    yield from (replace(schedule, fuse=fuse, order=given.order) for fuse in levels)
    statements = replace(schedule, fuse="none", order={}).apply(at.job.program)
    others = (move.schedule for move in moves(statements, at.compiled.schedule))
    for other in (*regroupings(at.compiled.schedule), *others):
        yield replace(schedule, fuse=other.fuse, order=given.order or other.order)
