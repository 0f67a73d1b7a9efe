"""From a program, and all that is decided about it, to its design."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.choices.schedule import Schedule
from samhw.compiler.compiled import Compiled, CompiledRegion, Decision
from samhw.compiler.computations import with_waits
from samhw.compiler.graph_passes import Assembly, RowRanges, apply_graph_passes, passes_to
from samhw.compiler.graph_passes.depths import with_delays
from samhw.compiler.graph_passes.queues import with_room
from samhw.compiler.nameless import Nameless, repeated
from samhw.compiler.passes import Lowerable, apply_region_passes
from samhw.compiler.placement import arrays_off_chip
from samhw.compiler.region import LoweredRegion, lower_region
from samhw.compiler.renamed import Template, renamed_region
from samhw.compiler.row_ranges import row_ranges
from samhw.compiler.scope import Scope
from samhw.compiler.shared_hardware import with_fabrics
from samhw.cost import estimate
from samhw.errors import InputError, RunError, ScheduleError
from samhw.graph import Arch, OffChipMemory, PortDelays, layout_of, port_latency
from samhw.lang import Program
from samhw.lang.decision import Refusal, RegionDecision

__all__ = ["add_queues", "assembled", "lower_program", "with_memory"]


def lower_program(
    decision: Decision, arch: Arch, last: str | None = None, memory: OffChipMemory | None = None
) -> Compiled | Refusal:
    """What a program is compiled to, as it is decided; the same for the same decision.

    Args:
        memory: off chip, for which channels are to be deep enough.
        last: the pass of graphs after which to stop, by its name.

    Raises:
        InputError: for what no decision would make possible.
    """
    try:
        placed = apply_region_passes(decision.given.decided(decision.regions))
    except ScheduleError as error:
        return Refusal.of(error)
    scope = Scope(placed, decision.value, arch, decision.lowerings)
    alone = repeated(scope)
    regions = []
    for number, region in enumerate(placed.program.regions):
        if scope.is_idle(number):
            continue
        chosen = placed.decision_of(region.label)
        found = _like_another(scope, number, alone.get(number), chosen, last) or _region(
            scope, number, chosen, last
        )
        if isinstance(found, Refusal):
            return found
        regions.append(found)
    lanes = placed.schedule.lanes if "lanes" in passes_to(last) else {}
    if "ranges" not in passes_to(last):
        lanes = {index: count for index, count in lanes.items() if index not in placed.schedule.ranged}
    refused = _without_ranges(placed.schedule, regions) if "ranges" in passes_to(last) else None
    refused = refused or _without_place(lanes, regions, scope.segmented)
    refused = refused or _without_readers(placed.schedule.queues, regions)
    if refused is not None:
        return refused
    _check_stored(decision.given.program, placed, regions)
    compiled = Compiled(placed, tuple(regions), arch, decision.alone)
    if memory is not None and "depths" in passes_to(last):
        return with_memory(compiled, memory)
    return with_fabrics(compiled) if last is None else compiled


def _region(
    scope: Scope, number: int, chosen: RegionDecision | None, last: str | None
) -> CompiledRegion | Refusal:
    lowered = lower_region(scope, number, chosen)
    return lowered if isinstance(lowered, Refusal) else assembled(scope, lowered, last)


def _like_another(
    scope: Scope, number: int, alone: Nameless | None, chosen: RegionDecision | None, last: str | None
) -> CompiledRegion | None:
    """What an equal region is compiled to, under the names of this one; None where it has to be compiled by
    itself."""
    if alone is None:
        return None
    marked = None if chosen is None else alone.marked(chosen)
    if chosen is not None and marked is None:
        return None
    key = "compiled", alone.key, marked, last
    if key not in scope.lowerings:
        try:
            found = _region(alone.scope(), 0, marked, last)
            scope.lowerings[key] = None if isinstance(found, Refusal) else Template(found)
        except InputError:
            scope.lowerings[key] = None
    template: Template | None = scope.lowerings[key]
    if template is None:
        return None
    return renamed_region(template, alone.names, scope, number, "" if chosen is None else chosen.why)


def with_memory(compiled: Compiled, memory: OffChipMemory) -> Compiled:
    """The same design beside a memory off chip: with room in its channels for what waits for that.

    Args:
        compiled: for tensors that are all on chip.
    """
    assert compiled.memory is None
    compiled = replace(compiled, fabrics=())
    arrays = arrays_off_chip(compiled, memory)
    layout = layout_of(compiled.design, compiled.arch, memory, arrays)
    cycles = port_latency(memory)
    regions = []
    for region in compiled.regions:
        delays = PortDelays.of(region.graph, layout.ports_of(region.graph), cycles, memory.ports.beat)
        tokens = estimate(region.graph, compiled.arch, region.extent).tokens
        graph, reasons = with_delays(region.graph, compiled.arch, delays, tokens, region.reasons)
        regions.append(replace(region, graph=graph, reasons=reasons))
    return with_fabrics(replace(compiled, regions=tuple(regions), memory=memory, off_chip=layout))


def _check_stored(program: Program, placed: Lowerable, regions: Sequence[LoweredRegion]) -> None:
    """Raises `RunError` unless the design stores each result of the program."""
    stored = {tensor.name for region in regions for tensor in region.graph.tensors}
    stored |= placed.aliases.keys() | placed.joined.keys()
    absent = [decl.name for decl in program.outputs if decl.name not in stored]
    if absent:
        raise RunError(f"The design has no memory for {', '.join(absent)}; please report this as a bug.")


def add_queues(compiled: Compiled, queues: Mapping[str, int]) -> Compiled:
    """The design of the same decision, but for queues. Nothing is compiled again: they are the last pass.

    Args:
        compiled: without any queues.
        queues: as in a `Schedule`.

    Raises:
        InputError: for queues that cannot be, as compiling with them would.
    """
    refused = _without_readers(queues, compiled.regions)
    if refused is not None:
        raise refused.error()
    regions = []
    for region in compiled.regions:
        own = region.queues(queues)
        graph, reasons = with_room(region.graph, own, region.extent, compiled.arch, region.reasons)
        regions.append(replace(region, graph=graph, reasons=reasons))
    decision, given = compiled.decision, compiled.decision.given
    decision = replace(
        decision,
        schedule=replace(decision.schedule, queues=queues),
        given=replace(given, schedule=replace(given.schedule, queues=queues)),
    )
    return with_fabrics(replace(compiled, regions=tuple(regions), decision=decision))


def assembled(scope: Scope, lowered: LoweredRegion, last: str | None = None) -> CompiledRegion | Refusal:
    """A region after the passes of graphs, with the lanes and the queues that its schedule asks for; `last`
    as for `lower_program`."""
    special = lowered.copy is not None or lowered.region.reshapes
    asked = scope.lowerable.schedule
    own = {} if special else lowered.lanes(asked.lanes, scope.segmented)
    ranges = _ranges(scope, lowered, own)
    if isinstance(ranges, RowRanges):
        own = {index: count for index, count in own.items() if index != ranges.index}
    found = apply_graph_passes(
        Assembly(
            lowered.graph,
            lowered.order,
            lowered.extent,
            scope.arch,
            own,
            scope.divisible(lowered.graph),
            scope.in_shards,
            blocks={
                index: scope.block_sizes[d]
                for index, d in lowered.fused.dimension.items()
                if d in scope.block_sizes
            },
            reads=lowered.table.reads,
            copied=_copied(lowered),
            ranges=ranges if isinstance(ranges, RowRanges) else None,
            queues=lowered.queues(asked.queues),
        ),
        last,
    )
    if isinstance(found, Refusal):
        return replace(found, place=lowered.region.written)
    computed = with_waits(lowered.computations, lowered.graph, found.held)
    fields = vars(lowered) | {"graph": found.graph, "computations": computed}
    return CompiledRegion(
        **fields, reasons=found.reasons, in_turns=ranges if isinstance(ranges, Refusal) else None
    )


def _ranges(scope: Scope, lowered: LoweredRegion, lanes: Mapping[str, int]) -> RowRanges | Refusal | None:
    """The ranges of rows that a region's lanes have, or why those that were asked for are dealt in turns
    here; None where none were asked for."""
    for index in scope.lowerable.schedule.ranged:
        if index in lowered.order and lanes.get(index, 1) > 1:
            return row_ranges(scope, lowered, index, lanes[index])
    return None


def _copied(lowered: LoweredRegion) -> tuple[str, ...]:
    """Of a copy in another mode order, the indices of what it writes, in storage order."""
    if lowered.copy is None:
        return ()
    _, written = lowered.fused.stored_uses()
    return written.stored


def _without_place(
    lanes: Mapping[str, int], regions: Sequence[CompiledRegion], segmented: Mapping[str, str]
) -> Refusal | None:
    """The refusal of lanes on what is not an index of any region, and of those on an index that has nothing
    inside wherever it comes."""
    indices = dict.fromkeys(index for region in regions if not region.copy for index in region.order)
    nodes = [node for region in regions for node in region.graph.nodes]
    distributed = {node.index for node in nodes if node.spec.distribution(node.params)}
    ranges = {index for node in nodes if node.spec.scans for index, _ in node.lane if index == node.index}
    for index, count in lanes.items():
        if index not in indices:
            return Refusal(
                f"There is no index '{index}' to have lanes", (f"take one of {', '.join(indices)}",)
            )
        served = {name for region in regions for name in region.serving(index, segmented)}
        if count > 1 and distributed.isdisjoint(served) and index not in ranges:
            return Refusal(
                f"Nothing lies inside of '{index}' that lanes could share",
                (
                    "give lanes to an index further out",
                    "choose an order that has another index inside of it",
                ),
            )
    return None


def _without_ranges(schedule: Schedule, regions: Sequence[CompiledRegion]) -> Refusal | None:
    """The refusal of ranges for an index without lanes, of those that no region can have, and of a tensor
    that would lie in ranges for one region and otherwise for another."""
    for index in schedule.ranged:
        if schedule.lanes.get(index, 1) == 1:
            ways = (f"give it some (--lanes {index}=4)",)
            return Refusal(f"'deal' names '{index}', which has no lanes", ways)
    refused = [region.in_turns for region in regions if region.in_turns is not None]
    shards = [tensor for region in regions for tensor in region.graph.tensors]
    if refused and not any(tensor.rows for tensor in shards):
        return refused[0]
    rows = {tensor.name: tensor.rows for tensor in shards}
    for tensor in shards:
        if tensor.rows != rows[tensor.name]:
            return Refusal(
                f"'{tensor.name}' would lie in ranges of rows for one region, and otherwise for another",
                ("leave 'deal' out",),
            )
    return None


def _without_readers(queues: Mapping[str, int], regions: Sequence[CompiledRegion]) -> Refusal | None:
    """The refusal of queues of what no region computes for statements of its own."""
    passed = dict.fromkeys(computed.tensor for region in regions for computed in region.computations)
    for tensor in queues:
        if tensor not in passed:
            return Refusal(
                f"'queues' names '{tensor}', which no statement of its own region reads, so that nothing of "
                "it could wait in a channel",
                (
                    f"take one of {', '.join(passed)}" if passed else "leave 'queues' out",
                    f"fuse what computes '{tensor}' with what reads it",
                ),
            )
    return None
