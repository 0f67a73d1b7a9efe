"""Checks that a graph hangs together before anything is built from it."""

from collections import Counter
from collections.abc import Iterable

from samhw.errors import InputError
from samhw.graph.ir import Channel, Graph, MemoryRole, Node, once_per_graph
from samhw.graph.spec import Payload, Port, StoredArray, StreamKind

__all__ = ["check_unique", "validate"]


@once_per_graph
def validate(graph: Graph) -> None:
    """Raises `InputError` for the first thing that is wrong with a graph."""
    check_unique("node", (node.name for node in graph.nodes))
    check_unique("memory", (memory.name for memory in graph.memories))
    check_unique("tensor", (tensor.name for tensor in graph.tensors))
    for node in graph.nodes:
        _check_payloads(node)
    for channel in graph.channels:
        _check_channel(graph, channel)
    _check_inputs(graph)
    _check_params(graph)
    if not any(not node.inputs for node in graph.nodes):
        raise InputError(f"Graph {graph.name!r} has no root; add one, so that a run can start.")
    if not any(not node.outputs for node in graph.nodes):
        raise InputError(f"Graph {graph.name!r} has no writer; add one, so that a run can end.")
    _check_acyclic(graph)


def check_unique(what: str, names: Iterable[str]) -> None:
    """Raises `InputError` for a name that comes twice."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"{count} {what} entries are named {name!r}; give each its own name.")


def _check_payloads(node: Node) -> None:
    for port in (*node.inputs, *node.outputs):
        payload = port.stream.payload
        if payload.shape and payload.kind is not StreamKind.VAL:
            raise InputError(
                f"Port {node.name}.{port.name} carries {payload}, but only values come in blocks; give it "
                "the shape ()."
            )


def _check_channel(graph: Graph, channel: Channel) -> None:
    source = _port(graph, channel, channel.source.node, channel.source.port, output=True)
    sink = _port(graph, channel, channel.sink.node, channel.sink.port, output=False)
    # A coordinate is a reference into a dense level.
    kinds = (source.stream.kind, sink.stream.kind)
    fits = kinds[0] is kinds[1] or kinds == (StreamKind.CRD, StreamKind.REF)
    if not fits or source.stream.depth != sink.stream.depth:
        raise InputError(
            f"Channel {channel.name} joins a {source.stream.kind} stream of depth {source.stream.depth} "
            f"to an input for {sink.stream.kind} of depth {sink.stream.depth}; connect ports of one type."
        )
    if source.stream.kind is StreamKind.VAL:
        given = graph.given(graph.node[channel.source.node], channel.source.port)
        wanted = graph.taken(graph.node[channel.sink.node], channel.sink.port)
        if given != wanted:
            raise InputError(
                f"Channel {channel.name} carries {given} to an input for {wanted}; convert between them."
            )
    if channel.latency < 1:
        raise InputError(f"Channel {channel.name} has latency {channel.latency}; give at least 1.")
    if channel.depth < 1:
        raise InputError(f"Channel {channel.name} has depth {channel.depth}; give at least 1.")


def _port(graph: Graph, channel: Channel, node: str, port: str, *, output: bool) -> Port:
    if node not in graph.node:
        raise InputError(f"Channel {channel.name} ends at node {node!r}, which does not exist; name a node.")
    ports = graph.node[node].outputs if output else graph.node[node].inputs
    for candidate in ports:
        if candidate.name == port:
            return candidate
    which = "output" if output else "input"
    names = ", ".join(p.name for p in ports) or "none"
    raise InputError(f"Channel {channel.name} ends at {which} {port!r}; {node!r} has only: {names}.")


def _check_inputs(graph: Graph) -> None:
    fed = Counter(channel.sink for channel in graph.channels)
    for sink, count in fed.items():
        if count > 1:
            raise InputError(f"Input {sink} has {count} channels; give it exactly one.")
    for node in graph.nodes:
        for port in node.inputs:
            if (node.name, port.name) not in fed:
                raise InputError(f"Input {node.name}.{port.name} has no channel; connect it to an output.")


def _check_params(graph: Graph) -> None:
    writers: dict[str, Node] = {}
    own = {
        name
        for node in graph.nodes
        for param, name in node.memories.items()
        if node.spec.memories[param].written
    }
    for node in graph.nodes:
        for param, name in node.memories.items():
            use = node.spec.memories[param]
            if name not in graph.memory:
                raise InputError(f"Node {node.name!r} uses memory {name!r}, which the graph lacks; add it.")
            stored = graph.stored(graph.memory[name])
            if use.array is StoredArray.VALS and stored != (taken := _values(graph, node)):
                raise InputError(
                    f"Node {node.name!r} takes {taken}, but memory {name!r} holds {stored}; give them one "
                    "type."
                )
            # A region that is repeated may read what it writes (validate_design.py).
            is_own = use.written or name in own
            role = MemoryRole.OUTPUT if is_own else MemoryRole.INPUT
            if graph.memory[name].role is not role:
                raise InputError(f"Node {node.name!r} needs memory {name!r} to be {role}; give it that role.")
            if use.written and writers.setdefault(name, node) is not node:
                both = f"{writers[name].name!r} and {node.name!r}"
                raise InputError(f"Nodes {both} both write memory {name!r}; give each its own.")
        for extent in node.extents.values():
            if extent not in graph.extents:
                raise InputError(f"Node {node.name!r} uses extent {extent!r}, which the graph lacks; add it.")


def _values(graph: Graph, node: Node) -> Payload:
    """What a node reads of a memory of values, or writes to it."""
    payloads = (port.stream.payload for port in node.outputs or node.inputs)
    payload = next(payload for payload in payloads if payload.kind is StreamKind.VAL)
    return payload.of(graph.operand_type(node))


def _check_acyclic(graph: Graph) -> None:
    place = {node.name: n for n, node in enumerate(graph.nodes)}
    if all(place[c.source.node] < place[c.sink.node] for c in graph.channels):
        return  # Producers come first, as in every graph that was compiled.
    if graph.flow.is_acyclic:
        return
    cycle = graph.flow.cycle()
    path = " -> ".join(edge[0] for edge in cycle)
    raise InputError(f"The channels form a loop: {path} -> {cycle[0][0]}; remove one of them.")
