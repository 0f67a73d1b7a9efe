"""The work of a run: operations on values, words that go between memories and the graph, and how evenly lanes
were loaded."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from samhw.graph import Arch, Endpoint, Graph, MemoryRole, Node
from samhw.graph.spec import Each
from samhw.sim.result import ChannelStats, NodeStats, Result

__all__ = ["LaneLoads", "Traffic", "lane_loads", "operations", "traffic"]


@dataclass(frozen=True)
class Traffic:
    """What goes between one memory and the graph."""

    words: int
    """Words read, of an INPUT memory, or written, of an OUTPUT memory."""
    bytes: float
    """Their size at the width of a word of this memory; a word need not be whole bytes."""


def operations(graph: Graph, result: Result) -> dict[str, int]:
    """The operations on values that each alu and each reducer did, by name of the node.

    An alu does one for each value that it gives, a reducer one for each value that it takes in, and a product
    of blocks its multiplications and additions. On floating-point values these are the FLOPs of the run, and
    entries that copies sort.
    """
    work = {node.name: node.spec.work(node.params) for node in graph.nodes}
    return {name: w.each * _taken(graph, result, name, w.port).payloads for name, w in work.items() if w}


def traffic(graph: Graph, arch: Arch, result: Result) -> dict[str, Traffic]:
    """The traffic of each memory, by name. A scanner reads two words of `pos` for each fiber.

    A word of `vals` has the width of its value type, any other one `Arch.index_bits`.
    """
    stored = {memory.name: graph.stored(memory) for memory in graph.memories}
    words: dict[str, int] = {}
    for node in graph.nodes:
        for memory, places in _read(graph, result, node).items():
            words[memory] = words.get(memory, 0) + places * stored[memory].words
    words |= {m.name: len(result.memories[m.name]) for m in graph.memories if m.role is MemoryRole.OUTPUT}
    bits = {name: payload.width(arch.index_bits) // payload.words for name, payload in stored.items()}
    return {name: Traffic(count, count * bits[name] / 8) for name, count in words.items()}


def _read(graph: Graph, result: Result, node: Node) -> Mapping[str, int]:
    """The places that a node reads, by memory."""
    times: dict[Each | None, int] = {Each.HELD: 0}
    if node.inputs:
        times[Each.TAKEN] = _vals(_taken(graph, result, node.name, node.inputs[0].name))
    # One output at least feeds something.
    times[Each.GIVEN] = max((_vals(stats) for stats in _given(graph, result, node)), default=0)
    uses = node.spec.memories
    return {
        name: uses[param].reads * times[uses[param].each]
        for param, name in node.memories.items()
        if not uses[param].written
    }


def _taken(graph: Graph, result: Result, node: str, port: str) -> ChannelStats:
    """The traffic of the channel into an input."""
    return result.channels[graph.fanin[Endpoint(node, port)].name]


def _given(graph: Graph, result: Result, node: Node) -> Iterator[ChannelStats]:
    """The traffic of each channel that a node feeds."""
    for port in node.outputs:
        for channel in graph.fanout.get(Endpoint(node.name, port.name), ()):
            yield result.channels[channel.name]


def _vals(stats: ChannelStats) -> int:
    return stats.payloads - stats.empties


@dataclass(frozen=True)
class LaneLoads:
    """The firings of each copy of a node, in the order of the graph."""

    node: str
    firings: tuple[int, ...]

    @property
    def even(self) -> float:
        """What each copy would fire if all did the same."""
        return sum(self.firings) / len(self.firings)

    @property
    def balance(self) -> float:
        """Even firings over those of the busiest copy: 1 if lanes do the same."""
        return self.even / max(self.firings) if any(self.firings) else 1.0

    def __str__(self) -> str:
        return (
            f"{len(self.firings)} of {self.node}: {min(self.firings):,} to {max(self.firings):,} firings; "
            f"evenly distributed {self.even:,.0f} each ({self.balance:.0%} balanced)"
        )


def lane_loads(graph: Graph, nodes: Mapping[str, NodeStats]) -> LaneLoads | None:
    """The loads of the node whose copies fire most often in all; None for a graph without lanes."""
    copies: dict[str, list[int]] = defaultdict(list)
    for node in graph.nodes:
        if node.copy_of:
            copies[node.copy_of].append(nodes[node.name].firings)
    if not copies:
        return None
    busiest = max(copies, key=lambda name: sum(copies[name]))
    return LaneLoads(busiest, tuple(copies[busiest]))
