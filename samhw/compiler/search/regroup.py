"""Other regions than a schedule has: two as one, one as two, a statement in the region next to its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from samhw.choices.schedule import Schedule
from samhw.lang import Program

__all__ = ["Move", "moves", "orders_of", "regroupings"]

Order = tuple[str, ...]


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
    """Each statement in the region before its own, or behind it, where its operands and its readers permit
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
