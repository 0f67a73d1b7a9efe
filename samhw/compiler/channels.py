"""Depths of channels (docs/compiler.md): enough for full rate, and for paths that part and meet again.

Where two paths of unequal latency meet, the tokens of the quicker one wait. Its channels get room for the
difference: the longest latency from the root to the channel's sink less the longest to its source (slack
matching).
"""

import networkx as nx

from samhw.graph import Arch, Graph

__all__ = ["size_channels"]

NODE_DELAY = {"scan_dense": "locate", "scan_compressed": "memory", "reduce_scalar": "step"}
"""Latency inside of a primitive before its outputs, as a field of `Arch`."""


def size_channels(graph: Graph, arch: Arch) -> Graph:
    """The graph with depths for every channel: latency + 1 runs at full rate, plus the slack of its path,
    plus `Arch.slack`."""
    paths: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    paths.add_nodes_from(n.name for n in graph.nodes)
    for channel in graph.channels:
        paths.add_edge(channel.source.node, channel.sink.node, latency=channel.latency)
    arrival: dict[str, int] = {}
    for name in nx.topological_sort(paths):
        node = graph.node[name]
        delay = getattr(arch, NODE_DELAY[node.kind]) if node.kind in NODE_DELAY else 0
        arrival[name] = delay + max(
            (arrival[u] + data["latency"] for u, _, data in paths.in_edges(name, data=True)), default=0
        )
    depths = {}
    for channel in graph.channels:
        node = graph.node[channel.sink.node]
        delay = getattr(arch, NODE_DELAY[node.kind]) if node.kind in NODE_DELAY else 0
        slack = arrival[channel.sink.node] - delay - arrival[channel.source.node] - channel.latency
        depths[channel.name] = channel.latency + 1 + slack + arch.slack
    return graph.with_depths(depths)
