"""Which streams have the same coordinates: their patterns, level by level (docs/liveness.md)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from samhw.graph.ir import Channel, Endpoint, Graph, Node, once_per_graph
from samhw.graph.spec.base import Distribution
from samhw.graph.spec.streams import StreamKind
from samhw.precedence import Precedence, reached

__all__ = ["LevelPattern", "concatenates", "contained", "may_be_empty", "offsets", "pattern_of", "patterns"]


class LevelPattern(NamedTuple):
    """What has made the coordinates of a level: a node, and the level; or an index that is dense, and -1."""

    maker: str
    level: int
    lanes: tuple[tuple[int, int], ...] = ()
    """Of a share of these coordinates, which lane of how many has it, lane in lane from the outside."""

    @property
    def collected(self) -> "LevelPattern":
        """That of all lanes of the innermost distribution."""
        return self._replace(lanes=self.lanes[:-1])


RUN = LevelPattern("", -1)
"""What all streams have in common outside of their levels."""


@once_per_graph
def patterns(graph: Graph) -> Mapping[Endpoint, tuple[LevelPattern, ...]]:
    """For each output the patterns of its levels, outermost first: where those of two streams are equal down
    to a level, both have the same coordinates in it.

    A stream that has been moved up after the parts of a concatenation keeps the patterns that it had.

    The graph has producers before those that read them.
    """
    found: dict[Endpoint, tuple[LevelPattern, ...]] = {}
    empty = may_be_empty(graph)
    for node in graph.nodes:
        heads = {port.name: graph.fanin[Endpoint(node.name, port.name)].source for port in node.inputs}
        for port in node.outputs:
            end = Endpoint(node.name, port.name)
            around = {name: found[head] for name, head in heads.items()}
            if distribution := node.spec.distribution(node.params):
                found[end] = _in_lanes(node, distribution, port.name, list(around.values()))
                continue
            found[end] = _of(node, port.name, port.stream.depth, around, concatenates(graph, node))
            if node.spec.scans and not node.memories and empty.isdisjoint(heads.values()):
                (extent,) = node.extents.values()
                found[end] = (*found[end][:-1], LevelPattern(extent, -1))
    return found


@once_per_graph
def may_be_empty(graph: Graph) -> frozenset[Endpoint]:
    """The outputs with a payload that may be EMPTY, below which a scanner has nothing; a coordinate never is.

    The graph has producers before those that read them.
    """
    found: set[Endpoint] = set()
    for node in graph.nodes:
        heads = {graph.fanin[Endpoint(node.name, port.name)].source for port in node.inputs}
        if not node.spec.scans and (node.spec.gives_empty(node.params) or not found.isdisjoint(heads)):
            given = (port for port in node.outputs if port.stream.kind is not StreamKind.CRD)
            found.update(Endpoint(node.name, port.name) for port in given)
    return frozenset(found)


def pattern_of(graph: Graph, channel: Channel, level: int) -> LevelPattern:
    """That of a level of a channel's stream; all have one of level -1, which is the whole stream and DONE."""
    return patterns(graph)[channel.source][level] if level >= 0 else RUN


@once_per_graph
def contained(graph: Graph) -> Mapping[LevelPattern, frozenset[LevelPattern]]:
    """For each pattern those with no coordinates but its own, below the same outer ones: itself, what a union
    has taken in, what is left of it where coordinates are dropped, and what a lane has of it."""
    found = patterns(graph)
    inside = Precedence([RUN])
    for pattern in {pattern for around in found.values() for pattern in around}:
        inside.add_nodes([pattern])
        while pattern.lanes:
            inside.add_edges([(pattern.collected, pattern)])
            pattern = pattern.collected
    for node in graph.nodes:
        followed = (node.spec.follows(port.name, node.params) for port in node.outputs)
        heads = {name for name in followed if name} | {join.crd for join in node.spec.joins(node.params)}
        if node.spec.kept(node.params) is not None or node.spec.completes:
            continue
        taken = [found[graph.fanin[Endpoint(node.name, head)].source] for head in heads]
        for port in node.outputs:
            for level, pattern in enumerate(found[Endpoint(node.name, port.name)]):
                for other in (around[level] for around in taken if level < len(around)):
                    if pattern.maker == node.name and other != pattern and not concatenates(graph, node):
                        inside.add_edges([(other, pattern) if node.spec.thins else (pattern, other)])
    return {p: frozenset(reached([p], inside.after)) for p in inside}


@once_per_graph
def offsets(graph: Graph) -> Mapping[Endpoint, tuple[str, ...]]:
    """For each output the parts of a concatenation that its coordinates have been moved after."""
    found: dict[Endpoint, tuple[str, ...]] = {}
    for node in graph.nodes:
        for port in node.outputs:
            followed = node.spec.follows(port.name, node.params)
            own = found[graph.fanin[Endpoint(node.name, followed)].source] if followed else ()
            if joins := node.spec.joins(node.params):
                joined = {found[graph.fanin[Endpoint(node.name, join.crd)].source] for join in joins}
                own = joined.pop() if len(joined) == 1 else ()
            elif node.spec.moves:
                own = (*own, *node.extents.values())
            found[Endpoint(node.name, port.name)] = own
    return found


def concatenates(graph: Graph, node: Node) -> bool:
    """A node joins streams that have been moved after different parts."""
    known = offsets(graph)
    joins = node.spec.joins(node.params)
    return len({known[graph.fanin[Endpoint(node.name, join.crd)].source] for join in joins}) > 1


def _of(
    node: Node, port: str, depth: int, heads: Mapping[str, tuple[LevelPattern, ...]], concatenated: bool
) -> tuple[LevelPattern, ...]:
    """The patterns of an output, from those of the inputs."""
    followed = node.spec.follows(port, node.params)
    around = heads[followed] if followed else ()
    kept = node.spec.kept(node.params)
    first_own = depth
    """The outermost level whose coordinates the node makes or changes."""
    if node.spec.scans:
        first_own = depth - 1
    elif kept is not None:
        first_own = len(around) - 1 - kept
    elif joins := node.spec.joins(node.params):
        if concatenated or len({heads[join.crd] for join in joins}) > 1:
            first_own = depth - 1
    elif node.spec.thins:
        first_own = min(len(head) for head in heads.values()) - 1
    made = tuple(LevelPattern(node.name, level) for level in range(min(first_own, depth), depth))
    return (*around[: depth - len(made)], *made)


def _in_lanes(
    node: Node, distribution: Distribution, port: str, heads: Sequence[tuple[LevelPattern, ...]]
) -> tuple[LevelPattern, ...]:
    """The patterns of an output of what distributes to lanes, or collects from them."""
    lanes = distribution.lanes
    if not distribution.collects:
        (head,) = heads
        lane = [output.name for output in node.outputs].index(port)
        return (*head[:-1], head[-1]._replace(lanes=(*head[-1].lanes, (lane, lanes))))
    level = len(heads[0]) - 1 - distribution.levels
    dealt = [head[level] for head in heads]
    together = dealt[0].collected
    shares = [together._replace(lanes=(*together.lanes, (lane, lanes))) for lane in range(lanes)]
    inner = (_together([head[n] for head in heads]) for n in range(level + 1, len(heads[0])))
    return (*heads[0][:level], together if dealt == shares else LevelPattern(node.name, level), *inner)


def _together(patterns: Sequence[LevelPattern]) -> LevelPattern:
    """That of a level inside of rows that each come from a lane."""
    if len(set(patterns)) == 1:
        return patterns[0]
    return LevelPattern(", ".join(map(str, patterns)), patterns[0].level)
