"""The work of a run: operations on values, and words that go between memories and the graph."""

from collections.abc import Mapping
from dataclasses import dataclass

from samhw.graph import Arch, Endpoint, Graph, MemoryRole, Node
from samhw.numerics import value_type
from samhw.sim.result import ChannelStats, Result

__all__ = ["Traffic", "operations", "traffic"]


@dataclass(frozen=True)
class Traffic:
    """What goes between one memory and the graph."""

    words: int
    """Words read, of an INPUT memory, or written, of an OUTPUT memory."""
    bytes: float
    """Their size at the width of a word of this memory; a word need not be whole bytes."""


def operations(graph: Graph, result: Result) -> dict[str, int]:
    """The operations on values that each alu and each reducer did, by name of the node.

    An alu does one for each value that it gives, a reducer one for each value that it takes in. On
    floating-point values these are the FLOPs of the run.
    """
    return {
        node.name: _sunk(graph, result, node, node.inputs[-1].name).payloads
        for node in graph.nodes
        if node.kind in ("alu", "reduce_scalar", "reduce_vector")
    }


def traffic(graph: Graph, arch: Arch, result: Result) -> dict[str, Traffic]:
    """The traffic of each memory, by name. A scanner reads two words of `pos` for each fiber.

    A word of `vals` has the width of its value type, any other one `Arch.index_bits`.
    """
    words: dict[str, int] = {}
    for node in graph.nodes:
        for memory, count in _read(graph, result, node).items():
            words[memory] = words.get(memory, 0) + count
    words |= {m.name: len(result.memories[m.name]) for m in graph.memories if m.role is MemoryRole.OUTPUT}
    widths = {
        m.name: value_type(graph.memory_type(m)).width if m.is_value else arch.index_bits
        for m in graph.memories
    }
    return {name: Traffic(count, count * widths[name] / 8) for name, count in words.items()}


def _read(graph: Graph, result: Result, node: Node) -> Mapping[str, int]:
    """The words that a node reads, by memory."""
    match node.kind:
        case "scan_compressed":
            fibers = _vals(_sunk(graph, result, node, "ref"))
            return {node.params["pos"]: 2 * fibers, node.params["crd"]: _coordinates(graph, result, node)}
        case "scan_singleton":
            return {node.params["crd"]: _coordinates(graph, result, node)}
        case "array":
            return {node.params["vals"]: _vals(_sunk(graph, result, node, "ref"))}
    return {}


def _sunk(graph: Graph, result: Result, node: Node, port: str) -> ChannelStats:
    return result.channels[graph.fanin[Endpoint(node.name, port)].name]


def _coordinates(graph: Graph, result: Result, node: Node) -> int:
    """The coordinates that a scanner gave. Its two outputs are in lockstep; one at least feeds something."""
    outputs = (Endpoint(node.name, port.name) for port in node.outputs)
    channels = [channel for output in outputs for channel in graph.fanout.get(output, ())]
    return max((_vals(result.channels[channel.name]) for channel in channels), default=0)


def _vals(stats: ChannelStats) -> int:
    return stats.payloads - stats.empties
