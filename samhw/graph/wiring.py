"""The channels of a graph in the making."""

from collections import Counter
from collections.abc import Mapping, Sequence

from samhw.graph.ir import Channel, Endpoint, Node
from samhw.graph.nodes import latency
from samhw.graph.numerics import ValueType
from samhw.graph.spec import Arch

__all__ = ["wired"]


def wired(
    nodes: Mapping[str, Node], ends: Sequence[tuple[Endpoint, Endpoint]], arch: Arch, value: ValueType
) -> tuple[Channel, ...]:
    """Channels between outputs and inputs, with the latency of their source and the least depth that runs at
    full rate."""
    feeds = Counter(source for source, _ in ends)
    channels = []
    for source, sink in ends:
        cycles = latency(nodes[source.node], source.port, arch, value)
        cycles += arch.fanout if feeds[source] > 1 else 0
        channels.append(Channel(source, sink, cycles, cycles + 1))
    return tuple(channels)
