"""How far behind a node may be: what it waits for, compared with what waits for it (docs/liveness.md)."""

from enum import Enum
from typing import NamedTuple

from samhw.graph.ir import Channel, Endpoint, Graph, Node
from samhw.graph.patterns import LevelPattern, concatenates, contained, offsets, pattern_of, patterns
from samhw.graph.spec.base import Distribution, Joined

__all__ = ["AT_END", "LATE", "NEVER", "Awaited", "Lag", "Rise", "lag"]


class Lag(Enum):
    """A lag that no pattern bounds."""

    LATE = "late"
    """What the node waits for may lie anywhere after what waits for it, up to the end of a fiber."""
    AT_END = "at end"
    """The end of a fiber comes after that of the fiber inside of its last coordinate, but to a node at once
    with it."""
    NEVER = "never"
    """The node cannot be waited for like this while it waits like that."""


LATE, AT_END, NEVER = Lag.LATE, Lag.AT_END, Lag.NEVER


class Rise(NamedTuple):
    """By how many coordinates of a pattern a node may be behind at most."""

    pattern: LevelPattern
    steps: int = 1


class Awaited(NamedTuple):
    """One of the waits of a circle: for a token on a channel that is empty, or for a slot of one that is
    full."""

    channel: Channel
    token: bool

    @property
    def waits(self) -> str:
        """The node that waits."""
        return self.channel.sink.node if self.token else self.channel.source.node

    @property
    def on(self) -> str:
        """The node that it waits for."""
        return self.channel.source.node if self.token else self.channel.sink.node

    def __str__(self) -> str:
        return f"{self.waits} waits for a {'token' if self.token else 'slot'} of {self.channel.name}"


def lag(graph: Graph, level: int, came: Awaited, goes: Awaited) -> Rise | Lag | None:
    """By how much the coordinate of `level` rises at a node between two waits, the first for the node and the
    second by it: not at all (None), by coordinates of a pattern, or by what `Lag` says.

    All that both waits are about agrees in the coordinates outside of `level`.
    """
    node = graph.node[goes.waits]
    before, behind = _depth(graph, came), _depth(graph, goes)
    if before <= level < behind:
        # A circle comes back to a level that it has left. A node gives an outer coordinate no later than the
        # first token inside of it, so that no channel of these can be full of what lies in it.
        return LATE if goes.token else NEVER
    distribution = node.spec.distribution(node.params)
    if distribution:
        return _lag_of_lanes(graph, node, distribution, level, came, goes)
    rise = Rise(pattern_of(graph, goes.channel, level)) if level < behind else None
    if _changes(graph, node, level):
        return _lag_of_change(graph, node, level, came, goes, rise)
    if came.token and goes.token and behind < before and level == behind - 1:
        # A scanner ends a fiber when it sees the next token of the level above.
        in_lane = rise is not None and rise.pattern.lanes
        return rise if node.spec.scans or in_lane else AT_END
    if goes.token and level == behind - 1 and not _in_step(graph, node, came, goes):
        return rise
    return None


def _lag_of_lanes(
    graph: Graph, node: Node, distribution: Distribution, level: int, came: Awaited, goes: Awaited
) -> Rise | Lag | None:
    """The same at what distributes to lanes, which takes one token after the other, and at what collects from
    them, which takes row after row: from a lane that has given its last one to the end of all are as many
    rows as lanes."""
    dealt = node.inputs[0].stream.depth - 1 - distribution.levels
    if not distribution.collects or level < dealt:
        return None
    pattern = patterns(graph)[Endpoint(node.name, node.outputs[0].name)][dealt]
    if pattern.maker == node.name:
        return LATE  # The lanes do not have the shares of one stream.
    if level > dealt or not distribution.levels:
        return None
    if came.token:
        return Rise(pattern) if goes.token else None
    return Rise(pattern, distribution.lanes)


def _depth(graph: Graph, wait: Awaited) -> int:
    return graph.stream(wait.channel).depth


def _innermost(graph: Graph, node: Node) -> int:
    """The innermost level of the shallowest of a node's inputs."""
    return min(port.stream.depth for port in node.inputs) - 1


def _changes(graph: Graph, node: Node, level: int) -> bool:
    """The node takes coordinates of the level away, holds them back, or makes others of them."""
    if not node.inputs:
        return False
    spec = node.spec
    if (kept := spec.kept(node.params)) is not None:
        return level >= node.inputs[0].stream.depth - 1 - kept
    if spec.thins and _joins_one_pattern(graph, node):
        return False
    return (spec.thins or spec.completes or concatenates(graph, node)) and level >= _innermost(graph, node)


def _lag_of_change(
    graph: Graph, node: Node, level: int, came: Awaited, goes: Awaited, rise: Rise | None
) -> Rise | Lag | None:
    """The same at a level that the node changes."""
    spec = node.spec
    into = not came.token  # Someone waits for a slot before it.
    if (kept := spec.kept(node.params)) is not None:
        if into is not goes.token:
            # It gives nothing of a fiber before it has all of it, and then takes nothing more of it.
            first = node.inputs[0].stream.depth - 1 - kept
            return LATE if goes.token and level == first else NEVER
        return None
    if concatenates(graph, node):
        return _lag_of_parts(graph, node, came, goes, rise)
    if spec.completes:
        followed = spec.follows(node.outputs[0].name, node.params)
        first = into and came.channel.sink.port != followed
        second = goes.token and goes.channel.sink.port != followed
        return LATE if first is not second else None
    if into:
        if not goes.token or _in_step(graph, node, came, goes):
            return None
        return LATE if _may_pass(graph, node, came, goes) else rise
    if goes.token:
        return LATE
    return None if _depth(graph, came) == _depth(graph, goes) else LATE


def _lag_of_parts(
    graph: Graph, node: Node, came: Awaited, goes: Awaited, rise: Rise | None
) -> Rise | Lag | None:
    """The same at a union along a concatenation, whose parts come one after the other."""
    if came.token or not goes.token:
        return LATE if came.token is goes.token else None
    known = offsets(graph)
    heads = {
        join: known[graph.fanin[Endpoint(node.name, join.crd)].source]
        for join in node.spec.joins(node.params)
    }
    (first,) = (offset for join, offset in heads.items() if came.channel.sink.port in join)
    (second,) = (offset for join, offset in heads.items() if goes.channel.sink.port in join)
    if first == second or second[: len(first)] == first:
        return None if _in_step(graph, node, came, goes) else rise
    return LATE


def _joins_one_pattern(graph: Graph, node: Node) -> bool:
    """All that a node joins has the same coordinates."""
    found = patterns(graph)
    joins = node.spec.joins(node.params)
    joined = {found[graph.fanin[Endpoint(node.name, join.crd)].source] for join in joins}
    return len(joined) == 1 and not concatenates(graph, node)


def _in_step(graph: Graph, node: Node, came: Awaited, goes: Awaited) -> bool:
    """The node takes a token of the input that it waits on with each one that comes before it there, or has
    not come as far: a joiner takes no coordinate of an input before that of another one, which has it too.

    Else it looks at the next coordinate of every input, which may be further.
    """
    if not node.spec.joins(node.params) or _joins_one_pattern(graph, node):
        return True
    return not came.token and _joined(graph, node, came) in contained(graph)[_joined(graph, node, goes)]


def _may_pass(graph: Graph, node: Node, came: Awaited, goes: Awaited) -> bool:
    """An intersection may have taken any number of coordinates of the input that it waits on before that at
    which the other one stands, to follow a third input that is further than both. One that has all
    coordinates of one of the two never is."""
    first, second = (_joined(graph, node, wait) for wait in (came, goes))
    return any(
        first not in inside and second not in inside
        for join in node.spec.joins(node.params)
        for inside in [contained(graph)[_pattern_of_join(graph, node, join)]]
    )


def _joined(graph: Graph, node: Node, wait: Awaited) -> LevelPattern:
    """The pattern of the coordinates that come with an input of a joiner."""
    (found,) = (j for j in node.spec.joins(node.params) if wait.channel.sink.port in j)
    return _pattern_of_join(graph, node, found)


def _pattern_of_join(graph: Graph, node: Node, join: Joined) -> LevelPattern:
    return patterns(graph)[graph.fanin[Endpoint(node.name, join.crd)].source][-1]
