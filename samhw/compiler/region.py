"""From a region of a program to its graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import networkx as nx

from samhw.compiler.banks import with_banks
from samhw.compiler.channels import size_channels
from samhw.compiler.computations import Computation, computations
from samhw.compiler.einsum import View
from samhw.compiler.estimate import Expected, estimate
from samhw.compiler.fused_einsum import EinsumBuilder
from samhw.compiler.generate import generate
from samhw.compiler.lanes import with_lanes
from samhw.compiler.lowering import StoredResult, lower, lower_copy, lower_reshape
from samhw.compiler.memories import memories_of
from samhw.compiler.relax import relaxed
from samhw.compiler.table import FusionTable
from samhw.errors import InputError, ScheduleError, StreamError
from samhw.frontend import Region
from samhw.fusion import (
    FusedRegion,
    Sharing,
    check_order,
    greatest_sizes,
    orders,
    partial_order,
    stored_format,
)
from samhw.graph import Arch, Graph, Memory, MemoryRole, TensorBinding, validate, with_indices
from samhw.names import Names
from samhw.numerics import ValueType
from samhw.passes import Lowerable, PermutedCopy
from samhw.schedule import Schedule
from samhw.tensors import LevelType

__all__ = ["CompiledRegion", "RegionCompiler"]


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
    expected: Expected
    """About how long the region runs, and how much its streams carry."""
    computations: tuple[Computation, ...]
    """How often each intermediate is computed, and why."""
    copy: PermutedCopy | None = None
    """The copy that the region makes, if that is what it is for, and its cost."""
    note: str = ""
    """Why the region ends where it does, if the compiler has split a longer one."""


class RegionCompiler:
    """Compiles regions of a program, each for itself."""

    def __init__(self, lowerable: Lowerable, value: ValueType, schedule: Schedule, arch: Arch):
        self.lowerable = lowerable
        self.program = lowerable.program
        self.value = value
        self.schedule = schedule
        self.capacity = lowerable.capacity
        self.arch = arch
        self.copies = lowerable.copies
        self.dimensions = self.program.dimensions
        self.extents = lowerable.extents

    def of(self, regions: Sequence[Region]) -> "RegionCompiler":
        """The same for the program in other regions."""
        program = replace(self.program, regions=tuple(regions))
        return RegionCompiler(replace(self.lowerable, program=program), self.value, self.schedule, self.arch)

    def with_stand_ins(
        self, others: Mapping[str, "RegionCompiler"], regions: Sequence[Region]
    ) -> "RegionCompiler":
        """The same for the program in regions that make tensors of other ones: each by its name, with the
        compiler of a program that has it."""
        tensors = {name: other.program.tensors[name] for name, other in others.items()}
        entries = {name: other.capacity.entries_of(name) for name, other in others.items()}
        program = replace(self.program, tensors={**self.program.tensors, **tensors}, regions=tuple(regions))
        lowerable = self.lowerable.with_program(program, entries=entries)
        return RegionCompiler(lowerable, self.value, self.schedule, self.arch)

    def relaxed(self, number: int, tensor: str) -> tuple["RegionCompiler", str]:
        """The same for the program in which a region stores a result in compressed levels, and the next one
        fills it in; and the name that stands for the result."""
        lowerable, name = relaxed(self.lowerable, number, tensor)
        return RegionCompiler(lowerable, self.value, self.schedule, self.arch), name

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
        """The region by the first of the ways to share that streams can follow."""
        refusal: InputError | None = None
        misnamed: InputError | None = None
        for sharing in self.ways(self.program.regions[number]):
            try:
                fused, graph, candidates = self.shared(number, sharing)
            except ScheduleError as error:
                refusal = refusal or error
                continue
            except InputError as error:
                # An order may name the indices that another way to share has.
                misnamed = misnamed or error
                continue
            try:
                found = self.first_lowered(number, fused, graph, candidates)
                self.check_buffers(found)
                return found
            except ScheduleError as error:
                refusal = refusal or error
        refusal = refusal or misnamed
        assert refusal is not None
        raise refusal

    def ways(self, region: Region) -> Sequence[Sharing]:
        """The ways to share what is fused, the one that shares most first."""
        if len(region.statements) == 1:
            return [Sharing.EQUAL]
        return [Sharing.NOTHING] if self.schedule.share == "none" else list(Sharing)

    def check_buffers(self, found: CompiledRegion) -> None:
        """Raises `ScheduleError` for an intermediate that the schedule wants to be computed once, but is
        not."""
        for computation in found.computations:
            if self.schedule.share_of(computation.tensor) == "buffer" and not computation.is_once:
                raise ScheduleError(
                    f"'share' keeps {computation.tensor} in a buffer, but streams do not allow it: "
                    f"{computation.why}; choose another order, or '{computation.tensor} = \"store\"'."
                )

    def shared(
        self, number: int, sharing: Sharing
    ) -> tuple[FusedRegion, "nx.DiGraph[str]", list[tuple[str, ...]]]:
        """The region with its uses shared, the partial order of its indices, and the orders to try."""
        region = self.program.regions[number]
        anew = [s.lhs.tensor for s in region.statements if self.schedule.share_of(s.lhs.tensor) == "anew"]
        fused = FusedRegion(self.program, region, sharing, anew)
        graph = partial_order(fused)
        if region.order is not None:
            return fused, graph, [check_order(fused, graph, region.order)]
        return fused, graph, list(islice(orders(fused, graph), self.schedule.attempts))

    def first_lowered(
        self,
        number: int,
        fused: FusedRegion,
        partial: "nx.DiGraph[str]",
        candidates: Sequence[tuple[str, ...]],
    ) -> CompiledRegion:
        """The region in the first order that streams can follow."""
        refusal: ScheduleError | None = None
        for candidate in candidates:
            try:
                return self.lowered(number, fused, partial, candidate)
            except ScheduleError as error:
                refusal = refusal or error
        assert refusal is not None
        raise refusal

    def lowered(
        self, number: int, fused: FusedRegion, partial: "nx.DiGraph[str]", order: tuple[str, ...]
    ) -> CompiledRegion:
        builder = EinsumBuilder(fused, self.dimensions, order, self.schedule.iteration)
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
        lanes = self.schedule.lanes
        return self.compiled(number, fused, partial, table, fused.dimension, self.extents, lanes)

    def reshaped(self, number: int) -> CompiledRegion:
        """A region that copies a tensor's elements into another shape, where a view would not do."""
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
        found = self.compiled(number, fused, partial, table, fused.dimension, self.extents)
        why = self.lowerable.copied_shapes[written.tensor]
        return replace(found, note=f"copies {read.tensor} to {written.tensor}, element by element: {why}")

    def is_view(self, number: int) -> bool:
        """Whether a region has nothing to do: what its statement makes is a view."""
        return self.program.regions[number].statements[0].lhs.tensor in self.lowerable.views

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
        numbers = [n for n in range(len(self.program.regions)) if not self.is_view(n)]
        name = self.program.name if len(numbers) == 1 else f"{self.program.name}_{numbers.index(number)}"
        memories, tensors = self.stores(fused)
        used = set(dimension.values()) | {i for t in tensors for i in t.indices}
        own = {d: n for d, n in extents.items() if d in used}
        try:
            graph = generate(name, table, self.value.name, self.arch, memories, tensors, own)
        except StreamError as error:
            raise _unlowerable(fused, table, error) from error
        try:
            validate(graph)
        except InputError as error:
            # The tests have no program that comes here, though one was seen; another order may do.
            raise _unlowerable(fused, table, error) from error
        index_extents = {index: extents[d] for index, d in dimension.items()}
        # What is computed, and the choices between graphs, are those of one lane.
        expected = estimate(graph, self.arch, index_extents)
        read = {access.tensor for statement in self.program.statements for access in statement.reads}
        divisible = {tensor.name for tensor in tensors if tensor.name not in read}
        laned = with_lanes(with_indices(graph), table.rows[:-1], lanes, self.arch, divisible)
        laned = with_banks(replace(laned, memories=self.in_parts(laned)), lanes, self.arch)
        sized = size_channels(laned, self.arch, index_extents)
        region = self.program.regions[number]
        return CompiledRegion(
            region,
            fused,
            partial,
            table.rows[:-1],
            table,
            laned.with_depths(sized.depths),
            sized.reasons,
            expected,
            computations(region, table, graph, expected, sized.held, self.points(region)),
        )

    def in_parts(self, graph: Graph) -> tuple[Memory, ...]:
        """The memories of a region with lanes, with those of parts as large as these may become."""
        memories = {memory.name: memory for memory in graph.memories}
        for tensor in graph.tensors:
            if tensor.parts > 1:
                shape = self.dimensions.shape(tensor.name, self.extents)
                parts = memories_of(
                    self.program, tensor.name, tensor.role, shape, self.capacity, tensor.parts
                )
                memories |= {part.name: part for part in parts if part.name in memories}
        return tuple(memories.values())

    def points(self, region: Region) -> dict[str, int]:
        """The most values of each result of a region."""
        most = {}
        for statement in region.statements:
            tensor = statement.lhs.tensor
            shape = self.dimensions.shape(tensor, self.extents)
            fmt = stored_format(self.program.tensors[tensor].format)
            most[tensor] = (greatest_sizes(fmt, shape, self.capacity.entries_of(tensor)) or [1])[-1]
        return most

    def stores(self, fused: FusedRegion) -> tuple[list[Memory], list[TensorBinding]]:
        """The memories and tensors of a region."""
        outputs = {output.tensor for output in fused.outputs}
        names = dict.fromkeys(use.tensor for use in fused.stored_uses() if use.tensor not in outputs)
        used = (*names, *(output.tensor for output in fused.outputs))
        memories: dict[str, Memory] = {}
        tensors = []
        for name, stored in self.with_views(used).items():
            role = MemoryRole.OUTPUT if stored in outputs else MemoryRole.INPUT
            shape = self.dimensions.shape(name, self.extents)
            for memory in memories_of(self.program, name, role, shape, self.capacity, stored=stored):
                # The extents of views are rounded up each for itself.
                known = memories.get(memory.name, memory)
                memories[memory.name] = max(known, memory, key=lambda m: m.capacity)
            fmt = str(stored_format(self.program.tensors[name].format))
            dimensions = self.dimensions.of_tensor(name)
            view_of = None if stored == name else stored
            tensors.append(TensorBinding(name, role, fmt, dimensions, shape, view_of=view_of))
        return list(memories.values()), tensors

    def with_views(self, tensors: Sequence[str]) -> dict[str, str]:
        """Tensors, and all that lie in the same memories; each with the one whose memories these are."""
        views = self.lowerable.views
        found: dict[str, str] = {}
        for name in tensors:
            stored = views.get(name, name)
            same = [stored, *(view for view, source in views.items() if source == stored)]
            found |= dict.fromkeys(same, stored)
        return found


def _unlowerable(fused: FusedRegion, table: FusionTable, error: InputError) -> StreamError:
    """The refusal of a region whose graph is none."""
    return StreamError(
        f"'{_title(fused)}' cannot be lowered in the order {', '.join(table.rows[:-1])}: {error} "
        "Choose another order, or compute its statements in regions of their own."
    )


def _title(fused: FusedRegion) -> str:
    """A region in error messages."""
    return ", ".join(f"{output.statement.lhs} = .." for output in fused.outputs)
