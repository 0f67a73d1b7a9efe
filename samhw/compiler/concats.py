"""Parts of a concatenation that have to wait as a whole for those before them.

The union along a concatenation takes one part after the other. Its later parts stand still meanwhile, and
everything that makes them with them. That harms nobody, unless the same streams also make an earlier part, or
what meets the concatenation behind the union: then the earlier part would wait for the later one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from samhw.graph import Channel, Endpoint, Graph, Node

__all__ = ["waiting_parts"]


def waiting_parts(graph: Graph, levels: Mapping[Endpoint, tuple[str, ...]]) -> dict[str, int]:
    """The channels that must have room for a whole part of a concatenation, by name: the number of outer
    indices below which the part is a fiber.

    Args:
        graph: with producers before those that read them.
        levels: of each output.
    """
    behind = _behind(graph)
    found: dict[str, int] = {}
    for node in graph.nodes:
        parts = list(_parts(graph, node, behind))
        if len({part.behind for part in parts}) < 2:
            continue
        outer = len(levels[parts[0].channels[0].source]) - 1
        after = _nodes(_downstream(graph, [node.name]))
        for part in parts:
            others = [p for p in parts if p.behind < part.behind]
            if others and _shares(graph, levels, part, others, outer, after):
                found |= {channel.name: outer for channel in part.channels}
    return found


class _Part(NamedTuple):
    """What comes into a union: the parts that it comes behind, and its channels, that of the coordinates
    first."""

    behind: int
    channels: tuple[Channel, ...]


def _behind(graph: Graph) -> dict[Endpoint, int]:
    """How many parts of a concatenation the coordinates of an output come behind; none, where they have been
    joined."""
    result: dict[Endpoint, int] = {}
    for node in graph.nodes:
        for port in node.outputs:
            followed = node.spec.follows(port.name, node.params)
            end = Endpoint(node.name, port.name)
            if followed is None or node.spec.ordered_inputs:
                result[end] = 0
            else:
                result[end] = result[graph.fanin[Endpoint(node.name, followed)].source] + node.spec.moves
    return result


def _parts(graph: Graph, node: Node, behind: Mapping[Endpoint, int]) -> Iterator[_Part]:
    """What comes into a node that joins streams by their coordinates."""
    for crd, payload in zip(node.inputs[::2], node.inputs[1::2], strict=False):
        if node.spec.ordered(crd.name):
            channels = [graph.fanin[Endpoint(node.name, port.name)] for port in (crd, payload)]
            yield _Part(behind[channels[0].source], tuple(channels))


def _shares(
    graph: Graph,
    levels: Mapping[Endpoint, tuple[str, ...]],
    part: _Part,
    others: Collection[_Part],
    outer: int,
    after: Collection[str],
) -> bool:
    """What makes a part, inside of its outer coordinates, also makes one of the parts before it, or something
    that meets what comes behind the union."""
    union = part.channels[0].sink.node
    makers = _upstream(graph, [channel.source.node for channel in part.channels])
    leaving = [
        channel
        for maker in makers
        for channel in _leaving(graph, maker)
        if len(levels[channel.source]) > outer and (channel.sink.node not in makers)
    ]
    reached = [*leaving, *_downstream(graph, _nodes(leaving), stop=union)]
    before = {channel.name for other in others for channel in other.channels}
    return any(channel.name in before or channel.sink.node in after for channel in reached)


def _leaving(graph: Graph, node: str) -> Iterator[Channel]:
    for port in graph.node[node].outputs:
        yield from graph.fanout.get(Endpoint(node, port.name), ())


def _upstream(graph: Graph, nodes: Iterable[str]) -> set[str]:
    """The nodes and all that they read, directly or through others."""
    found: set[str] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += (graph.fanin[Endpoint(node, p.name)].source.node for p in graph.node[node].inputs)
    return found


def _downstream(graph: Graph, nodes: Iterable[str], stop: str = "") -> list[Channel]:
    """The channels behind the nodes, as far as they do not lead through the one to stop at."""
    seen: set[str] = {stop}
    channels: list[Channel] = []
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in seen:
            seen.add(node)
            leaving = list(_leaving(graph, node))
            channels += leaving
            left += (channel.sink.node for channel in leaving)
    return channels


def _nodes(channels: Iterable[Channel]) -> set[str]:
    return {channel.sink.node for channel in channels}
