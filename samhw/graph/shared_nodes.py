"""Which nodes of fabrics that run in turns are one in hardware (docs/compiler.md, "Fabrics")."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from samhw.graph.design import Design, Users
from samhw.graph.fabrics import comes_to_rest, form_of, own_form, pace_of, widest, with_parts
from samhw.graph.ir import Channel, Endpoint, Graph, Node
from samhw.words import and_more

__all__ = ["Key", "nodes_in_common", "regions_of", "users_by_first", "with_shared_nodes", "wrong_nodes"]

Key = tuple[int, str]
"""A node: the number of its fabric, and its name in that."""


def nodes_in_common(design: Design, off_chip: Collection[str] = ()) -> tuple[Users, ...]:
    """The nodes of a design of which several can be one, without a cycle more for any.

    After the last DONE of a region its nodes are in their first states. So those of fabrics that never run at
    one time may be one, but for roots, whose start is that of a region. Each takes, of those like it that its
    fabric and those beside it do not have, the one with the most sources and memories that are its own, since
    what comes from one place needs no multiplexer.

    Args:
        off_chip: the memories that do not lie on the chip.
    """
    alike: dict[Hashable, list[_Shared]] = defaultdict(list)
    for fabric, (graph, group) in enumerate(zip(design.built, design.groups, strict=True)):
        if not comes_to_rest(graph):
            continue
        beside = design.beside_any(group)
        places: dict[str, Hashable] = {}
        for name in form_of(graph).names:
            node = graph.node[name]
            places[name] = (fabric, name)
            if _may_be_shared(graph, node):
                sources = _sources(graph, node, places)
                others = alike[_likeness(graph, node, off_chip)]
                shared = _nearest(others, fabric, beside, sources)
                shared.users[fabric] = name
                shared.regions.update(group)
                shared.sources.update(sources)
                places[name] = id(shared)
    return tuple(shared.users for own in alike.values() for shared in own if len(shared.users) > 1)


@dataclass
class _Shared:
    users: dict[int, str] = field(default_factory=dict)
    regions: set[int] = field(default_factory=set)
    sources: set[Hashable] = field(default_factory=set)
    """The outputs that its inputs come from, each with the input, and its memories."""


def _may_be_shared(graph: Graph, node: Node) -> bool:
    """It has inputs, and none of its memories lies in banks, which serve the ports of one fabric."""
    return bool(node.inputs) and not any(graph.memory[name].banks for name in node.memories.values())


def _sources(graph: Graph, node: Node, places: Mapping[str, Hashable]) -> list[Hashable]:
    ends = ((port.name, graph.fanin[Endpoint(node.name, port.name)].source) for port in node.inputs)
    return [*((port, places[end.node], end.port) for port, end in ends), *node.memories.items()]


def _nearest(
    others: list[_Shared], fabric: int, beside: frozenset[int], sources: Sequence[Hashable]
) -> _Shared:
    """The one that a node takes, or a new one."""
    free = [o for o in others if fabric not in o.users and beside.isdisjoint(o.regions)]
    if not free:
        others.append(_Shared())
        return others[-1]
    return max(free, key=lambda other: len(other.sources.intersection(sources)))


def _likeness(graph: Graph, node: Node, off_chip: Collection[str]) -> Hashable:
    """Equal for nodes that one in hardware can stand for, without a cycle more for any."""
    channels = (graph.fanout.get(Endpoint(node.name, port.name), ()) for port in node.outputs)
    latencies = tuple(frozenset(channel.latency for channel in own) for own in channels)
    words = tuple(
        (param, str(graph.stored(graph.memory[name])), name in off_chip)
        for param, name in node.memories.items()
    )
    return own_form(graph, node)._replace(depths=()), pace_of(node), latencies, words


def wrong_nodes(design: Design, off_chip: Collection[str] = ()) -> str:
    """Why the nodes that a design has in common cannot be, in a few words; empty if they can.

    Args:
        off_chip: as of `nodes_in_common`.
    """
    taken = [key for users in design.shared_nodes for key in users.items()]
    if len({*taken}) < len(taken):
        return "a node is there twice"
    for users in design.shared_nodes:
        if why := _wrong_users(design, users, off_chip):
            return why
    for graph, found in zip(design.regions, with_shared_nodes(design), strict=True):
        if found is not graph:
            return f"those of {graph.name} differ from others in depths or widths"
    return ""


def _wrong_users(design: Design, users: Users, off_chip: Collection[str]) -> str:
    """As `wrong_nodes`, of nodes that are one."""
    regions = set[int]()
    forms = set[Hashable]()
    for fabric, name in users.items():
        if not 0 <= fabric < len(design.built) or name not in design.built[fabric].node:
            return f"fabric {fabric} has no node '{name}'"
        graph, group = design.built[fabric], design.groups[fabric]
        if not comes_to_rest(graph) or not _may_be_shared(graph, graph.node[name]):
            return f"node '{name}' of fabric {fabric} may be shared with none"
        if not design.beside_any(group).isdisjoint(regions):
            return f"node '{name}' of fabric {fabric} runs side by side with another one"
        regions.update(group)
        forms.add(_likeness(graph, graph.node[name], off_chip))
    return "" if len(forms) == 1 else f"{and_more(sorted({*users.values()}))} are not alike"


def users_by_first(design: Design) -> dict[Key, list[Key]]:
    """The nodes of all fabrics that are one in hardware, by the first of them; most are alone."""
    first = {(fabric, node.name): (fabric, node.name) for fabric, node in design.built_nodes}
    for users in design.shared_nodes:
        together = list(users.items())
        first |= dict.fromkeys(together, together[0])
    found: dict[Key, list[Key]] = defaultdict(list)
    for key, own in first.items():
        found[own].append(key)
    return dict(found)


def regions_of(design: Design, users: Sequence[Key]) -> dict[int, Node]:
    """The node of each region for which some nodes of fabrics stand, by the region."""
    return {
        region: node
        for fabric, name in users
        for region, node in zip(design.groups[fabric], design.bound[fabric][name], strict=True)
    }


def with_shared_nodes(design: Design) -> list[Graph]:
    """The graphs of a design's regions, with channels as deep, and accumulators as wide, as the nodes that
    they share need them."""
    graphs = design.regions
    nodes: list[dict[str, Node]] = [{} for _ in graphs]
    channels: list[dict[Endpoint, int]] = [{} for _ in graphs]
    for users in design.shared_nodes:
        own = regions_of(design, [*users.items()])
        wide = widest([*own.values()])
        for port in wide[0].inputs:
            ends = [(region, Endpoint(node.name, port.name)) for region, node in own.items()]
            depth = max(graphs[region].fanin[end].depth for region, end in ends)
            for region, end in ends:
                channels[region][end] = depth
        for region, node in zip(own, wide, strict=True):
            nodes[region][node.name] = node
    return [
        with_parts(
            graph,
            tuple(wider.get(node.name, node) for node in graph.nodes),
            tuple(_deep(channel, depths) for channel in graph.channels),
        )
        for graph, wider, depths in zip(graphs, nodes, channels, strict=True)
    ]


def _deep(channel: Channel, depths: Mapping[Endpoint, int]) -> Channel:
    depth = depths.get(channel.sink, channel.depth)
    return channel if depth == channel.depth else replace(channel, depth=depth)
