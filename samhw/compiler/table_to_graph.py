"""From the filled table to the graph (FuseFlow section 6.2): a cell becomes a node once it is asked for."""

from collections.abc import Iterator, Mapping, Sequence

from samhw.compiler.fusion_table import FusionTable, PlannedNode
from samhw.errors import StreamError
from samhw.graph import Arch, Endpoint, Graph, Memory, Node, TensorBinding, make, memory_name, wired
from samhw.graph.numerics import ValueType
from samhw.graph.spec import StoredArray, spec_of

__all__ = ["generate"]


def generate(
    name: str,
    table: FusionTable,
    value: ValueType,
    arch: Arch,
    memories: Sequence[Memory],
    tensors: Sequence[TensorBinding],
    extents: Mapping[str, int],
) -> Graph:
    """Expands the writers of the table, and recursively what they read; producers come first in the graph.

    Scanners and joiners get the index of their coordinates, from which `with_indices` gives the others
    theirs. Channels get the latency of their source and the least depth that runs at full rate;
    passes of graphs deepen them.

    Raises:
        StreamError: where a stream would be made of itself.
    """
    notes: dict[PlannedNode, str] = {}
    for row, column, cell in table.cells():
        notes.setdefault(table.resolve(cell.source).node, f"{row}, {column}: {cell.label}")
    lies_in = {own: other for tensor in tensors for own, other in _lies_in(tensor)}
    nodes: dict[PlannedNode, Node] = {}
    ends: list[tuple[Endpoint, Endpoint]] = []

    expanding: set[PlannedNode] = set()

    def expand(planned: PlannedNode) -> Node:
        if planned in nodes:
            return nodes[planned]
        if planned in expanding:
            raise StreamError(f"what comes out of {planned.name} would have to come in there")
        expanding.add(planned)
        sources = {port: table.resolve(source) for port, source in planned.inputs.items()}
        made = {port: expand(source.node) for port, source in sources.items()}
        # What reads an alias reads the memory that it lies in.
        memories = spec_of(planned.kind).memories
        given = {name: str(planned.params[name]) for name in memories if name in planned.params}
        lies = {name: lies_in[memory] for name, memory in given.items() if memory in lies_in}
        node = nodes[planned] = make(
            planned.kind,
            planned.name,
            planned.depth,
            note=notes.get(planned, ""),
            index=planned.index,
            **{**planned.params, **lies},
        )
        for port, source in sources.items():
            ends.append((Endpoint(made[port].name, source.port), Endpoint(node.name, port)))
        return node

    for sink in table.sinks:
        expand(sink)
    used = {memory for node in nodes.values() for memory in node.memories.values()}
    return Graph(
        name=name,
        value=value,
        nodes=tuple(nodes.values()),
        channels=wired({node.name: node for node in nodes.values()}, ends, arch, value),
        memories=tuple(m for m in memories if m.name in used),
        tensors=tuple(tensors),
        extents=dict(extents),
    )


def _lies_in(tensor: TensorBinding) -> Iterator[tuple[str, str]]:
    """The memories of a tensor, each with the one in which it lies if it is an alias. The levels of a step
    are those of the whole tensor without the outermost one."""
    yield memory_name(tensor.name, StoredArray.VALS), memory_name(tensor.stored, StoredArray.VALS)
    if tensor.is_step:
        for level in range(len(tensor.indices)):
            for array in set(StoredArray) - {StoredArray.VALS}:
                whole = memory_name(tensor.stored, f"{array}{level + 1}")
                yield memory_name(tensor.name, f"{array}{level}"), whole
