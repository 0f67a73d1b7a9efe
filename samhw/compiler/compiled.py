"""What is decided about a program, what it is compiled to, and what that is expected to cost on data of which
statistics are known."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from samhw.choices.schedule import Schedule
from samhw.compiler.passes import Lowerable, Recipe
from samhw.compiler.region import LoweredRegion
from samhw.compiler.scope import Lowerings
from samhw.cost import (
    BASE,
    AreaEstimate,
    DesignEstimate,
    Results,
    estimate_area,
    estimate_graph,
    estimated_cycles,
)
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError
from samhw.graph import (
    Arch,
    Design,
    MemoryRole,
    OffChipLayout,
    OffChipMemory,
    Steps,
    TensorBinding,
    Users,
    runs_of,
    sequence_of,
)
from samhw.graph.numerics import ValueType
from samhw.lang import Program, Statement, block_sizes, reaching_beyond
from samhw.lang.decision import Refusal, RegionDecision
from samhw.lang.splits import RowOrders
from samhw.lang.typed import types_of
from samhw.tensors import Format

__all__ = [
    "Compiled",
    "CompiledRegion",
    "Decision",
    "area_of",
    "block_counts",
    "check_divided",
    "estimate_compiled",
    "run_extents",
]


@dataclass(frozen=True)
class Decision:
    """All choices for a program: nothing is chosen after it.

    Copies into other mode orders are none of them: they follow from the regions, their orders, and the
    permission to copy.

    Attributes:
        given: the program after its own passes, in the regions that were asked for.
        regions: in the order in which they run.
        value: the type of the values.
        schedule: what was decided by, with the regions, the orders and the formats that were taken: compiled
            by that, the program gives the same.
        cycles: what is expected of all regions.
        why: what was chosen of a schedule that was left open, and why: a line each.
        lowerings: what has been lowered on the way.
        design: what it is lowered to, if a search has done that.
    """

    given: Lowerable
    regions: tuple[RegionDecision, ...]
    value: ValueType
    schedule: Schedule
    cycles: float = 0.0
    why: tuple[str, ...] = ()
    lowerings: Lowerings = field(default_factory=Lowerings, compare=False, repr=False)
    design: "Compiled | None" = field(default=None, compare=False, repr=False)

    @property
    def alone(self) -> "Decision":
        """The same without what was lowered on the way, which takes memory."""
        return replace(self, lowerings=Lowerings(), design=None)


@dataclass(frozen=True, repr=False)
class CompiledRegion(LoweredRegion):
    """A region as the design holds it: its graph has lanes, and channels of the right depth."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a channel is deeper than full rate needs, by its name."""
    in_turns: Refusal | None = None
    """Why rows are dealt in turns here, where ranges of them were asked for."""

    def computes(self, name: str) -> bool:
        """Whether a result of that name is one of its own: of a scan, of all steps or of one."""
        own = (tensor.name for tensor in self.graph.tensors if tensor.role is MemoryRole.OUTPUT)
        return name in self.region.written or name in own


@dataclass(frozen=True)
class Compiled:
    """A compiled program: its regions in the order in which they run."""

    placed: Lowerable
    """The program as the passes have left it, and what belongs to it."""
    regions: tuple[CompiledRegion, ...]
    arch: Arch
    decision: Decision
    """All that was chosen."""
    memory: OffChipMemory | None = None
    """The memory off chip for which its channels are deep enough, if there is to be one,"""
    off_chip: OffChipLayout | None = field(default=None, compare=False, repr=False)
    """and where what lies there lies."""
    fabrics: tuple[tuple[int, ...], ...] = ()
    """The numbers of regions that share a fabric."""
    shared_nodes: tuple[Users, ...] = ()
    """The nodes that fabrics have in common."""
    sequence: Steps = ()
    """The steps of a run, where some regions run side by side."""

    def __repr__(self) -> str:
        return f"<Compiled {self.program.summary}; {self.value}, {self.design.summary}>"

    @property
    def program(self) -> Program:
        """What the passes have made of the program that was compiled."""
        return self.placed.program

    @property
    def recipes(self) -> Mapping[str, Recipe]:
        """For each input of `program` that the user does not give, how it is made."""
        return self.placed.recipes

    @property
    def aliases(self) -> Mapping[str, str]:
        """For each tensor that is another one in another shape, in the same memories, that one."""
        return self.placed.aliases

    @property
    def joined(self) -> Mapping[str, tuple[str, ...]]:
        """For each result that the host puts together, the tensors with its rows: no two have an entry in one
        place."""
        return self.placed.joined

    @property
    def row_orders(self) -> RowOrders:
        """The orders in which the host stores data, and puts results back from."""
        return self.placed.row_orders

    @property
    def value(self) -> ValueType:
        """The type of the values."""
        return self.decision.value

    @cached_property
    def types(self) -> dict[str, ValueType]:
        """The types of the tensors that a user knows, where they are others."""
        return {name: kind for name, kind in self._written_types.items() if kind != self.value}

    @property
    def types_in_words(self) -> str:
        """The type of the values and those of the tensors that have others: `f32, A bf16`; where all have,
        `f32 for no tensor: A bf16, x bf16, y bf16`."""
        others = ", ".join(f"{name} {kind}" for name, kind in self.types.items())
        if len(self.types) == len(self._written_types):
            return f"{self.value} for no tensor: {others}"
        return f"{self.value}, {others}" if others else str(self.value)

    @cached_property
    def _written_types(self) -> dict[str, ValueType]:
        types = types_of(self.program, self.value)
        return {name: kind for name, kind in types.items() if name in self.placed.written}

    @property
    def schedule(self) -> Schedule:
        """What it was compiled by, as in `Decision`."""
        return self.decision.schedule

    @property
    def why(self) -> tuple[str, ...]:
        """What was chosen of a schedule that was left open, and why: a line each."""
        return self.decision.why

    @property
    def order_lines(self) -> list[str]:
        """What a host does about the orders of rows, in a line each."""
        return self.row_orders.lines()

    @cached_property
    def design(self) -> Design:
        """The graphs of all regions, what they share, and their sequence."""
        assembled = Design.assemble(
            self.program.name,
            [region.graph for region in self.regions],
            self.sequence or sequence_of([region.repeat for region in self.regions]),
            {decl.name for decl in self.program.outputs},
            self.fabrics,
            shared_nodes=self.shared_nodes,
        )
        return assembled.with_fixed_extents if self.schedule.fixed_extents else assembled


def block_counts(tensors: Iterable[TensorBinding], extents: Mapping[str, int]) -> dict[str, int]:
    """The extents that count the blocks of tensors, from those of the tensors' indices."""
    counts = {}
    for binding in tensors:
        format = Format.parse(binding.format, len(binding.indices))
        for mode, count in enumerate(binding.block_counts):
            if count:
                counts[count] = -(-extents[binding.indices[mode]] // format.block_of(mode))
    return counts


def check_divided(program: Program, extents: Mapping[str, int]) -> None:
    """Raises `InputError` for extents that blocks reach beyond where what they hold there would matter."""
    sizes = block_sizes(program)
    for dimension, statement in undivided(program).items():
        if extents.get(dimension, 0) % sizes[dimension]:
            raise InputError(
                f"Blocks of {sizes[dimension]} along {dimension} reach beyond {extents[dimension]:,}, where "
                f"'{statement}' would not be zero; choose a size that divides it, or leave the blocks out "
                "(--blocks)."
            )


def undivided(program: Program) -> dict[str, Statement]:
    """The dimensions in blocks whose extents the blocks have to divide, each with a statement for which.

    A block at the edge reaches beyond the extent, and holds zeros there. Sums do not notice. But a statement
    may not leave anything else there, and a maximum, a minimum or a product would take these zeros in.
    """
    sizes = block_sizes(program)
    found: dict[str, Statement] = {}
    for statement in program.statements:
        dimension = program.dimensions.of_statement(statement)
        for index in reaching_beyond(statement):
            if dimension.get(index) in sizes:
                found.setdefault(dimension[index], statement)
    return found


def area_of(compiled: Compiled, family: str = BASE) -> AreaEstimate:
    """What a compiled program is expected to take of an FPGA of a family, beside its memory."""
    return estimate_area(compiled.design, compiled.arch, family, compiled.off_chip)


def estimate_compiled(
    compiled: Compiled, statistics: TensorStatistics, *, rows_wait: bool = True
) -> DesignEstimate:
    """The estimate for a compiled program, without running it, beside the memory that it was compiled for.

    Args:
        statistics: of the inputs of its program.
        rows_wait: as for `estimate_graph`.

    Raises:
        InputError: for an input that nothing is known of.
    """
    extents = run_extents(compiled, statistics)
    results: Results = {}
    regions = []
    design = compiled.design
    times = Counter(design.regions[number].name for number, _ in runs_of(design.sequence, extents))
    layout, memory = compiled.off_chip, compiled.memory
    for graph in design.runs:
        off_chip = None if layout is None or memory is None else (layout.ports_of(graph), memory)
        region, results = estimate_graph(
            graph, compiled.arch, extents, statistics, results, off_chip=off_chip, rows_wait=rows_wait
        )
        regions.append(region.repeated(times[graph.name]))
    cycles = estimated_cycles(design.sequence, dict(zip(design.turns, regions, strict=True)))
    return DesignEstimate(tuple(regions), cycles)


def run_extents(compiled: Compiled, statistics: TensorStatistics) -> Mapping[str, int]:
    """The extent of each dimension in a run on what the statistics are of; the greatest one, where they do
    not say."""
    shapes = {}
    for decl in compiled.program.inputs:
        if decl.name not in statistics.stocks:
            raise InputError(f"Nothing is known of '{decl.name}'; give its data, or its density.")
        shapes[decl.name] = statistics.stocks[decl.name].shape
    bound = compiled.program.unbound.bind(shapes).dimensions.extents
    known = {dimension: extent for dimension, extent in bound.items() if extent is not None}
    extents = {**compiled.design.extents, **known}
    for tensor in compiled.design.tensors:
        if tensor.rows:  # Of all rows the estimate takes a lane's share.
            outermost = Format.parse(tensor.format, len(tensor.indices)).mode_order[0]
            extents |= dict.fromkeys(tensor.rows, extents[tensor.indices[outermost]])
    return extents | block_counts(compiled.design.tensors, extents)
