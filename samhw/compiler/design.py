"""From a program, and all that is decided about it, to its design."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from samhw.compiler.computations import with_waits
from samhw.compiler.region import LoweredRegion, lower_region
from samhw.compiler.scope import Scope
from samhw.decision import Decision, Refusal
from samhw.errors import RunError, ScheduleError
from samhw.frontend import Program
from samhw.graph import Arch, Design, sequence_of
from samhw.graph_passes import Assembly, apply_graph_passes
from samhw.graph_passes.queues import with_room
from samhw.numerics import ValueType
from samhw.passes import Lowerable, Recipe, apply_region_passes
from samhw.schedule import Schedule
from samhw.splits import RowOrders

__all__ = ["Compiled", "CompiledRegion", "add_queues", "assembled", "lower_program"]


@dataclass(frozen=True, repr=False)
class CompiledRegion(LoweredRegion):
    """A region as the design has it: its graph has lanes, and channels of the right depth."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a channel is deeper than full rate needs, by its name."""


@dataclass(frozen=True)
class Compiled:
    """A compiled program: its regions in the order in which they run."""

    program: Program
    """What the passes have made of the program that was compiled."""
    regions: tuple[CompiledRegion, ...]
    arch: Arch
    value: ValueType
    recipes: Mapping[str, Recipe]
    """For each input of `program` that the user does not give, how it is made."""
    aliases: Mapping[str, str]
    """For each tensor that is another one in another shape, in the same memories, that one."""
    joined: Mapping[str, tuple[str, ...]]
    """For each result that the host puts together, the tensors with its rows: no two have an entry in one
    place."""
    row_orders: RowOrders
    """The orders in which the host stores data, and puts results back from."""
    schedule: Schedule
    """What it was compiled by, with the regions, the orders and the formats that were taken: compiled by
    that, the program gives the same."""
    decision: Decision
    """All that was chosen."""
    why: tuple[str, ...] = ()
    """What was chosen of a schedule that was left open, and why: a line each."""

    def __repr__(self) -> str:
        return f"<Compiled {self.program.summary}; {self.value}, {self.design.summary}>"

    @property
    def order_lines(self) -> list[str]:
        """What a host does about the orders of rows, in a line each."""
        return self.row_orders.lines()

    @cached_property
    def design(self) -> Design:
        """The graphs of all regions, what they share, and their sequence."""
        return Design.assemble(
            self.program.name,
            [region.graph for region in self.regions],
            sequence_of([region.repeat for region in self.regions]),
            {decl.name for decl in self.program.outputs},
        )


def lower_program(
    lowerable: Lowerable,
    decision: Decision,
    value: ValueType,
    arch: Arch,
    schedule: Schedule,
    *,
    last: str | None = None,
    known: Mapping[str, LoweredRegion] = MappingProxyType({}),
) -> Compiled | Refusal:
    """The design of a program, as it is decided; the same for the same decision.

    Args:
        lowerable: behind the passes of programs.
        schedule: what leads to this decision, for the record.
        last: the pass of graphs after which to stop, by its name.
        known: regions of this decision that have been lowered already, by their labels. They save time, as
            long as the passes of regions add no tensors.

    Raises:
        InputError: for what no decision would make possible.
    """
    try:
        decided = apply_region_passes(lowerable.decided(decision))
    except ScheduleError as error:
        return Refusal.of(error)
    scope = Scope(decided, value, arch, decision.iteration, decision.recomputed)
    regions = []
    for number, region in enumerate(decided.program.regions):
        if scope.is_idle(number):
            continue
        lowered = _known(scope, number, lowerable, decision, known) or lower_region(
            scope, number, decision.of(region.label)
        )
        if isinstance(lowered, Refusal):
            return lowered
        found = assembled(scope, lowered, decision.lanes, decision.queues, last)
        if isinstance(found, Refusal):
            return found
        regions.append(found)
    refused = _without_place(decision.lanes, regions, scope.segmented)
    refused = refused or _without_readers(decision.queues, regions)
    if refused is not None:
        return refused
    _check_stored(lowerable.program, decided, regions)
    return Compiled(
        decided.program,
        tuple(regions),
        arch,
        value,
        decided.recipes,
        decided.aliases,
        decided.joined,
        decided.row_orders,
        schedule,
        decision,
    )


def _check_stored(program: Program, decided: Lowerable, regions: Sequence[LoweredRegion]) -> None:
    """Raises `RunError` unless the design stores each result of the program."""
    stored = {tensor.name for region in regions for tensor in region.graph.tensors}
    stored |= decided.aliases.keys() | decided.joined.keys()
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
    return replace(
        compiled,
        regions=tuple(regions),
        schedule=replace(compiled.schedule, queues=queues),
        decision=replace(compiled.decision, queues=queues),
    )


def _known(
    scope: Scope,
    number: int,
    lowerable: Lowerable,
    decision: Decision,
    known: Mapping[str, LoweredRegion],
) -> LoweredRegion | None:
    """A region that has been lowered, under its name in the design, if nothing around it is another since."""
    region = scope.program.regions[number]
    found = None if region.label is None else known.get(region.label)
    chosen = decision.of(region.label)
    if found is None or chosen is None or found.region != region:
        return None
    if scope.dimensions is not lowerable.program.dimensions:
        return None  # Its dimensions may have other names.
    return replace(found, graph=replace(found.graph, name=scope.name(number)), note=chosen.why)


def assembled(
    scope: Scope,
    lowered: LoweredRegion,
    lanes: Mapping[str, int],
    queues: Mapping[str, int],
    last: str | None = None,
) -> CompiledRegion | Refusal:
    """A region behind the passes of graphs, with the lanes and the queues of a `Decision`; `last` as for
    `lower_program`."""
    special = lowered.copy is not None or lowered.region.reshapes
    own = lowered.lanes(lanes, scope.segmented)
    found = apply_graph_passes(
        Assembly(
            lowered.graph,
            lowered.order,
            lowered.extent,
            scope.arch,
            {} if special else own,
            scope.divisible(lowered.graph),
            scope.in_shards,
            blocks={
                index: scope.block_sizes[d]
                for index, d in lowered.fused.dimension.items()
                if d in scope.block_sizes
            },
            reads=lowered.table.reads,
            copied=_copied(lowered),
            queues=lowered.queues(queues),
        ),
        last,
    )
    if isinstance(found, Refusal):
        return replace(found, place=lowered.region.written)
    computed = with_waits(lowered.computations, lowered.graph, found.held)
    fields = vars(lowered) | {"graph": found.graph, "computations": computed}
    return CompiledRegion(**fields, reasons=found.reasons)


def _copied(lowered: LoweredRegion) -> tuple[str, ...]:
    """Of a copy in another mode order, the indices of what it writes, in storage order."""
    if lowered.copy is None:
        return ()
    _, written = lowered.fused.stored_uses()
    return written.stored


def _without_place(
    lanes: Mapping[str, int], regions: Sequence[CompiledRegion], segmented: Mapping[str, str]
) -> Refusal | None:
    """The refusal of lanes on what is no index of any region, and of those on an index that has nothing
    inside wherever it comes."""
    indices = dict.fromkeys(index for region in regions if not region.copy for index in region.order)
    nodes = [node for region in regions for node in region.graph.nodes]
    distributed = {node.index for node in nodes if node.spec.distribution(node.params)}
    for index, count in lanes.items():
        if index not in indices:
            return Refusal(
                f"There is no index '{index}' to have lanes", (f"take one of {', '.join(indices)}",)
            )
        served = {name for region in regions for name in region.serving(index, segmented)}
        if count > 1 and distributed.isdisjoint(served):
            return Refusal(
                f"Nothing lies inside of '{index}' that lanes could share",
                (
                    "give lanes to an index further out",
                    "choose an order that has another index inside of it",
                ),
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
