"""What a schedule leaves open in a program is decided: where regions end, what uses share, and orders.

What it asks of the program that the passes have made is checked first: orders of regions that end with a
tensor which a pass has added, and orders that do not know the indices which a pass has added.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from samhw.choices.choice import AUTO
from samhw.choices.schedule import Schedule
from samhw.compiler import Decision, Lowerings, Scope, choose_value
from samhw.compiler.nameless import Nameless, repeated
from samhw.compiler.passes import Lowerable, apply_program_passes
from samhw.compiler.renamed import renamed_decision
from samhw.compiler.search.job import Job
from samhw.compiler.search.split import BETTER, RegionSplitter
from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.lang import Program, Region, Statement
from samhw.lang.decision import Refusal, RegionDecision

__all__ = ["decide"]


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


def decide(job: Job, lowerings: Lowerings) -> Decision | Refusal:
    """What is decided about a job whose schedule is not to be chosen.

    A region without an order in the schedule gets the first one that suits the tensors and the statements'
    own orders, and that streams can follow. If there is none, and the schedule permits it, operands are
    copied into another mode order first, and results from another one; `CompiledRegion.copy` says at what
    cost. Otherwise such a program is refused, but for transpositions that stand alone, which are copies
    themselves.

    Args:
        lowerings: what has been lowered of this job under other schedules; more is added.

    Raises:
        InputError: for what no decision would make possible.
    """
    first = job.lowerable()
    value = choose_value(job.value, first.program)
    given = _given(first)
    best = regions_decided(given, first, value, job.arch, lowerings)
    if first.schedule.partial_sums != AUTO:
        return best
    stored: tuple[str, ...] = ()
    for result, sums in given.added.items():
        more = replace(first, schedule=replace(first.schedule, partial_sums=(*stored, result)))
        found = regions_decided(_given(more), first, value, job.arch, lowerings)
        if _is_better(found, best, sums):
            best, stored = found, (*stored, result)
    return best


def _given(first: Lowerable) -> Lowerable:
    """The program after its own passes, in the regions that its schedule asks for."""
    return as_asked(apply_program_passes(first), first.program)


def _is_better(found: Decision | Refusal, other: Decision | Refusal, sums: Sequence[str]) -> bool:
    """Whether to store terms of a result before they are added: where streams cannot add them in one region,
    and where it takes clearly fewer cycles."""
    if isinstance(other, Refusal):
        # With several results, what is refused after it may come to be stored too.
        return not isinstance(found, Refusal) or (
            not set(sums).isdisjoint(other.place) and set(sums).isdisjoint(found.place)
        )
    return not isinstance(found, Refusal) and found.cycles < BETTER * other.cycles


def regions_decided(
    given: Lowerable, first: Lowerable, value: ValueType, arch: Arch, lowerings: Lowerings
) -> Decision | Refusal:
    """What is decided about the regions of a program.

    Args:
        given: after the passes of programs, in the regions that are asked for.
        first: before them.
        lowerings: as for `decide`.

    Raises:
        InputError: for what no decision would make possible.
    """
    scope = Scope(given, value, arch, lowerings)
    alone = repeated(scope)
    regions: list[RegionDecision] = []
    cycles = 0.0
    for number, region in enumerate(given.program.regions):
        if scope.is_idle(number):
            # A statement of the program, from which extents follow, and no region of the design.
            regions.append(RegionDecision(region.written, region.label))
            continue
        parts = _parts_like_others(scope, number, alone.get(number)) or _parts(scope, number)
        if isinstance(parts, Refusal):
            return parts
        regions += parts.decisions
        cycles += parts.cycles
    taken = replace(_taken(first, regions), lanes=given.schedule.lanes)
    if given.added:
        taken = replace(taken, partial_sums=given.schedule.stored_terms)
    return Decision(given, tuple(regions), value, taken, cycles, lowerings=lowerings)


class _Parts(NamedTuple):
    """The regions that a region becomes, and what is expected of them."""

    decisions: tuple[RegionDecision, ...]
    cycles: float


def _parts(scope: Scope, number: int) -> _Parts | Refusal:
    found = RegionSplitter(scope, number).parts()
    if isinstance(found, Refusal):
        return found
    return _Parts(tuple(part.decision for part in found), sum(part.cycles for part in found))


def _parts_like_others(scope: Scope, number: int, alone: Nameless | None) -> _Parts | None:
    """What an equal region becomes, under the names of this one; None where it has to be decided by
    itself."""
    if alone is None:
        return None
    key = "parts", alone.key
    if key not in scope.lowerings:
        try:
            scope.lowerings[key] = _parts(alone.scope(), 0)
        except InputError:
            scope.lowerings[key] = None
    known: _Parts | Refusal | None = scope.lowerings[key]
    if not isinstance(known, _Parts) or not all(alone.has_names(d.order or ()) for d in known.decisions):
        return None
    region = scope.program.regions[number]
    last = len(known.decisions) - 1
    decisions = (
        renamed_decision(chosen, alone.names, region.label if place == last else None)
        for place, chosen in enumerate(known.decisions)
    )
    return _Parts(tuple(decisions), known.cycles)


def _taken(first: Lowerable, regions: Sequence[RegionDecision]) -> Schedule:
    """A program's schedule with what was chosen beside it. A copy is in the order of what it copies, and
    takes none; a region that ends with a tensor which a pass has added is named by that.

    Args:
        first: before the passes, with the regions that were asked for; some have been split.
    """
    ends = {region.label for region in regions}
    fuse: list[list[str]] = []
    for asked in first.program.regions:
        fuse.append([])
        for statement in asked.statements:
            fuse[-1].append(statement.lhs.tensor)
            if statement.lhs.tensor in ends and statement is not asked.statements[-1]:
                fuse.append([])
    return replace(
        first.schedule,
        fuse=tuple(map(tuple, fuse)),
        order={r.label: r.order for r in regions if r.label and r.order},
        formats={decl.name: str(decl.format) for decl in first.program.tensors.values()},
    )
