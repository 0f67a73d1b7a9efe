"""Several graphs as the regions of one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.errors import InputError
from samhw.graph.ir import Channel, Endpoint, Graph, Memory, MemoryRole, TensorBinding

__all__ = ["merge"]


def merge(name: str, graphs: Sequence[Graph]) -> Graph:
    """The graph that runs others one after another: graph n becomes region n.

    Memories, tensors and extents of one name are one. A tensor that one graph writes and a later one reads
    becomes a buffer between them. Nodes are named `r<n>_<name>`. A single graph only gets the name.

    Raises:
        InputError: for graphs of different value types.
    """
    if len(graphs) == 1:
        return replace(graphs[0], name=name)
    if len({graph.value for graph in graphs}) > 1:
        raise InputError(f"The regions of {name} have different value types; give them one.")
    memories: dict[str, Memory] = {}
    tensors: dict[str, TensorBinding] = {}
    extents: dict[str, int] = {}
    roles = _roles(graphs)
    for graph in graphs:
        for memory in graph.memories:
            known = memories.get(memory.name, memory)
            capacity = max(memory.capacity, known.capacity)
            memories[memory.name] = replace(memory, role=roles[memory.tensor], capacity=capacity)
        for tensor in graph.tensors:
            tensors[tensor.name] = replace(tensor, role=roles[tensor.name])
        for index, extent in graph.extents.items():
            extents[index] = max(extent, extents.get(index, 0))
    return Graph(
        name=name,
        value=graphs[0].value,
        nodes=tuple(
            replace(node, name=_named(number, node.name), region=number)
            for number, graph in enumerate(graphs)
            for node in graph.nodes
        ),
        channels=tuple(
            _moved(channel, number) for number, graph in enumerate(graphs) for channel in graph.channels
        ),
        memories=tuple(memories.values()),
        tensors=tuple(tensors.values()),
        extents=extents,
    )


def _roles(graphs: Sequence[Graph]) -> Mapping[str, MemoryRole]:
    """The role of each tensor in the whole."""
    roles: dict[str, MemoryRole] = {}
    for graph in graphs:
        for tensor in graph.tensors:
            before = roles.get(tensor.name)
            written_before = before in (MemoryRole.OUTPUT, MemoryRole.BUFFER)
            buffer = written_before and tensor.role is MemoryRole.INPUT
            roles[tensor.name] = MemoryRole.BUFFER if buffer else before or tensor.role
    return roles


def _named(number: int, name: str) -> str:
    return f"r{number}_{name}"


def _moved(channel: Channel, number: int) -> Channel:
    source, sink = (Endpoint(_named(number, end.node), end.port) for end in (channel.source, channel.sink))
    return replace(channel, source=source, sink=sink)
