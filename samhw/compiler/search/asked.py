"""What a schedule asks of the program that the passes have made: orders of regions that end with a tensor
which a pass has added, and orders that do not know the indices which a pass has added."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.compiler.passes import Lowerable
from samhw.lang import Program, Region, Statement

__all__ = ["as_asked"]


def as_asked(lowerable: Lowerable, program: Program) -> Lowerable:
    """The program in the regions, and with the orders, that its schedule asks for.

    A region ends after each tensor that the schedule names an order for. An order that names no index that a
    pass has added holds for the statements whose indices it has: then the region is searched an order for.

    Args:
        lowerable: after the passes of programs.
        program: before them, as the schedule has been applied to it.

    Raises:
        InputError: for a name that no statement computes.
    """
    schedule = lowerable.schedule
    written = {statement.lhs.tensor for statement in program.statements}
    orders = schedule.order if isinstance(schedule.order, Mapping) else {}
    added = {name: tuple(order) for name, order in orders.items() if name not in written}
    lowerable.program.check_computed("order", added)
    lowerable.program.check_computed("share", schedule.shared)
    known = {index for statement in program.statements for index in statement.indices}
    regions = []
    for region in lowerable.program.regions:
        for part in _cut(region, added):
            regions.append(_free(part, known) if part.order is not None else part)
    return lowerable if tuple(regions) == lowerable.program.regions else lowerable.in_regions(regions)


def _cut(region: Region, orders: Mapping[str, tuple[str, ...]]) -> Iterator[Region]:
    """A region, which ends after each of these tensors, and has its order there."""
    rest: list[Statement] = []
    for statement in region.statements:
        rest.append(statement)
        name = statement.lhs.tensor
        if name in orders:
            is_last = statement is region.statements[-1]
            yield Region(tuple(rest), orders[name], region.label if is_last else name)
            rest = []
    if rest:
        yield replace(region, statements=tuple(rest))


def _free(region: Region, known: set[str]) -> Region:
    """A region whose order, where it leaves out what passes have added, is that of its statements; one that
    leaves out more keeps it, and is refused where it is checked."""
    order = region.order
    assert order is not None
    own = {index for statement in region.statements for index in statement.indices}
    if own.issubset(known) or not own.difference(known).isdisjoint(order) or own & known - {*order}:
        return region
    statements = (
        replace(s, order=tuple(i for i in order if i in s.indices) if known.issuperset(s.indices) else None)
        for s in region.statements
    )
    return replace(region, statements=tuple(statements), order=None)
