"""What is decided about a program that leaves it open."""

from collections.abc import Mapping
from dataclasses import dataclass

from samhw.compiler import LoweredRegion, Scope
from samhw.decision import Decision, Refusal, RegionDecision
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.passes import Lowerable
from samhw.schedule import Schedule
from samhw.search.split import RegionSplitter

__all__ = ["Choice", "choose"]


@dataclass(frozen=True)
class Choice:
    """What was chosen.

    Attributes:
        decision: for the whole program.
        lowered: by its label, each region that needs no other one beside it, as the search has lowered it.
    """

    decision: Decision
    lowered: Mapping[str, LoweredRegion]
    cycles: float = 0.0
    """What is expected of all regions."""


def choose(lowerable: Lowerable, schedule: Schedule, value: ValueType, arch: Arch) -> Choice | Refusal:
    """Decides what a schedule leaves open: where regions end, what uses share, and orders.

    Args:
        lowerable: behind the passes of programs, in the regions that are asked for.

    Raises:
        InputError: for what no decision would make possible.
    """
    recomputed = frozenset(
        statement.lhs.tensor
        for statement in lowerable.program.statements
        if schedule.share_of(statement.lhs.tensor) == "recompute"
    )
    scope = Scope(lowerable, value, arch, schedule.iteration, recomputed)
    regions: list[RegionDecision] = []
    lowered: dict[str, LoweredRegion] = {}
    cycles = 0.0
    for number, region in enumerate(lowerable.program.regions):
        if scope.is_idle(number):
            # A statement of the program, from which extents follow, and no region of the design.
            regions.append(RegionDecision(region.written, region.label))
            continue
        parts = RegionSplitter(scope, number, schedule).parts()
        if isinstance(parts, Refusal):
            return parts
        for part in parts:
            regions.append(part.decision)
            cycles += part.cycles
            if part.is_alone and part.decision.label is not None:
                lowered[part.decision.label] = part.main
    decision = Decision(
        tuple(regions), schedule.iteration, recomputed, schedule.lanes, schedule.queues, schedule.brackets
    )
    return Choice(decision, lowered, cycles)
