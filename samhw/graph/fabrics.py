"""Fabrics: what is built of a design. Equal regions share one (docs/timing.md, "Fabrics").

The regions of a design are bound: their nodes name the memories, the indices and the repeats of their own
runs. Of regions that share a fabric, nodes and channels correspond place by place, so that a binding is read
off the graphs.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import md5
from typing import Any, NamedTuple

from samhw.graph.ir import Channel, Endpoint, Graph, Memory, Node, once_per_graph
from samhw.graph.numerics import ValueType
from samhw.graph.spec import Spec, StreamKind
from samhw.graph.spec.params import MemoryUse, Role

__all__ = [
    "Form",
    "OwnForm",
    "alike",
    "are_alike",
    "built_graph",
    "comes_to_rest",
    "difference",
    "equal_regions",
    "form_of",
    "immediates_of",
    "keep_form",
    "own_form",
    "pace_of",
    "widest",
    "with_parts",
]

_BOUND = (Role.EXTENT, Role.REPEAT, Role.WIDTHS)
"""Roles of parameters that a binding has, or of which a fabric takes the greatest."""
_TYPES = (Role.OPERAND, Role.RESULT)
"""Those of types, which are compared as what they mean."""


class Form(NamedTuple):
    """A graph up to what fabrics have for all of their regions.

    Attributes:
        nodes: for each node, those that feed it first, what is compared of it.
        names: the names of these nodes.
    """

    nodes: tuple[Hashable, ...]
    names: tuple[str, ...]


def form_of(graph: Graph) -> Form:
    """The form of a graph, as `_form` says it, or as it was kept."""
    known: Form | None = vars(graph).get("form")
    return _form(graph) if known is None else known


def comes_to_rest(graph: Graph) -> bool:
    """Whether no node has tokens left after the last DONE: one that no writer needs may have some."""
    return len(form_of(graph).names) == len(graph.nodes)


def keep_form(graph: Graph, form: Form) -> None:
    """Keeps what is known to be the form of a graph, which takes its time to be found."""
    vars(graph)["form"] = form


@once_per_graph
def _form(graph: Graph) -> Form:
    """The form of a graph: equal for graphs that may share a fabric. It takes one walk from the writers.

    Graphs whose writers cannot be told from each other may differ in their forms and be equal all the same,
    as writers then stand in the order of the graph. What no writer needs is left out of the form, which then
    has fewer nodes than the graph.
    """
    digests = _digests(graph)
    places = {node.name: place for place, node in enumerate(graph.nodes)}
    writers = sorted(graph.writers(), key=lambda node: (digests[node.name], places[node.name]))
    numbers: dict[str, int] = {}
    for writer in writers:
        _number(graph, writer.name, numbers)
    memories, tensors = _Numbered(), _Numbered()
    stored = _stored(graph)
    rows = []
    for name in numbers:
        node = graph.node[name]
        feeds = []
        for port in node.inputs:
            channel = graph.fanin[Endpoint(name, port.name)]
            feeds.append((port.name, numbers[channel.source.node], channel.source.port, channel.latency))
        uses = []
        for param, memory in node.memories.items():
            tensor = graph.memory[memory].tensor
            # A tensor met for the first time brings along what is stored of it.
            new = stored[tensor] if tensor not in tensors else ()
            array = stored[tensor].index(_array(graph, graph.memory[memory]))
            uses.append((param, memories[memory], tensors[tensor], array, new))
        rows.append((own_form(graph, node), tuple(feeds), tuple(uses)))
    return Form(tuple(rows), tuple(numbers))


class _Numbered(dict[str, int]):
    """Names with numbers in the order in which they are met."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def _number(graph: Graph, writer: str, numbers: dict[str, int]) -> None:
    """Numbers a node after all that it needs, by its inputs in their order."""
    stack = [(writer, False)]
    while stack:
        name, is_fed = stack.pop()
        if name in numbers:
            continue
        if is_fed:
            numbers[name] = len(numbers)
            continue
        stack.append((name, True))
        heads = (graph.fanin[Endpoint(name, port.name)].source.node for port in graph.node[name].inputs)
        stack += [(head, False) for head in reversed([*heads])]


def _digests(graph: Graph) -> dict[str, str]:
    """Of each node what it computes of what, by which writers are told from each other."""
    digests: dict[str, str] = {}
    for node in graph.nodes:
        sources = [graph.fanin[Endpoint(node.name, port.name)].source for port in node.inputs]
        fed = [(source.port, digests[source.node]) for source in sources]
        text = repr((own_form(graph, node), fed))
        digests[node.name] = md5(text.encode(), usedforsecurity=False).hexdigest()
    return digests


class OwnForm(NamedTuple):
    """What is compared of a node by itself."""

    kind: str
    params: tuple[tuple[str, Hashable], ...]
    ports: tuple[tuple[str, StreamKind, tuple[int, ...]], ...]
    """Names, kinds of streams, and shapes of their values;"""
    depths: tuple[int, ...]
    """and how many levels the streams have, which no hardware is made for."""
    types: tuple[str, str]


def own_form(graph: Graph, node: Node) -> OwnForm:
    """That of a node of a graph."""
    params: list[tuple[str, Hashable]] = []
    for name, given in node.params.items():
        role = node.spec.params[name].role
        if role is Role.IMMEDIATES:
            params.append((name, tuple(sorted(given))))
        elif role in _BOUND or isinstance(role, MemoryUse):
            params.append((name, ()))
        elif role not in _TYPES:
            params.append((name, _frozen(given)))
    ports = (*node.inputs, *node.outputs)
    return OwnForm(
        node.kind,
        tuple(sorted(params)),
        tuple((port.name, port.stream.kind, port.stream.payload.shape) for port in ports),
        tuple(port.stream.depth for port in ports),
        (graph.operand_type(node).name, graph.result_type(node).name),
    )


def _frozen(given: Any) -> Hashable:
    if isinstance(given, Mapping):
        return tuple(sorted((name, _frozen(part)) for name, part in given.items()))
    if isinstance(given, list | tuple):
        return tuple(map(_frozen, given))
    return given.name if isinstance(given, ValueType) else given


def _stored(graph: Graph) -> dict[str, tuple[Hashable, ...]]:
    """The arrays of each tensor, up to their sizes."""
    found: dict[str, list[Hashable]] = defaultdict(list)
    for memory in graph.memories:
        found[memory.tensor].append(_array(graph, memory))
    return {tensor: tuple(sorted(arrays, key=str)) for tensor, arrays in found.items()}


def _array(graph: Graph, memory: Memory) -> Hashable:
    return memory.array, memory.shard or 0, str(graph.stored(memory))


def equal_regions(graphs: Sequence[Graph]) -> tuple[tuple[int, ...], ...]:
    """The numbers of graphs that may share a fabric, where several may: in ascending order, and by the first
    of each."""
    kinds: dict[Hashable, list[int]] = defaultdict(list)
    for number, graph in enumerate(graphs):
        kinds[tuple(sorted(node.kind for node in graph.nodes))].append(number)
    found: dict[Hashable, list[int]] = defaultdict(list)
    # Most regions have kinds of nodes that no other one has, and need no form.
    for number in (number for numbers in kinds.values() if len(numbers) > 1 for number in numbers):
        form = form_of(graphs[number])
        if comes_to_rest(graphs[number]):
            found[form.nodes].append(number)
    return tuple(sorted(tuple(group) for group in found.values() if len(group) > 1))


def difference(first: Graph, other: Graph) -> str:
    """Why two graphs may not share a fabric, in a few words; empty if they may."""
    forms = form_of(first), form_of(other)
    if not (comes_to_rest(first) and comes_to_rest(other)):
        return "one has nodes whose results nobody stores"
    if len(first.nodes) != len(other.nodes):
        return f"one has {len(first.nodes)} nodes and the other {len(other.nodes)}"
    for ours, name, theirs, other_name in zip(*forms[0], *forms[1], strict=True):
        if ours != theirs:
            return f"{name} of the one is not {other_name} of the other"
    return ""


def alike(graphs: Sequence[Graph]) -> list[Graph]:
    """Graphs that share a fabric, of which nodes and channels correspond place by place, with the depths and
    the widths of the fabric: the greatest of all.

    Args:
        graphs: with equal forms.
    """
    first = graphs[0]
    forms = [form_of(graph) for graph in graphs]
    own = dict(zip(forms[0].names, range(len(first.nodes)), strict=True))
    order = [own[node.name] for node in first.nodes]
    ordered = [[graph.node[form.names[k]] for k in order] for graph, form in zip(graphs, forms, strict=True)]
    nodes = [widest(places) for places in zip(*ordered, strict=True)]
    channels = [_deepest(places) for places in zip(*_channels(graphs, ordered), strict=True)]
    return [
        with_parts(graph, tuple(n[k] for n in nodes), tuple(c[k] for c in channels))
        for k, graph in enumerate(graphs)
    ]


def with_parts(graph: Graph, nodes: tuple[Node, ...], channels: tuple[Channel, ...]) -> Graph:
    """A graph with other nodes and channels; itself where it has these."""
    is_same = graph.nodes == nodes and graph.channels == channels
    return graph if is_same else replace(graph, nodes=nodes, channels=channels)


def are_alike(graphs: Sequence[Graph]) -> bool:
    """Whether graphs correspond as `alike` gives them."""
    first, *others = (form_of(graph) for graph in graphs)
    if any(form.nodes != first.nodes for form in others):
        return False
    made = zip(graphs, alike(graphs), strict=True)
    return all(graph.nodes == found.nodes and graph.channels == found.channels for graph, found in made)


def _channels(graphs: Sequence[Graph], ordered: Sequence[Sequence[Node]]) -> list[list[Channel]]:
    """The channels of graphs in the order of the first one's."""
    places = {node.name: place for place, node in enumerate(ordered[0])}
    sinks = [(places[channel.sink.node], channel.sink.port) for channel in graphs[0].channels]
    return [
        [graph.fanin[Endpoint(nodes[place].name, port)] for place, port in sinks]
        for graph, nodes in zip(graphs, ordered, strict=True)
    ]


def widest(nodes: Sequence[Node]) -> list[Node]:
    """Corresponding nodes with the greatest widths of all."""
    names = [name for name in _of_widths(nodes[0].spec) if name in nodes[0].params]
    if not names:
        return [*nodes]
    widths = {name: [*map(max, zip(*(node.params[name] for node in nodes), strict=True))] for name in names}
    return [replace(node, params={**node.params, **widths}) for node in nodes]


@cache
def _of_widths(spec: Spec) -> tuple[str, ...]:
    """The parameters of a primitive that are widths of accumulators."""
    return tuple(name for name, param in spec.params.items() if param.role is Role.WIDTHS)


def _deepest(channels: Sequence[Channel]) -> list[Channel]:
    depth = max(channel.depth for channel in channels)
    return [channel if channel.depth == depth else replace(channel, depth=depth) for channel in channels]


def built_graph(graphs: Sequence[Graph]) -> Graph:
    """The graph of a fabric: the first of its regions, with memories and extents that are as large as those
    that any of them has there."""
    first, *others = graphs
    if not others:
        return first
    extents = dict(first.extents)
    capacities = {memory.name: memory.capacity for memory in first.memories}
    for graph in others:
        for ours, theirs in zip(first.nodes, graph.nodes, strict=True):
            for param, index in ours.extents.items():
                extents[index] = max(extents[index], graph.extents[theirs.extents[param]])
            for name, other in _arrays(first, ours, graph, theirs):
                capacities[name] = max(capacities[name], graph.memory[other].capacity)
    memories = (replace(memory, capacity=capacities[memory.name]) for memory in first.memories)
    return replace(first, memories=tuple(memories), extents=extents)


def _arrays(first: Graph, ours: Node, graph: Graph, theirs: Node) -> Iterable[tuple[str, str]]:
    """The arrays of the tensors that corresponding nodes use, whether or not a node uses each."""
    for param, name in ours.memories.items():
        own, other = first.memory[name].tensor, graph.memory[theirs.memories[param]].tensor
        yield from zip(_of_tensor(first, own), _of_tensor(graph, other), strict=True)


def _of_tensor(graph: Graph, tensor: str) -> list[str]:
    arrays = [memory for memory in graph.memories if memory.tensor == tensor]
    return [memory.name for memory in sorted(arrays, key=lambda memory: str(_array(graph, memory)))]


def pace_of(node: Node) -> Hashable:
    """What of the widths of accumulators counts in cycles (docs/primitives.md, `reduce_vector`): with one
    coordinate the bitmaps of five bits each; with several, where their bits meet in a bitmap."""
    widths = [tuple(node.params[name]) for name in _of_widths(node.spec) if name in node.params]
    return tuple(own if len(own) > 1 else max(1, -(-own[0] // 5)) for own in widths)


def immediates_of(node: Node) -> Mapping[str, float]:
    """The numbers that a node has in the place of streams, by operand."""
    for name, param in node.spec.params.items():
        if param.role is Role.IMMEDIATES and name in node.params:
            immediates: Mapping[str, float] = node.params[name]
            return immediates
    return {}
