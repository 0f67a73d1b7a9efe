"""Ranges of rows: a whole graph for each lane of its outermost index, with scanners and writers of its own.

A lane works as on tensors that have its rows alone, which count from 0 there. So nothing joins the lanes, and
each is as the graph would be without lanes: the other passes have worked on one of them.
"""

from dataclasses import replace

from samhw.compiler.graph_passes import Assembly, RowRanges
from samhw.graph import Channel, Endpoint, Graph, Memory, Node, memory_name
from samhw.names import Names

__all__ = ["ranges"]


def ranges(assembly: Assembly) -> Assembly:
    """The graph once for each lane that has a range of rows; what does not go along the rows stays alone."""
    asked, graph = assembly.ranges, assembly.graph
    if asked is None:
        return assembly
    names = Names(graph.node)
    inside = _inside(graph, asked.index)
    numbers = range(len(asked.rows))
    lanes = [{name: names.fresh(f"{name}_{asked.index}{lane}") for name in inside} for lane in numbers]
    nodes = [node for node in graph.nodes if node.name not in inside]
    channels = [channel for channel in graph.channels if channel.source.node not in inside]
    reasons = {name: why for name, why in assembly.reasons.items() if name in {c.name for c in channels}}
    for lane, named in enumerate(lanes):
        nodes += [_copy(node, asked, lane, named[node.name]) for node in graph.nodes if node.name in inside]
        for channel in graph.channels:
            if channel.source.node in inside:
                channels.append(copy := _between(channel, named))
                if channel.name in assembly.reasons:
                    reasons[copy.name] = assembly.reasons[channel.name]
    made = replace(
        graph,
        nodes=tuple(nodes),
        channels=tuple(channels),
        memories=tuple(own for memory in graph.memories for own in _banks(memory, asked)),
        tensors=tuple(
            replace(t, shards=len(asked.rows), rows=asked.rows) if t.name in asked.tensors else t
            for t in graph.tensors
        ),
        extents={**graph.extents, **dict.fromkeys(asked.rows, asked.most)},
    )
    return replace(assembly, graph=made, reasons=reasons)


def _inside(graph: Graph, index: str) -> dict[str, None]:
    """The nodes that lanes have for themselves, in the graph's order: those of the rows, and all that is
    joined with them."""
    found = {node.name for node in graph.nodes if node.index == index}
    while more := (graph.before(found) | graph.behind(found)) - found:
        found |= more
    return {node.name: None for node in graph.nodes if node.name in found}


def _copy(node: Node, asked: RowRanges, lane: int, name: str) -> Node:
    """A lane's copy of a node."""
    params = dict(node.params)
    for param, memory in node.memories.items():
        tensor, _, array = memory.partition(".")
        if tensor in asked.tensors:
            params[param] = memory_name(tensor, array, lane)
    if node.index == asked.index:
        own = {param for param, extent in node.extents.items() if extent == asked.dimension}
        params |= dict.fromkeys(own, asked.rows[lane])
    return replace(
        node,
        name=name,
        params=params,
        copy_of=node.copy_of or node.name,
        lane=((asked.index, lane), *node.lane),
    )


def _between(channel: Channel, named: dict[str, str]) -> Channel:
    """A lane's copy of a channel."""
    source, sink = (Endpoint(named[end.node], end.port) for end in (channel.source, channel.sink))
    return Channel(source, sink, channel.latency, channel.depth)


def _banks(memory: Memory, asked: RowRanges) -> list[Memory]:
    """A memory for each lane that has a range of it; itself where all lanes read it."""
    if memory.tensor not in asked.tensors:
        return [memory]
    return [
        replace(
            memory,
            name=memory_name(memory.tensor, memory.array, lane),
            shard=lane,
            capacity=asked.places[memory.name],
        )
        for lane in range(len(asked.rows))
    ]
