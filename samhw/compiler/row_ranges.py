"""Whether the lanes of an index may have ranges of its rows, and what lies in a bank for each of them."""

from collections.abc import Collection

from samhw.compiler.graph_passes import RowRanges
from samhw.compiler.region import LoweredRegion
from samhw.compiler.scope import Scope, memories_of
from samhw.graph import Endpoint, Graph, Node, levels, with_indices
from samhw.lang import Capacity, Concat, Name
from samhw.lang.decision import Refusal
from samhw.lang.fusion import StoredUse

__all__ = ["row_ranges"]


def row_ranges(scope: Scope, lowered: LoweredRegion, index: str, count: int) -> RowRanges | Refusal:
    """The ranges of rows that some lanes of an index of a region have; or why they cannot have any."""
    uses, graph = list(lowered.fused.stored_uses()), with_indices(lowered.graph)
    tensors = frozenset(use.tensor for use in uses if index in use.stored)
    others = [use for use in uses if use.tensor in tensors and index not in use.stored]
    cause = (
        _by_order(scope, lowered, index)
        or next(filter(None, (_by_use(scope, lowered, index, use) for use in uses)), None)
        or next((f"'{use}' reads other rows too" for use in others), None)
        or _by_others(scope, lowered, tensors)
        or next(filter(None, (_by_node(graph, index, node) for node in graph.nodes)), None)
    )
    if cause is not None:
        cause = f"Lanes on '{index}' cannot have ranges of rows: {cause}"
        ways = (f"leave 'deal' out for '{index}', so that its rows are dealt in turns",)
        return Refusal(cause, ways, lowered.region.written)
    extent = {i: scope.extents[d] for i, d in lowered.fused.dimension.items()}
    dimension = lowered.fused.dimension[index]
    rows = tuple(scope.dimensions.fresh(f"{dimension}_{lane}_of_{count}") for lane in range(count))
    capacity = scope.lowerable.capacity
    banks = {name: capacity.bank(name, scope.extents[dimension], count) for name in tensors}
    most = max(own for own, _ in banks.values())
    room = Capacity({}, {name: entries for name, (_, entries) in banks.items()})
    role = {tensor.name: tensor.role for tensor in lowered.graph.tensors}
    places = {
        memory.name: memory.capacity
        for use in uses
        if use.tensor in tensors
        for memory in memories_of(
            scope.program,
            use.tensor,
            role[use.tensor],
            tuple(most if i == index else extent[i] for i in use.indices),
            room,
        )
    }
    return RowRanges(index, dimension, rows, most, tensors, places)


def _by_order(scope: Scope, lowered: LoweredRegion, index: str) -> str | None:
    """Why the region as a whole stands against it."""
    if lowered.order[:1] != (index,):
        return f"other indices stand outside of it in {lowered.graph.name}"
    if lowered.repeat is not None:
        return f"a scan repeats {lowered.graph.name}"
    if lowered.fused.dimension[index] in scope.block_sizes:
        return "its rows come in blocks"
    if scope.segmented:
        return "a cascade divides an index by its coordinates"
    if any(isinstance(instance.statement.rhs, Concat) for instance in lowered.fused.instances):
        return "a concatenation moves rows"
    return None


def _by_use(scope: Scope, lowered: LoweredRegion, index: str, use: StoredUse) -> str | None:
    """Why the use of a stored tensor stands against it."""
    name = use.tensor
    if index in use.stored[1:]:
        return f"'{use}' has it inside of another index"
    if index not in use.stored:
        return None if use.is_read else f"the result '{use}' does not have it outermost"
    if use.is_read and name not in {decl.name for decl in scope.program.inputs}:
        return f"'{name}' is computed by another region"
    if not use.is_read and name not in scope.divisible(lowered.graph):
        return f"other regions read '{name}'"
    stepped = {name for one, piece in scope.lowerable.slices.items() for name in (one, piece.tensor)}
    starts = (start for piece in scope.lowerable.slices.values() for start, _ in piece.starts)
    if name in stepped or name in starts:
        return f"a scan takes steps of '{name}'"
    if name in scope.lowerable.aliases or name in scope.lowerable.aliases.values():
        return f"'{name}' is read in another shape"
    levels = scope.program.tensors[name].format.levels
    if any(above for level in levels for above in level.scanner.extents.values()):
        return f"'{name}' stores its coordinates by the number of their row"
    return None


def _by_others(scope: Scope, lowered: LoweredRegion, tensors: Collection[str]) -> str | None:
    """Why what other regions read of tensors stands against it: all of it has to be by rows, with as many
    lanes."""
    asked = scope.lowerable.schedule
    own = lowered.order[0]
    for region in scope.program.regions:
        if region is lowered.region:
            continue
        for statement in region.statements:
            for access in statement.reads:
                if access.tensor not in tensors:
                    continue
                outermost = access.indices[scope.program.tensors[access.tensor].format.mode_order[0]]
                index = outermost.variable if isinstance(outermost, Name) else ""
                if index not in asked.ranged or asked.lanes.get(index) != asked.lanes.get(own):
                    return f"'{access}' in another region reads other rows of '{access.tensor}'"
    return None


def _by_node(graph: Graph, index: str, node: Node) -> str | None:
    """Why what a node does stands against it: what it gives for a row depends on other rows, or it has a row
    without its index."""
    known = levels(graph)
    taken = [known[graph.fanin[Endpoint(node.name, port.name)].source] for port in node.inputs]
    given = [known[Endpoint(node.name, port.name)] for port in node.outputs]
    is_inside = any(index in stream for stream in taken)
    if is_inside and not all(stream[:1] == (index,) for stream in given):
        return f"{node.name} takes all of its rows together"
    if node.index == index and (node.spec.carries or node.spec.moves or node.spec.completes):
        return f"what {node.name} gives for a row depends on others"
    return None
