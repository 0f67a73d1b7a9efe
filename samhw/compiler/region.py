"""From a region of a program, and what is decided about it, to its graph."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from samhw.compiler.computations import Computation, computations
from samhw.compiler.einsum import View
from samhw.compiler.fused_einsum import EinsumBuilder
from samhw.compiler.fusion_table import FusionTable
from samhw.compiler.lowering import StoredResult, lower, lower_copy, lower_reshape
from samhw.compiler.passes import PermutedCopy
from samhw.compiler.scope import Scope
from samhw.compiler.table_to_graph import generate
from samhw.cost import Expected, estimate
from samhw.errors import InputError, ScheduleError, StreamError
from samhw.graph import Endpoint, Graph, Repeat, levels, validate
from samhw.lang import Region
from samhw.lang.decision import Refusal, RegionDecision, Sharing
from samhw.lang.fusion import FusedRegion, check_order, orders, partial_order
from samhw.names import Names
from samhw.tensors import Format

__all__ = ["LoweredRegion", "lower_fused", "lower_region"]

FOR_AN_INSTANCE = 8
"""As how many nodes an instance counts of a region that turns out to be refused."""


@dataclass(frozen=True)
class LoweredRegion:
    """A region's graph, before the passes of graphs, and what led to it."""

    region: Region
    fused: FusedRegion
    order: tuple[str, ...]
    table: FusionTable
    graph: Graph
    extent: Mapping[str, int]
    """The greatest extent of each index."""
    expected: Expected
    """About how long the region runs, and how much its streams carry."""
    computations: tuple[Computation, ...]
    """How often each intermediate is computed, and why."""
    copy: PermutedCopy | None = None
    """The copy that the region makes, if that is what it is for, and its cost."""
    repeat: Repeat | None = None
    """The repeat that has the region, without its body; None for one that runs once."""
    note: str = ""
    """Why the region ends where it does, or what it stores in the place of a result."""

    def serving(self, index: str, segmented: Mapping[str, str]) -> frozenset[str]:
        """The indices of the region that get the lanes of one of the program: those that count its segments;
        or itself; or where all that would lie inside of it is computed for another use already, that one's.

        Args:
            segmented: by index, the dimension of the segments that it counts.
        """
        if index in segmented:
            return frozenset(i for i, d in self.fused.dimension.items() if d == segmented[index])
        around = {other for stream in levels(self.graph).values() for other in stream[:-1]}
        alike = self.fused.alike(index) & around
        others = (other for other in self.order if other in alike)
        return frozenset([index if index in around else next(others, index)])

    def lanes(self, given: Mapping[str, int], segmented: Mapping[str, str]) -> dict[str, int]:
        """The lanes of its indices, of those of the program's; `segmented` as for `serving`."""
        served = {i: count for index, count in given.items() for i in self.serving(index, segmented)}
        return served | {index: count for index, count in given.items() if index not in segmented}

    def queues(self, given: Mapping[str, int]) -> dict[Endpoint, int]:
        """By output, the rows that may wait after it, of those by intermediate."""
        return {
            place.source: given[computed.tensor]
            for computed in self.computations
            if computed.tensor in given
            for place in computed.places
        }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in the order {', '.join(self.order) or '(none)'}: {self.graph!r}>"


def lower_region(
    scope: Scope, number: int, decision: RegionDecision | None = None
) -> LoweredRegion | Refusal:
    """A region of a program, lowered.

    Args:
        decision: none for a region that a pass has added. It has one statement, and takes the first order
            that its tensors have.

    Raises:
        InputError: for what no decision would make possible.
    """
    region = scope.program.regions[number]
    copy = scope.lowerable.copies.get(region.statements[0].lhs.tensor)
    try:
        if copy is not None:
            return _copied(scope, number, copy)
        if region.reshapes:
            return _reshaped(scope, number)
        sharing = Sharing.EQUAL if decision is None else decision.sharing
        fused = FusedRegion(scope.program, region, sharing, scope.recomputed)
        partial = partial_order(fused)
        if decision is None or decision.order is None:
            order = next(orders(fused, partial))
        else:
            order = check_order(fused, partial, decision.order)
    except ScheduleError as error:
        return Refusal.of(error, region.written)
    found = lower_fused(scope, number, fused, order)
    if isinstance(found, LoweredRegion) and decision is not None:
        return replace(found, note=decision.why)
    return found


def lower_fused(
    scope: Scope, number: int, fused: FusedRegion, order: tuple[str, ...]
) -> LoweredRegion | Refusal:
    """A region whose uses share as they do, in an order of its indices. None is lowered twice."""
    key = scope.causes(number, fused), order
    if key not in scope.lowerings:
        found = scope.lowerings[key] = _lowered(scope, number, fused, order)
        made = FOR_AN_INSTANCE * len(fused.instances)
        scope.lowerings.take(made if isinstance(found, Refusal) else len(found.graph.nodes))
    known: LoweredRegion | Refusal = scope.lowerings[key]
    if isinstance(known, Refusal):
        return known
    name, graph = scope.name(number), known.graph
    if graph.name != name:
        graph = replace(graph, name=name)
    return replace(known, region=scope.program.regions[number], fused=fused, graph=graph)


def _lowered(
    scope: Scope, number: int, fused: FusedRegion, order: tuple[str, ...]
) -> LoweredRegion | Refusal:
    try:
        builder = EinsumBuilder(fused, scope.dimensions, order, scope.iteration, scope.value, scope.steps)
        for output in fused.outputs:
            builder.tree(output)
        results = []
        for output in fused.outputs:
            fmt = scope.program.tensors[output.tensor].format.loaded.of_blocks
            indices = output.indices(output.statement.lhs)
            results.append(
                StoredResult(
                    output.tensor,
                    f"{output.tensor}[{', '.join(indices)}]" if indices else output.tensor,
                    tuple(indices[mode] for mode in fmt.mode_order),
                    fmt.levels,
                    builder.result(output),
                    scope.steps.get(output.tensor, {}).get(output.tensor),
                )
            )
        dimension = scope.rows(fused.dimension)
        table = lower(results, _title(fused), order, dimension, scope.extents, builder.columns, scope.value)
        return _of_table(scope, number, fused, table, dimension, scope.extents)
    except ScheduleError as error:
        return Refusal.of(error, scope.program.regions[number].written)


def _reshaped(scope: Scope, number: int) -> LoweredRegion:
    """A region that copies a tensor's elements into another shape, where an alias would not do."""
    region = scope.program.regions[number]
    if region.order is not None:
        raise InputError(
            f"'{region.statements[0]}' copies element by element, in the order of the storage; leave the "
            "order out."
        )
    fused = FusedRegion(scope.program, region, Sharing.EQUAL)
    read, written = fused.stored_uses()
    levels = scope.program.tensors[read.tensor].format.levels
    view = View(read.tensor, read.tensor, read.stored, levels)
    result = StoredResult(
        written.tensor,
        str(written),
        written.stored,
        scope.program.tensors[written.tensor].format.levels,
        view,
    )
    table = lower_reshape(
        view, result, fused.dimension, scope.extents, Names(scope.program.tensors), scope.value
    )
    # The indices of the result are in no loop.
    found = _of_table(scope, number, fused, table, fused.dimension, scope.extents)
    why = scope.lowerable.copied_shapes[written.tensor]
    return replace(found, note=f"copies {read.tensor} to {written.tensor}, element by element: {why}")


def _copied(scope: Scope, number: int, copy: PermutedCopy) -> LoweredRegion:
    """A region that copies a tensor into another mode order."""
    tensors = scope.program.tensors
    fused = FusedRegion(scope.program, scope.program.regions[number], Sharing.EQUAL)
    read, written = fused.stored_uses()
    index, once = fused.names.fresh("once"), scope.once
    dimension = {index: once, **scope.rows(fused.dimension)}
    extents = {once: 1, **scope.extents}
    columns = Names(tensors)
    places = scope.steps.get(read.tensor, {})
    if any(place.may_miss for place in places.values()):
        whole = scope.lowerable.slices[read.tensor].of
        raise StreamError(
            f"An earlier step of '{whole}', which there may not be, is not copied into another mode order",
            f"store the modes of '{whole}' in the order in which the scan reads them",
            "choose another order",
        )
    levels = tensors[read.tensor].format.loaded.of_blocks.levels
    view = View(read.tensor, read.tensor, read.stored, levels, step=places.get(read.tensor))
    levels = tensors[copy.tensor].format.loaded.of_blocks.levels
    step = scope.steps.get(copy.tensor, {}).get(copy.tensor)
    result = StoredResult(copy.tensor, str(written), written.stored, levels, view, step)
    column = columns.fresh("once")
    pattern = View(column, column, (index,), Format.dense(1).levels, pattern=True)
    table = lower_copy(view, pattern, result, dimension, extents, columns, scope.value)
    found = _of_table(scope, number, fused, table, dimension, extents)
    return replace(found, copy=copy)


def _of_table(
    scope: Scope,
    number: int,
    fused: FusedRegion,
    table: FusionTable,
    dimension: Mapping[str, str],
    extents: Mapping[str, int],
) -> LoweredRegion:
    """The region of a table."""
    repeat = scope.repeat(scope.program.regions[number])
    memories, tensors = scope.stores(fused)
    used = set(dimension.values()) | {i for t in tensors for i in (*t.indices, *t.block_counts)}
    own = {d: n for d, n in extents.items() if d in used or (repeat is not None and d == repeat.extent)}
    try:
        graph = generate(scope.name(number), table, scope.value, scope.arch, memories, tensors, own)
    except StreamError as error:
        raise _unlowerable(fused, table, error) from error
    try:
        validate(graph)
    except InputError as error:
        # The tests have no program that comes here, though one was seen; another order may do.
        raise _unlowerable(fused, table, error) from error
    extent = {index: extents[d] for index, d in dimension.items()}
    expected = estimate(graph, scope.arch, extent)
    region = scope.program.regions[number]
    computed = computations(region, table, graph, expected, scope.points(region))
    return LoweredRegion(
        region, fused, table.rows[:-1], table, graph, extent, expected, computed, repeat=repeat
    )


def _unlowerable(fused: FusedRegion, table: FusionTable, error: InputError) -> StreamError:
    """The refusal of a region whose graph is none."""
    return StreamError(
        f"'{_title(fused)}' cannot be lowered in the order {', '.join(table.rows[:-1])}: "
        f"{str(error).removesuffix('.')}",
        "choose another order",
        "compute its statements in regions of their own",
    )


def _title(fused: FusedRegion) -> str:
    """A region in error messages."""
    return ", ".join(f"{output.statement.lhs} = .." for output in fused.outputs)
