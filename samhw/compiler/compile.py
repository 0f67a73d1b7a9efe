"""From a program to graphs: one for each of its regions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import networkx as nx

from samhw.compiler.channels import size_channels
from samhw.compiler.einsum import View
from samhw.compiler.fused_einsum import EinsumBuilder
from samhw.compiler.generate import generate
from samhw.compiler.lanes import with_lanes
from samhw.compiler.lowering import StoredResult, lower, lower_copy, lower_reshape
from samhw.compiler.memories import memories_of
from samhw.compiler.table import FusionTable
from samhw.compiler.value import AUTO, choose_value
from samhw.errors import InputError, ScheduleError
from samhw.frontend import Capacity, Program, Region
from samhw.fusion import FusedRegion, Sharing, check_order, orders, partial_order, stored_format
from samhw.graph import Arch, Design, Graph, Memory, MemoryRole, TensorBinding, validate, with_indices
from samhw.names import Names
from samhw.numerics import ValueType, value_type
from samhw.passes import Lowerable, PermutedCopy, Recipe, apply_passes
from samhw.schedule import Schedule
from samhw.tensors import LevelType

__all__ = ["Compiled", "CompiledRegion", "compile_program", "make_lowerable"]


@dataclass(frozen=True)
class CompiledRegion:
    """A region's graph, and what led to it."""

    region: Region
    fused: FusedRegion
    partial_order: "nx.DiGraph[str]"
    order: tuple[str, ...]
    table: FusionTable
    graph: Graph
    reasons: Mapping[str, str]
    """Why a channel is deeper than full rate needs, by its name."""
    copy: PermutedCopy | None = None
    """The copy that the region makes, if that is what it is for, and its cost."""


@dataclass(frozen=True)
class Compiled:
    """A compiled program: its regions in the order in which they run."""

    program: Program
    """What the passes have made of the program that was compiled."""
    regions: tuple[CompiledRegion, ...]
    arch: Arch
    value: str
    recipes: Mapping[str, Recipe]
    """For each input of `program` that the user does not give, how it is made."""
    schedule: Schedule
    """What it was compiled by, with the regions, the orders and the formats that were taken: compiled by
    that, the program gives the same."""

    @cached_property
    def design(self) -> Design:
        """The graphs of all regions, what they share, and their sequence."""
        return Design.assemble(self.program.name, [region.graph for region in self.regions])


def compile_program(
    program: Program,
    schedule: Schedule | None = None,
    *,
    value: str = AUTO,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
) -> Compiled:
    """Compiles a program.

    A region without an order in the schedule gets the first one that suits the tensors and the statements'
    own orders, and that streams can follow. If there is none, and the schedule permits it, operands are
    copied into another mode order first, and results from another one; `CompiledRegion.copy` says at what
    cost. Otherwise such a program is refused, but for transpositions that stand alone, which are copies
    themselves.

    Args:
        schedule: by default the program's own.
        value: the name of the value type, or `auto` for what `choose_value` makes of the program's text.
        capacity: greatest extents and entries, where the program's text does not say or more is wanted.
        entries: by tensor, the entries of its compressed levels in place of those of `capacity`.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out. It is a
            `ScheduleError` if another order, other regions or other formats would do.
    """
    schedule = schedule or Schedule()
    first = make_lowerable(program, schedule, capacity=capacity, entries=entries)
    lowerable = apply_passes(first)
    program = lowerable.program
    kind = value_type(choose_value(value, program))
    compiler = _Compiler(lowerable, kind, schedule, arch or Arch())
    regions = tuple(compiler.region(number) for number in range(len(program.regions)))
    _check_lanes(schedule, regions)
    used = _used(schedule, first.program, regions)
    return Compiled(program, regions, compiler.arch, compiler.value.name, lowerable.recipes, used)


def make_lowerable(
    program: Program,
    schedule: Schedule | None = None,
    *,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
) -> Lowerable:
    """What the first pass takes; arguments as for `compile_program`.

    Raises:
        InputError: for a schedule that the program does not fit, a format that is not compiled, or entries of
            what has none.
    """
    schedule = schedule or Schedule()
    program = schedule.apply(program)
    for decl in program.tensors.values():
        if decl.format.block is not None:
            raise InputError(f"'{decl.name}' is stored in blocks, which are not compiled; store it as csr.")
    # The results of reshapes and concatenations have extents that follow from others.
    program = program.bind({})
    capacity = (capacity or Capacity()).with_entries(program, entries or {})
    return Lowerable(program, capacity, permute=schedule.permute, largest_copy=schedule.largest_copy)


def _check_lanes(schedule: Schedule, regions: Sequence[CompiledRegion]) -> None:
    """Raises `InputError` for lanes on what is no index of any region, `ScheduleError` for those on an index
    that has nothing inside wherever it comes."""
    indices = dict.fromkeys(index for region in regions if not region.copy for index in region.order)
    nodes = [node for region in regions for node in region.graph.nodes]
    dealt = {node.index for node in nodes if node.spec.deals(node.params)}
    for index, count in schedule.lanes.items():
        if index not in indices:
            raise InputError(
                f"There is no index '{index}' to have lanes; the regions have {', '.join(indices)}."
            )
        if count > 1 and index not in dealt:
            raise ScheduleError(
                f"Nothing lies inside of '{index}' that lanes could share; give lanes to an index further "
                "out, or choose an order that has another index inside of it."
            )


def _used(schedule: Schedule, program: Program, regions: Sequence[CompiledRegion]) -> Schedule:
    """The schedule with what the compiler has chosen by itself. A copy is in the order of what it copies, and
    takes none."""
    chosen = [region for region in regions if region.order and not region.copy and not region.region.reshapes]
    return replace(
        schedule,
        fuse=tuple(tuple(s.lhs.tensor for s in region.statements) for region in program.regions),
        order={region.region.label: region.order for region in chosen if region.region.label is not None},
        formats={decl.name: str(decl.format) for decl in program.tensors.values()},
    )


class _Compiler:
    def __init__(self, lowerable: Lowerable, value: ValueType, schedule: Schedule, arch: Arch):
        self.program = lowerable.program
        self.value = value
        self.iteration = schedule.iteration
        self.lanes = schedule.lanes
        self.attempts = schedule.attempts
        self.capacity = lowerable.capacity
        self.arch = arch
        self.copies = lowerable.copies
        self.dimensions = self.program.dimensions
        self.extents = lowerable.extents

    @cached_property
    def once(self) -> str:
        """A dimension of extent 1, which all copies share."""
        return self.dimensions.fresh("once")

    def region(self, number: int) -> CompiledRegion:
        """A region: a copy, a reshape, or what is lowered row by row."""
        region = self.program.regions[number]
        first = region.statements[0].lhs.tensor
        if first in self.copies:
            return self.copied(number, self.copies[first])
        if region.reshapes:
            return self.reshaped(number)
        return self.ordered(number)

    def ordered(self, number: int) -> CompiledRegion:
        """The first of the ways to share and to order a region that streams can follow."""
        refusal: InputError | None = None
        misnamed: InputError | None = None
        region = self.program.regions[number]
        for sharing in Sharing if len(region.statements) > 1 else [Sharing.EQUAL]:
            try:
                fused = FusedRegion(self.program, region, sharing)
                graph = partial_order(fused)
                if region.order is not None:
                    candidates = [check_order(fused, graph, region.order)]
                else:
                    candidates = list(islice(orders(fused, graph), self.attempts))
            except ScheduleError as error:
                refusal = refusal or error
                continue
            except InputError as error:
                # An order may name the indices that another way to share has.
                misnamed = misnamed or error
                continue
            for candidate in candidates:
                try:
                    return self.lowered(number, fused, graph, candidate)
                except ScheduleError as error:
                    refusal = refusal or error
        refusal = refusal or misnamed
        assert refusal is not None
        raise refusal

    def lowered(
        self, number: int, fused: FusedRegion, partial: "nx.DiGraph[str]", order: tuple[str, ...]
    ) -> CompiledRegion:
        builder = EinsumBuilder(fused, self.dimensions, order, self.iteration)
        for output in fused.outputs:
            builder.tree(output)
        results = []
        for output in fused.outputs:
            fmt = stored_format(self.program.tensors[output.tensor].format)
            indices = output.indices(output.statement.lhs)
            results.append(
                StoredResult(
                    output.tensor,
                    f"{output.tensor}[{', '.join(indices)}]" if indices else output.tensor,
                    tuple(indices[mode] for mode in fmt.mode_order),
                    fmt.levels,
                    builder.result(output),
                )
            )
        table = lower(results, _title(fused), order, fused.dimension, self.extents, builder.columns)
        return self.compiled(number, fused, partial, table, fused.dimension, self.extents, self.lanes)

    def reshaped(self, number: int) -> CompiledRegion:
        """A region that copies a tensor's elements into another shape."""
        region = self.program.regions[number]
        if region.order is not None:
            raise InputError(
                f"'{region.statements[0]}' copies element by element, in the order of the storage; leave the "
                "order out."
            )
        fused = FusedRegion(self.program, region, Sharing.EQUAL)
        read, written = fused.stored_uses()
        levels = self.program.tensors[read.tensor].format.levels
        view = View(read.tensor, read.tensor, read.stored, levels)
        result = StoredResult(
            written.tensor,
            str(written),
            written.stored,
            self.program.tensors[written.tensor].format.levels,
            view,
        )
        table = lower_reshape(view, result, fused.dimension, self.extents, Names(self.program.tensors))
        # The indices of the result are in no loop.
        partial = partial_order(fused).subgraph(read.stored).copy()
        return self.compiled(number, fused, partial, table, fused.dimension, self.extents)

    def copied(self, number: int, copy: PermutedCopy) -> CompiledRegion:
        """A region that copies a tensor into another mode order."""
        fused = FusedRegion(self.program, self.program.regions[number], Sharing.EQUAL)
        read, written = fused.stored_uses()
        index, once = fused.names.fresh("once"), self.once
        dimension = {index: once, **fused.dimension}
        extents = {once: 1, **self.extents}
        columns = Names(self.program.tensors)
        fmt = stored_format(self.program.tensors[read.tensor].format)
        view = View(read.tensor, read.tensor, read.stored, fmt.levels)
        levels = stored_format(self.program.tensors[copy.tensor].format).levels
        result = StoredResult(copy.tensor, str(written), written.stored, levels, view)
        column = columns.fresh("once")
        pattern = View(column, column, (index,), (LevelType.dense,), pattern=True)
        table = lower_copy(view, pattern, result, dimension, extents, columns)
        region = self.compiled(number, fused, partial_order(fused), table, dimension, extents)
        return replace(region, copy=copy)

    def compiled(
        self,
        number: int,
        fused: FusedRegion,
        partial: "nx.DiGraph[str]",
        table: FusionTable,
        dimension: Mapping[str, str],
        extents: Mapping[str, int],
        lanes: Mapping[str, int] = {},
    ) -> CompiledRegion:
        """The region of a table, with lanes, and with memories and channels of the right size."""
        name = self.program.name if len(self.program.regions) == 1 else f"{self.program.name}_{number}"
        memories, tensors = self.stores(fused)
        used = set(dimension.values()) | {i for t in tensors for i in t.indices}
        own = {d: n for d, n in extents.items() if d in used}
        graph = generate(name, table, self.value.name, self.arch, memories, tensors, own)
        try:
            validate(graph)
        except InputError as error:
            # The tests have no program that comes here, though one was seen; another order may do.
            raise ScheduleError(
                f"'{_title(fused)}' cannot be lowered in the order {', '.join(table.rows[:-1])}: {error} "
                "Choose another order, or compute its statements in regions of their own."
            ) from error
        graph = with_lanes(with_indices(graph), table.rows[:-1], lanes, self.arch)
        index_extents = {index: extents[d] for index, d in dimension.items()}
        sized = size_channels(graph, self.arch, index_extents)
        return CompiledRegion(
            self.program.regions[number],
            fused,
            partial,
            table.rows[:-1],
            table,
            with_indices(graph).with_depths(sized.depths),
            sized.reasons,
        )

    def stores(self, fused: FusedRegion) -> tuple[list[Memory], list[TensorBinding]]:
        """The memories and tensors of a region."""
        outputs = {output.tensor for output in fused.outputs}
        names = dict.fromkeys(use.tensor for use in fused.stored_uses() if use.tensor not in outputs)
        memories: list[Memory] = []
        tensors = []
        for name in (*names, *(output.tensor for output in fused.outputs)):
            role = MemoryRole.OUTPUT if name in outputs else MemoryRole.INPUT
            shape = self.dimensions.shape(name, self.extents)
            memories += memories_of(self.program, name, role, shape, self.capacity)
            fmt = str(stored_format(self.program.tensors[name].format))
            tensors.append(TensorBinding(name, role, fmt, self.dimensions.of_tensor(name), shape))
        return memories, tensors


def _title(fused: FusedRegion) -> str:
    """A region in error messages."""
    return ", ".join(f"{output.statement.lhs} = .." for output in fused.outputs)
