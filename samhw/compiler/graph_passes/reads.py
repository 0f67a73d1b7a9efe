"""What is read more than once at the same references, in the same order, is read once.

Attention of latents (`mla`) takes each as a key and again as a value, under two names of one dimension. Two
streams are equal if nodes of one kind, with equal parameters, make them of equal streams. References into a
dense level are equal too where a scanner makes them of all coordinates, and where they are located at
coordinates that a scanner of the same extent gives below as many references.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from samhw.compiler.graph_passes import Assembly
from samhw.compiler.graph_passes.concats import waiting_parts
from samhw.compiler.graph_passes.depths import reductions_awaited
from samhw.graph import Arch, Endpoint, Graph, Node, StreamKind, levels, may_be_empty, wired, with_indices

__all__ = ["reads"]


def reads(assembly: Assembly) -> Assembly:
    """The graph in which no two nodes read the same values, and nobody makes streams that are not read.

    Where a reader waits for several reductions of what it reads, one after the other, as in a layer norm,
    each reads for itself: one that is ahead would wait for the others. So it is where a part of a
    concatenation would wait as a whole for an earlier one that shares with it.
    """
    streams = _Streams(assembly.graph)
    alike: dict[Hashable, list[str]] = {}
    for node in assembly.graph.nodes:
        if _reads_values(node):
            alike.setdefault(streams.made(node), []).append(node.name)
    several = [names for names in alike.values() if len(names) > 1]
    graph = _with_shared(assembly.graph, several, assembly.arch)
    return assembly if graph is assembly.graph else replace(assembly, graph=graph)


def _with_shared(graph: Graph, alike: Sequence[Sequence[str]], arch: Arch) -> Graph:
    """The graph in which as many groups of readers share their reads as may, the first ones first.

    Where all of them together may, so may each. So they are tried together, and halves of them where that
    fails: most graphs are looked at once.
    """
    if not alike:
        return graph
    shared = _shared(graph, alike, arch)
    if not _waits(graph, shared, [kept for kept, *_ in alike]):
        return shared
    if len(alike) == 1:
        return graph
    half = len(alike) // 2
    return _with_shared(_with_shared(graph, alike[:half], arch), alike[half:], arch)


def _waits(graph: Graph, shared: Graph, kept: Sequence[str]) -> bool:
    """Whether what some nodes and those before them give in a graph with shared reads waits for more than it
    would without."""
    made = shared.before(kept)
    given = [c for c in shared.channels if c.source.node in made]
    # Of a wide graph, such as one with many lanes, this is a small part.
    awaited = reductions_awaited(shared, shared.before({c.sink.node for c in given}))
    if any(awaited[c.name] > 1 for c in given):
        return True
    before, after = (waiting_parts(each, levels(each)).keys() for each in (graph, shared))
    return not after <= before


def _shared(graph: Graph, alike: Sequence[Sequence[str]], arch: Arch) -> Graph:
    """The graph in which the first node of each group serves the readers of all, without what nobody reads
    any more."""
    instead = {other: kept for kept, *others in alike for other in others}
    ends = [
        (Endpoint(instead.get(c.source.node, c.source.node), c.source.port), c.sink)
        for c in graph.channels
        if c.sink.node not in instead
    ]
    nodes = {node.name: node for node in graph.nodes if node.name not in instead}
    while idle := {n.name for n in nodes.values() if n.outputs} - {source.node for source, _ in ends}:
        nodes = {name: node for name, node in nodes.items() if name not in idle}
        ends = [end for end in ends if end[1].node not in idle]
    channels = wired(nodes, ends, arch, graph.value)
    # What is read once has the indices of one of its readers.
    return with_indices(replace(graph, nodes=tuple(nodes.values()), channels=channels))


def _reads_values(node: Node) -> bool:
    kinds = {port.stream.kind for port in node.outputs}
    return bool(node.memories) and kinds == {StreamKind.VAL}


@dataclass
class _Streams:
    """What the streams of a graph are. Equal streams have equal keys."""

    graph: Graph
    _made: dict[str, Hashable] = field(default_factory=dict)
    _stream: dict[Endpoint, Hashable] = field(default_factory=dict)
    _fibers: dict[Endpoint, Hashable] = field(default_factory=dict)
    _numbers: dict[Hashable, int] = field(default_factory=dict)

    def made(self, node: Node) -> Hashable:
        """What a node makes: its kind, its parameters, and what it takes."""
        if node.name not in self._made:
            params = tuple(sorted((name, repr(value)) for name, value in node.params.items()))
            self._made[node.name] = self._number((node.kind, params, *map(self.stream, self._sources(node))))
        return self._made[node.name]

    def stream(self, end: Endpoint) -> Hashable:
        """All tokens of an output."""
        if end not in self._stream:
            node = self.graph.node[end.node]
            if all_of := self._all_of_dense(node, end.port):
                key: Hashable = all_of
            else:
                key = (end.port, self.made(node))
            self._stream[end] = self._number(key)
        return self._stream[end]

    def fibers(self, end: Endpoint) -> Hashable:
        """How many payloads an output gives, and where its fibers end."""
        if end not in self._fibers:
            node = self.graph.node[end.node]
            followed = node.spec.follows(end.port, node.params)
            keeps = not (
                node.spec.thins
                or node.spec.joins(node.params)
                or node.spec.reduction(node.params)
                or node.spec.distribution(node.params)
            )
            key: Hashable = ("tokens", self.stream(end))
            if followed is not None and keeps:
                inside = self.fibers(self._source(node, followed))
                if not node.spec.scans:
                    key = inside
                elif self._is_all(node):
                    key = ("dense", inside, tuple(node.extents.values()))
            self._fibers[end] = key if isinstance(key, int) else self._number(key)
        return self._fibers[end]

    def _all_of_dense(self, node: Node, port: str) -> Hashable:
        """References to all of a dense level below some references, or its coordinates; None for others."""
        if not self._is_all(node):
            return None
        extent = tuple(node.extents.values())
        held, *inner = self._sources(node)
        dense = self._number(("dense", self.fibers(held), extent))
        if node.spec.scans:
            is_reference = node.output(port).stream.kind is StreamKind.REF
            return ("references", self.stream(held), extent) if is_reference else ("coordinates", dense)
        (crd,) = inner
        if self.stream(crd) == self._number(("coordinates", dense)):
            return ("references", self.stream(held), extent)
        return None

    def _is_all(self, node: Node) -> bool:
        """Whether a node is about all coordinates of a dense level, below each of its references: below one
        that is EMPTY there are none."""
        if not node.spec.locates or node.memories:
            return False
        return self._sources(node)[0] not in may_be_empty(self.graph)

    def _sources(self, node: Node) -> list[Endpoint]:
        return [self._source(node, port.name) for port in node.inputs]

    def _source(self, node: Node, port: str) -> Endpoint:
        return self.graph.fanin[Endpoint(node.name, port)].source

    def _number(self, key: Hashable) -> int:
        """A number for a key, so that keys of keys stay small."""
        return self._numbers.setdefault(key, len(self._numbers))
