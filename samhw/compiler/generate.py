"""From the filled table to the graph (FuseFlow section 6.2): a cell becomes a node once it is asked for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw import primitives
from samhw.compiler.table import FusionTable, PlannedNode
from samhw.graph import Arch, Channel, Endpoint, Graph, Memory, Node, TensorBinding

__all__ = ["generate", "scanned_indices"]


def generate(
    name: str,
    table: FusionTable,
    value: str,
    arch: Arch,
    memories: Sequence[Memory],
    tensors: Sequence[TensorBinding],
    extents: Mapping[str, int],
) -> Graph:
    """Expands the writers of the table, and recursively what they read; producers come first in the graph.

    Channels get the latency of their source and the least depth that runs at full rate; `size_channels`
    deepens them.
    """
    notes: dict[PlannedNode, str] = {}
    for row, column, cell in table.cells():
        notes.setdefault(table.resolve(cell.source).node, f"{row}, {column}: {cell.label}")
    nodes: dict[PlannedNode, Node] = {}
    channels: list[Channel] = []

    def make(primitive: PlannedNode) -> Node:
        if primitive in nodes:
            return nodes[primitive]
        sources = {port: table.resolve(source) for port, source in primitive.inputs.items()}
        made = {port: make(source.node) for port, source in sources.items()}
        note = notes.get(primitive, "")
        node = primitives.make(primitive.kind, primitive.name, primitive.depth, note=note, **primitive.params)
        nodes[primitive] = node
        for port, source in sources.items():
            latency = primitives.latency(made[port], source.port, arch, value)
            channels.append(
                Channel(
                    Endpoint(made[port].name, source.port), Endpoint(node.name, port), latency, latency + 1
                )
            )
        return node

    for sink in table.sinks:
        make(sink)
    feeds = Counter(channel.source for channel in channels)
    channels = [
        replace(c, latency=c.latency + arch.fanout, depth=c.depth + arch.fanout) if feeds[c.source] > 1 else c
        for c in channels
    ]
    used = {v for node in nodes.values() for v in node.params.values() if isinstance(v, str)}
    return Graph(
        name=name,
        value=value,
        nodes=tuple(nodes.values()),
        channels=tuple(channels),
        memories=tuple(m for m in memories if m.name in used),
        tensors=tuple(tensors),
        extents=dict(extents),
    )


def scanned_indices(table: FusionTable) -> dict[str, str]:
    """The index of the coordinates that each scanner makes, by the node's name."""
    result: dict[str, str] = {}
    waiting = list(table.sinks)
    seen = set(waiting)
    while waiting:
        primitive = waiting.pop()
        if primitive.index:
            result[primitive.name] = primitive.index
        for source in primitive.inputs.values():
            producer = table.resolve(source).node
            if producer not in seen:
                seen.add(producer)
                waiting.append(producer)
    return result
