"""About how long a graph runs, from the most that its memories hold: what choices between graphs go by.

Fibers are taken to be of equal length, streams that meet to have as many coordinates in common as they can,
and every node to take a token a cycle. So the busiest node counts, after what it has to wait for: the
latencies on its way, and for each reducer a fiber. Costs follow the size of the graph, and not that of data.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from samhw.graph import Arch, Endpoint, Graph, Levels, Node, levels
from samhw.graph.spec import StoredArray

__all__ = ["Expected", "estimate"]

Counts = tuple[float, ...]
"""Of a stream, how many coordinates each of its levels has, outermost first."""


@dataclass(frozen=True)
class Expected:
    """What is expected of a run."""

    cycles: float
    counts: Mapping[Endpoint, Counts]
    busy: Mapping[str, float]
    """The cycles in which a node takes or gives a token, by its name."""

    @property
    def tokens(self) -> Mapping[Endpoint, float]:
        """How many tokens each output gives."""
        return {source: _tokens(counts) for source, counts in self.counts.items()}

    def payloads(self, source: Endpoint) -> float:
        """How many payloads an output gives."""
        return _last(self.counts[source])


def estimate(graph: Graph, arch: Arch, extent: Mapping[str, int]) -> Expected:
    """The estimate for a graph.

    Args:
        graph: with producers before those that read them, and scanners that have their index.
        extent: the greatest extent of each index.
    """
    indices = levels(graph)
    counts: dict[Endpoint, Counts] = {}
    begin: dict[str, float] = {}
    busy: dict[str, float] = {}
    cycles = 0.0
    for node in graph.nodes:
        inputs = {port.name: graph.fanin[Endpoint(node.name, port.name)] for port in node.inputs}
        taken = {port: counts[channel.source] for port, channel in inputs.items()}
        start = max((begin[c.source.node] + c.latency for c in inputs.values()), default=0.0)
        for port in node.outputs:
            end = Endpoint(node.name, port.name)
            counts[end] = _given(graph, node, port.name, taken, indices[end], extent)
        given = [_tokens(counts[Endpoint(node.name, port.name)]) for port in node.outputs]
        busy[node.name] = max(*map(_tokens, taken.values()), *given, 0.0)
        if node.spec.completes:
            busy[node.name] += max(given)
        cycles = max(cycles, start + busy[node.name])
        kept = 0 if node.spec.completes else node.spec.kept(node.params)
        if kept is not None:
            (longest,) = [taken[p] for p in taken if len(taken[p]) == max(map(len, taken.values()))][:1]
            outer = longest[: len(longest) - 1 - kept]
            start += _tokens(longest) / max(1.0, _last(outer))
        begin[node.name] = start + node.spec.inside(node.params, arch, graph.value)
    return Expected(cycles, counts, busy)


def _given(
    graph: Graph,
    node: Node,
    port: str,
    taken: Mapping[str, Counts],
    around: Levels,
    extent: Mapping[str, int],
) -> Counts:
    """How much an output gives, from what comes in at each input."""
    followed = node.spec.follows(port, node.params)
    own = taken[followed] if followed else ()
    if node.spec.scans:
        return (*own, _last(own) * min(_average(graph, node, extent), extent[node.index]))
    kept = node.spec.kept(node.params)
    if kept is not None:
        outer = own[: len(own) - 1 - kept]
        inner = [
            min(_last(own), _last(outer) * prod(extent[i] for i in around[len(outer) : n + 1]))
            for n in range(len(outer), len(around))
        ]
        return (*outer, *inner)[: len(around)]
    if joins := node.spec.joins(node.params):
        sources = {graph.fanin[Endpoint(node.name, join.crd)].source: taken[join.crd] for join in joins}
        met = [_last(given) for given in sources.values()]
        most = _last(own[:-1]) * extent[around[-1]]
        return (*own[:-1], min(met) if node.spec.thins else min(sum(met), most))
    return own


def _average(graph: Graph, node: Node, extent: Mapping[str, int]) -> float:
    """How many coordinates a scanner gives for a reference, if fibers are full and of equal length."""
    stored = {node.spec.memories[param].array: graph.memory[name] for param, name in node.memories.items()}
    if not stored:
        given = node.spec.coordinates(node.params, 1, {}, graph.extents)
        assert given is not None
        return given
    coordinates = stored.get(StoredArray.CRD) or stored.get(StoredArray.OFF)
    if coordinates is None:
        return extent[node.index]
    if pos := stored.get(StoredArray.POS):
        return coordinates.capacity / max(1, pos.capacity - 1)
    cnt = stored.get(StoredArray.CNT)
    return coordinates.capacity / cnt.capacity if cnt else 1.0


def _last(counts: Counts) -> float:
    return counts[-1] if counts else 1.0


def _tokens(counts: Counts) -> float:
    """With a stop for each fiber."""
    return sum(counts) + 1
