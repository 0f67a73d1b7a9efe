"""What is decided about a program that leaves it open."""

from samhw.compiler import Scope
from samhw.decision import Decision, Refusal, RegionDecision
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.passes import Lowerable
from samhw.schedule import Schedule
from samhw.search.split import RegionSplitter

__all__ = ["choose"]


def choose(lowerable: Lowerable, schedule: Schedule, value: ValueType, arch: Arch) -> Decision | Refusal:
    """Decides what a schedule leaves open: where regions end, what uses share, and orders.

    Args:
        lowerable: behind the passes of programs, in the regions that are asked for.

    Raises:
        InputError: for what no decision would make possible.
    """
    anew = frozenset(
        statement.lhs.tensor
        for statement in lowerable.program.statements
        if schedule.share_of(statement.lhs.tensor) == "anew"
    )
    scope = Scope(lowerable, value, arch, schedule.iteration, anew)
    regions: list[RegionDecision] = []
    for number, region in enumerate(lowerable.program.regions):
        if scope.is_view(number):
            # A statement of the program, from which extents follow, and no region of the design.
            regions.append(RegionDecision(tuple(s.lhs.tensor for s in region.statements), region.label))
            continue
        parts = RegionSplitter(scope, number, schedule).parts()
        if isinstance(parts, Refusal):
            return parts
        regions += (part.decision for part in parts)
    return Decision(tuple(regions), schedule.iteration, anew, schedule.lanes)
