"""Parts of a concatenation that have to wait as a whole for those before them.

The union along a concatenation takes one part after the other. Its later parts stand still meanwhile, and
everything that makes them with them. That harms nobody, unless an earlier part, or what meets the
concatenation after the union, hangs on the same streams: then the earlier part would wait for the later one.
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
        after = _downstream(graph, node.name)
        for part in parts:
            others = [p for p in parts if p.behind < part.behind]
            if others and _shares(graph, levels, part, others, outer, after):
                found |= {channel.name: outer for channel in part.channels}
    return found


class _Part(NamedTuple):
    """What comes into a union: the parts that it comes after, and its channels, that of the coordinates
    first."""

    behind: int
    channels: tuple[Channel, ...]


def _behind(graph: Graph) -> dict[Endpoint, int]:
    """How many parts of a concatenation the coordinates of an output come after; none, where they have been
    joined."""
    result: dict[Endpoint, int] = {}
    for node in graph.nodes:
        for port in node.outputs:
            followed = node.spec.follows(port.name, node.params)
            end = Endpoint(node.name, port.name)
            if followed is None or node.spec.joins(node.params):
                result[end] = 0
            else:
                result[end] = result[graph.fanin[Endpoint(node.name, followed)].source] + node.spec.moves
    return result


def _parts(graph: Graph, node: Node, behind: Mapping[Endpoint, int]) -> Iterator[_Part]:
    """What comes into a node that joins streams by their coordinates."""
    for join in node.spec.joins(node.params):
        channels = tuple(graph.fanin[Endpoint(node.name, port)] for port in join)
        yield _Part(behind[channels[0].source], channels)


def _shares(
    graph: Graph,
    levels: Mapping[Endpoint, tuple[str, ...]],
    part: _Part,
    others: Collection[_Part],
    outer: int,
    after: Collection[str],
) -> bool:
    """Streams lead from what makes a part to what makes one of the parts before it, or to what comes after
    the union, by any way inside of its outer coordinates: a node that waits for one of its inputs soon fills
    the others, and what makes these stands still as well."""
    union = part.channels[0].sink.node
    makers = _upstream(graph, [channel.source.node for channel in part.channels])
    before = {channel.name for other in others for channel in other.channels}
    seen = {*makers, union}
    left = list(makers)
    while left:
        for channel in _channels(graph, left.pop()):
            if len(levels[channel.source]) <= outer:
                # What comes once for a fiber waits in the slack of its channels.
                continue
            if channel.name in before or channel.sink.node in after:
                return True
            ends = {channel.source.node, channel.sink.node} - seen
            seen |= ends
            left += ends
    return False


def _channels(graph: Graph, node: str) -> Iterator[Channel]:
    """Those that enter a node, and those that leave it."""
    for port in graph.node[node].inputs:
        yield graph.fanin[Endpoint(node, port.name)]
    yield from _leaving(graph, node)


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


def _downstream(graph: Graph, node: str) -> set[str]:
    """The nodes that read what a node gives, directly or through others."""
    found: set[str] = set()
    left = [node]
    while left:
        readers = {channel.sink.node for channel in _leaving(graph, left.pop())} - found
        found |= readers
        left += readers
    return found
