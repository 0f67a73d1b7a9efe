"""Which nodes of fabrics that run in turns are one in hardware (docs/compiler.md, "Fabrics")."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from samhw.graph.fabrics import form_of, own_form, pace_of, widest
from samhw.graph.ir import Channel, Endpoint, Graph, Node

if TYPE_CHECKING:
    from samhw.graph.design import Design

__all__ = ["SharedNode", "shared_nodes", "with_shared_nodes"]


@dataclass
class SharedNode:
    """A node in hardware, with the channels at its inputs, which serves fabrics that never run at one time.

    Attributes:
        users: by the number of a fabric, the name of its node. The first gives the hardware its name.
    """

    users: dict[int, str] = field(default_factory=dict)


def shared_nodes(design: "Design") -> tuple[SharedNode, ...]:
    """The nodes of which several are one in a design that shares them.

    Nodes that reach no memory may be, and that neither start nor end a region: after the last DONE they are
    in their first states. Each takes, of those like it that its fabric and those beside it do not have, the
    one with the most sources that are its own, since what comes from one place needs no multiplexer.
    """
    if not design.shares_nodes:
        return ()
    alike: dict[Hashable, list[_Shared]] = defaultdict(list)
    for fabric, (graph, group) in enumerate(zip(design.built, design.groups, strict=True)):
        if len(form_of(graph).names) < len(graph.nodes):
            continue  # A node that no writer needs may still have tokens when its region has ended.
        beside = frozenset[int]().union(*(design.beside[region] for region in group))
        places: dict[str, Hashable] = {}
        for name in form_of(graph).names:
            node = graph.node[name]
            places[name] = (fabric, name)
            if node.inputs and node.outputs and not node.memories:
                sources = [_source(graph, node, port.name, places) for port in node.inputs]
                others = alike[_likeness(graph, node)]
                shared = _nearest(others, fabric, beside, sources)
                shared.users[fabric] = name
                shared.regions.update(group)
                shared.sources.update(sources)
                places[name] = id(shared)
    return tuple(SharedNode(s.users) for own in alike.values() for s in own if len(s.users) > 1)


@dataclass
class _Shared(SharedNode):
    regions: set[int] = field(default_factory=set)
    sources: set[Hashable] = field(default_factory=set)
    """The outputs that its inputs come from, each with the input."""


def _source(graph: Graph, node: Node, port: str, places: Mapping[str, Hashable]) -> Hashable:
    source = graph.fanin[Endpoint(node.name, port)].source
    return port, places[source.node], source.port


def _nearest(
    others: list[_Shared], fabric: int, beside: frozenset[int], sources: Sequence[Hashable]
) -> _Shared:
    """The one that a node takes, or a new one."""
    free = [o for o in others if fabric not in o.users and beside.isdisjoint(o.regions)]
    if not free:
        others.append(_Shared())
        return others[-1]
    return max(free, key=lambda other: len(other.sources.intersection(sources)))


def _likeness(graph: Graph, node: Node) -> Hashable:
    """Equal for nodes that one in hardware can stand for, without a cycle more for any."""
    channels = (graph.fanout.get(Endpoint(node.name, port.name), ()) for port in node.outputs)
    latencies = tuple(frozenset(channel.latency for channel in own) for own in channels)
    return own_form(graph, node)._replace(depths=()), pace_of(node), latencies


def with_shared_nodes(design: "Design", graphs: Sequence[Graph]) -> list[Graph]:
    """Graphs of a design's regions, with channels as deep, and accumulators as wide, as the nodes that they
    share need them."""
    nodes: list[dict[str, Node]] = [{} for _ in graphs]
    channels: list[dict[Endpoint, int]] = [{} for _ in graphs]
    for shared in shared_nodes(design):
        own = [
            (region, name)
            for fabric, name in shared.users.items()
            for region, name in _in_regions(design, fabric, name)
        ]
        wide = widest([graphs[region].node[name] for region, name in own])
        for port in wide[0].inputs:
            ends = [(region, Endpoint(name, port.name)) for region, name in own]
            depth = max(graphs[region].fanin[end].depth for region, end in ends)
            for region, end in ends:
                channels[region][end] = depth
        for (region, name), node in zip(own, wide, strict=True):
            nodes[region][name] = node
    return [
        replace(
            graph,
            nodes=tuple(wider.get(node.name, node) for node in graph.nodes),
            channels=tuple(_deep(channel, depths) for channel in graph.channels),
        )
        for graph, wider, depths in zip(graphs, nodes, channels, strict=True)
    ]


def _in_regions(design: "Design", fabric: int, name: str) -> Iterator[tuple[int, str]]:
    """The node of each region of a fabric that the one of its first region stands for."""
    group = design.groups[fabric]
    place = [node.name for node in design.regions[group[0]].nodes].index(name)
    return ((region, design.regions[region].nodes[place].name) for region in group)


def _deep(channel: Channel, depths: Mapping[Endpoint, int]) -> Channel:
    depth = depths.get(channel.sink, channel.depth)
    return channel if depth == channel.depth else replace(channel, depth=depth)
