"""From a program to graphs: one for each of its regions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal, get_args

import networkx as nx

from samhw.compiler.capacity import Capacity, greatest_extents, memories_of
from samhw.compiler.channels import size_channels
from samhw.compiler.dimensions import Dimensions
from samhw.compiler.einsum import View, stored_format
from samhw.compiler.fuse import FusedRegion, Sharing
from samhw.compiler.generate import generate
from samhw.compiler.lower import lower, lower_copy, lower_reshape
from samhw.compiler.order import check_order, orders, partial_order
from samhw.compiler.permute import PermutedCopy, copy_discordant
from samhw.compiler.result import Result
from samhw.compiler.sums import EinsumBuilder
from samhw.compiler.table import FusionTable
from samhw.compiler.value import AUTO, choose_value
from samhw.errors import InputError, ScheduleError
from samhw.frontend import Program, Region, Reshape
from samhw.graph import Arch, Graph, Memory, MemoryRole, TensorBinding, merge, validate, with_indices
from samhw.graph.names import Names
from samhw.numerics import ValueType, value_type
from samhw.tensors import LevelType

__all__ = ["ITERATIONS", "Compiled", "CompiledRegion", "Iteration", "compile_program"]

Iteration = Literal["factored", "global"]
ITERATIONS = get_args(Iteration)
"""What users call iteration spaces: `factored` of `compile_program`, and not."""

ATTEMPTS = 12
"""Orders that are tried for a region before its first refusal is reported."""


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
    regions: tuple[CompiledRegion, ...]
    arch: Arch
    value: str

    @cached_property
    def graph(self) -> Graph:
        """The graph of the whole program."""
        return merge(self.program.name, [region.graph for region in self.regions])


def compile_program(
    program: Program,
    *,
    order: Sequence[str] | None = None,
    value: str = AUTO,
    factored: bool = True,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
    permute: bool = False,
) -> Compiled:
    """Compiles a program.

    Args:
        order: the order of the indices of the program's only region, outermost first; else the first one that
            suits the tensors and the statements' own orders, and that streams can follow.
        value: the name of the value type, or `auto` for what `choose_value` makes of the program's text.
        factored: place each sum where it belongs; otherwise one global iteration space, as Custard does.
        capacity: greatest extents and entries, where the program's text does not say or more is wanted.
        entries: by tensor, the entries of its compressed levels in place of those of `capacity`.
        permute: where storage orders leave no order of the indices, copy operands into another mode order
            first, and results from another one; `CompiledRegion.copy` says at what cost. Otherwise such a
            program is refused, but for transpositions that stand alone, which are copies themselves.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out. It is a
            `ScheduleError` if another order, other regions or other formats would do.
    """
    if order is not None and len(program.regions) != 1:
        raise InputError(
            f"'{program.name}' has {len(program.regions)} regions, so one order does not fit them all; write "
            "the orders into the program."
        )
    for decl in program.tensors.values():
        if decl.format.block is not None:
            raise InputError(f"'{decl.name}' is stored in blocks, which are not compiled; store it as csr.")
    # The results of reshapes and concatenations have extents that follow from others.
    program = program.bind({})
    capacity = (capacity or Capacity()).with_entries(program, entries or {})
    program, capacity, copies = copy_discordant(program, capacity, order, permute=permute)
    kind = value_type(choose_value(value, program))
    compiler = _Compiler(program, kind, factored, capacity, arch or Arch())
    regions = tuple(
        compiler.copied(number, copies[region]) if region in copies else compiler.region(number, order)
        for number, region in enumerate(program.regions)
    )
    return Compiled(program, regions, compiler.arch, compiler.value.name)


class _Compiler:
    def __init__(self, program: Program, value: ValueType, factored: bool, capacity: Capacity, arch: Arch):
        self.program = program
        self.value = value
        self.factored = factored
        self.capacity = capacity
        self.arch = arch
        self.dimensions = Dimensions(program)
        self.extents = greatest_extents(program, self.dimensions, capacity)
        self.of_statement = {s: self.dimensions.of_statement(s) for s in program.statements}

    @cached_property
    def once(self) -> str:
        """A dimension of extent 1, which all copies share."""
        return self.dimensions.names.fresh("once")

    def region(self, number: int, order: Sequence[str] | None) -> CompiledRegion:
        """A region; the first of the ways to share and to order it that streams can follow."""
        refusal: InputError | None = None
        misnamed: InputError | None = None
        statements = self.program.regions[number]
        if any(isinstance(statement.rhs, Reshape) for statement in statements.statements):
            return self.reshaped(number, order)
        for sharing in Sharing if len(statements.statements) > 1 else [Sharing.EQUAL]:
            try:
                fused = FusedRegion(self.program, statements, self.of_statement, sharing)
                graph = partial_order(fused)
                if order is not None:
                    candidates = [check_order(fused, graph, order)]
                else:
                    candidates = list(islice(orders(fused, graph), ATTEMPTS))
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
        builder = EinsumBuilder(fused, self.dimensions, order, factored=self.factored)
        for output in fused.outputs:
            builder.tree(output)
        results = []
        for output in fused.outputs:
            fmt = stored_format(self.program.tensors[output.tensor].format)
            indices = output.indices(output.statement.lhs)
            results.append(
                Result(
                    output.tensor,
                    f"{output.tensor}[{', '.join(indices)}]" if indices else output.tensor,
                    tuple(indices[mode] for mode in fmt.mode_order),
                    fmt.levels,
                    builder.result(output),
                )
            )
        table = lower(results, _title(fused), order, fused.dimension, self.extents, builder.columns)
        return self.compiled(number, fused, partial, table, fused.dimension, self.extents)

    def reshaped(self, number: int, order: Sequence[str] | None) -> CompiledRegion:
        """A region that copies a tensor's elements into another shape."""
        region = self.program.regions[number]
        if order is not None:
            raise InputError(
                f"'{region.statements[0]}' copies element by element, in the order of the storage; leave the "
                "order out."
            )
        fused = FusedRegion(self.program, region, self.of_statement, sharing=Sharing.EQUAL)
        read, written = fused.stored_uses()
        levels = self.program.tensors[read.tensor].format.levels
        view = View(read.tensor, read.tensor, read.stored, levels)
        result = Result(
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
        fused = FusedRegion(
            self.program, self.program.regions[number], self.of_statement, sharing=Sharing.EQUAL
        )
        read, written = fused.stored_uses()
        index, once = fused.names.fresh("once"), self.once
        dimension = {index: once, **fused.dimension}
        extents = {once: 1, **self.extents}
        columns = Names(self.program.tensors)
        fmt = stored_format(self.program.tensors[read.tensor].format)
        view = View(read.tensor, read.tensor, read.stored, fmt.levels)
        levels = stored_format(self.program.tensors[copy.tensor].format).levels
        result = Result(copy.tensor, str(written), written.stored, levels, view)
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
    ) -> CompiledRegion:
        """The region of a table, with memories and channels of the right size."""
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
