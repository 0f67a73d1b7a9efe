"""Whether the channels of a graph are deep enough that it cannot deadlock: the check of docs/liveness.md; and
where they were not, why a run stands still.

Nodes that stand still wait for each other in a circle. The check goes through the levels of the streams,
outermost first, and looks for a circle whose waits all agree in the coordinates outside of a level, but not
in the level itself. Where there is none at any level, no run deadlocks, whatever the data.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod

from samhw.errors import RunError
from samhw.graph.ir import Channel, Endpoint, Graph
from samhw.graph.lag import AT_END, LATE, NEVER, Awaited, Lag, Rise, lag
from samhw.graph.levels import Levels, levels
from samhw.graph.patterns import LevelPattern, contained, pattern_of

__all__ = ["Circle", "DeadlockError", "deadlock", "unproved_circles", "waiting_cycle"]


# Why a run stands still: the circle of channels that wait for each other.


class DeadlockError(RunError):
    """No node can fire and not every writer has committed.

    Attributes:
        waiting: names of the channels of the waiting cycle, each waiting for the next.
    """

    def __init__(self, message: str, waiting: list[str]):
        super().__init__(message)
        self.waiting = waiting


def waiting_cycle(graph: Graph, empty: Collection[str], full: Collection[str]) -> list[str]:
    """Names of channels that wait for each other in a circle, in order; an empty list if there is no circle.

    A node that lacks an input waits for the node that feeds it, and a node that lacks a slot waits for the
    node that drains it. `empty` and `full` are names of channels: those that a simulator knows to be waited
    for, or all that hardware reports as empty or full.
    """
    import networkx as nx  # Takes a quarter of a second to be imported, and most runs end.

    waits: nx.DiGraph[str] = nx.DiGraph()
    # Channels only lead forward, so a circle has a full channel in it: the search starts there.
    starts = []
    for channel in graph.channels:
        if channel.name in full:
            waits.add_edge(channel.source.node, channel.sink.node, channel=channel.name)
            starts.append(channel.source.node)
        if channel.name in empty:
            waits.add_edge(channel.sink.node, channel.source.node, channel=channel.name)
    if not starts:
        return []
    try:
        return [waits.edges[edge[:2]]["channel"] for edge in nx.find_cycle(waits, starts)]
    except nx.NetworkXNoCycle:
        return []


def deadlock(graph: Graph, empty: Collection[str], full: Collection[str]) -> DeadlockError:
    """The error for a run that stands still, which names the channels and says which to deepen."""
    cycle = waiting_cycle(graph, empty, full)
    waiting = cycle or [c.name for c in graph.channels if c.name in full or c.name in empty]
    states = ", ".join(f"{name} ({'full' if name in full else 'empty'})" for name in waiting)
    if not cycle:
        return DeadlockError(
            f"Deadlock: no node can fire; channels waited for: {states or 'none'}; "
            "check that their streams agree in structure.",
            cycle,
        )
    deepen = " or ".join(name for name in cycle if name in full)
    return DeadlockError(
        f"Deadlock: these channels wait for each other in a circle: {states}; make {deepen} deeper.", cycle
    )


@dataclass(frozen=True)
class Circle:
    """Nodes that may wait for each other in a circle, as far as the check can tell.

    Attributes:
        node: the one that may be behind what waits for it.
        waits: that of the node first, and then on around the circle.
        index: that of the level in which it may be behind; empty for the end of all.
        bounded: it is behind by one coordinate, and not by a whole fiber.
    """

    node: str
    waits: tuple[Awaited, ...]
    index: str
    bounded: bool

    def __str__(self) -> str:
        behind = "the next coordinate" if self.bounded else "the end of a fiber"
        of = f"{behind} of {self.index}" if self.index else "the end of a stream"
        return f"{self.node} may need {of} before it goes on, while {', '.join(map(str, self.waits))}"

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        waits = [{"channel": w.channel.name, "for": "token" if w.token else "slot"} for w in self.waits]
        return {"node": self.node, "index": self.index, "bounded": self.bounded, "waits": waits}


def unproved_circles(graph: Graph, extents: Mapping[str, int]) -> tuple[Circle, ...]:
    """The circles of waits that the proof of docs/liveness.md does not rule out, one for each node and level;
    none for a graph that cannot deadlock.

    Args:
        graph: with producers before those that read them, as the compiler leaves it.
        extents: the greatest extent of each index (`Levels`).
    """
    known = levels(graph)
    deepest = max((len(around) for around in known.values()), default=0)
    return tuple(
        circle
        for level in range(-1, deepest)
        for block in _blocks(graph, known, extents, level)
        for circle in _Block(graph, known, extents, level, block).circles()
    )


def _tokens(around: Sequence[str], extents: Mapping[str, int]) -> int:
    """The most tokens that one coordinate has with those levels inside of it, and the stops of these."""
    count = 1
    for index in reversed(around):
        count = extents[index] * count + 1
    return count


def _may_be_full(channel: Channel, around: Levels, extents: Mapping[str, int], level: int) -> bool:
    """A channel may be full of tokens that agree in the coordinates outside of the level. Level -1 has two:
    what a stream tells of the run, and DONE."""
    tokens = _tokens(around[max(level, 0) :], extents) + (level < 0)
    return level < len(around) and channel.depth < tokens


def _blocks(
    graph: Graph, known: Mapping[Endpoint, Levels], extents: Mapping[str, int], level: int
) -> Iterator[tuple[Channel, ...]]:
    """The channels among which a circle may lie: what waits for each other, as far as two ways lead from each
    node to each other one."""
    import networkx as nx  # Takes a quarter of a second to be imported, and few programs need this proof.

    left = [graph.channels]
    while left:
        channels = left.pop()
        waits: nx.DiGraph[str] = nx.DiGraph()
        for channel in channels:
            waits.add_edge(channel.sink.node, channel.source.node)
            if _may_be_full(channel, known[channel.source], extents, level):
                waits.add_edge(channel.source.node, channel.sink.node)
        number = {node: n for n, part in enumerate(nx.strongly_connected_components(waits)) for node in part}
        inside = [c for c in channels if number[c.source.node] == number[c.sink.node]]
        ways: nx.Graph[str] = nx.Graph((c.source.node, c.sink.node) for c in inside)
        parts = {
            frozenset(edge): n
            for n, edges in enumerate(nx.biconnected_component_edges(ways))
            for edge in edges
        }
        found: dict[int, list[Channel]] = {}
        for channel in inside:
            found.setdefault(parts[frozenset((channel.source.node, channel.sink.node))], []).append(channel)
        if len(found) == 1 and len(inside) == len(channels):
            yield tuple(channels)
        else:
            left += [tuple(part) for part in found.values() if len(part) > 1]


@dataclass(frozen=True)
class _Block:
    """The channels of one of the blocks of a level."""

    graph: Graph
    known: Mapping[Endpoint, Levels]
    extents: Mapping[str, int]
    level: int
    channels: tuple[Channel, ...]

    def circles(self) -> Iterator[Circle]:
        """One for each node that may be behind: those that no pattern bounds first, as no circle leads
        through these any more if there are none."""
        return iter(list(self._through(late=True)) or self._through(late=False))

    def _through(self, *, late: bool) -> Iterator[Circle]:
        """The circles through nodes that are LATE, or through others that are behind all the same."""
        seen: set[str] = set()
        for start, by in self._behind:
            if (by is LATE) is not late or start.waits in seen:
                continue
            waits: tuple[Awaited, ...] = ()
            # It is enough if there is none too many in whatever coordinates the rises are counted.
            for counted in self._countings(by):
                if (circle := self._around(start, by, counted)) is None:
                    break
                waits = waits or circle
            else:
                seen.add(start.waits)
                index = self.known[start.channel.source][self.level] if self.level >= 0 else ""
                yield Circle(start.waits, waits, index, bounded=not late)

    def _countings(self, by: Rise | Lag) -> Iterator[LevelPattern | Lag]:
        """In what the rises around a circle may be counted: coordinates that what is behind has, those of all
        lanes first."""
        if isinstance(by, Lag):
            yield by
            return
        pattern = by.pattern
        while pattern.lanes:
            pattern = pattern.collected
        yield pattern
        yield from contained(self.graph)[pattern] - {pattern}

    def _around(
        self, start: Awaited, by: Rise | Lag, counted: LevelPattern | Lag
    ) -> tuple[Awaited, ...] | None:
        """A circle that begins with a wait of a node that is behind, and comes to that node again without
        going down by more coordinates than nodes go up, of those of the pattern that is counted; None if
        there is no such circle.

        The way of the greatest rise from wait to wait is that of Bellman and Ford.
        """
        rise: dict[Awaited, float] = {start: 0.0}
        came: dict[Awaited, Awaited] = {}
        queue = deque([start])
        times: Counter[Awaited] = Counter()
        while queue:
            wait = queue.popleft()
            for following, lagged in self._next[wait]:
                if following.channel == start.channel or (lagged is LATE and by is not LATE):
                    continue  # That no circle leads through what is LATE was seen before.
                total = rise[wait] + self._step(following, lagged, counted)
                if following in rise and total <= rise[following]:
                    continue
                rise[following], came[following] = total, wait
                if following.on == start.waits:
                    if total + self._rise(by, counted) >= 0 and self._lag(following, start) == by:
                        return _back(came, start, following)
                    continue
                times[following] += 1
                if times[following] > len(self._waits):
                    return _back(came, start, following)
                queue.append(following)
        return None

    def _step(self, following: Awaited, lagged: Rise | Lag | None, counted: LevelPattern | Lag) -> float:
        """By how many coordinates of a pattern a wait is at most further than the one before it."""
        rise = self._rise(lagged, counted)
        if isinstance(counted, Lag) or following.token:
            return rise
        fallen = pattern_of(self.graph, following.channel, self.level)
        if fallen not in contained(self.graph)[counted]:
            return rise
        # From one coordinate to the next of a lane are as many as there are lanes.
        share = fallen.lanes[len(counted.lanes) :] if fallen._replace(lanes=counted.lanes) == counted else ()
        return rise - self._coordinates(following.channel) * prod(lanes for _, lanes in share)

    def _rise(self, lagged: Rise | Lag | None, counted: LevelPattern | Lag) -> float:
        """By how many coordinates of a pattern a node is behind at most."""
        if isinstance(counted, Lag):
            return inf  # Any circle is one too many.
        if isinstance(lagged, Rise):
            pattern, steps = lagged
            while counted not in contained(self.graph)[pattern]:
                if not pattern.lanes:
                    return inf
                steps *= pattern.lanes[-1][1]
                pattern = pattern.collected
            return steps
        return self._at_end if lagged is AT_END else 0

    def _coordinates(self, channel: Channel) -> int:
        """How many steps from coordinate to coordinate of the level lie at least between the ends of a
        channel that is full, without the one to the end of the fiber."""
        if self.level < 0:
            return 0
        inner = self.known[channel.source][self.level + 1 :]
        return channel.depth // _tokens(inner, self.extents) if inner else channel.depth - 1

    @cached_property
    def _at_end(self) -> int:
        """A channel of one slot alone can be full with only the end of a fiber to come."""
        return int(any(channel.depth < 2 for channel in self.channels))

    def _lag(self, came: Awaited, goes: Awaited) -> Rise | Lag | None:
        return lag(self.graph, self.level, came, goes)

    @cached_property
    def _waits(self) -> tuple[Awaited, ...]:
        """For a token of every channel, and for a slot of every one that may be full."""
        return tuple(
            Awaited(channel, token)
            for channel in self.channels
            for token in (True, False)
            if token or _may_be_full(channel, self.known[channel.source], self.extents, self.level)
        )

    @cached_property
    def _next(self) -> Mapping[Awaited, list[tuple[Awaited, Rise | Lag | None]]]:
        """What the node that a wait is for may wait for itself, and by how much that is behind."""
        of_node: dict[str, list[Awaited]] = {}
        for wait in self._waits:
            of_node.setdefault(wait.waits, []).append(wait)
        return {
            wait: [
                (following, by)
                for following in of_node.get(wait.on, ())
                if following.channel != wait.channel and (by := self._lag(wait, following)) is not NEVER
            ]
            for wait in self._waits
        }

    @cached_property
    def _behind(self) -> tuple[tuple[Awaited, Rise | Lag], ...]:
        """The waits by which a node may be behind, and by how much."""
        found = {
            (goes, by): None
            for following in self._next.values()
            for goes, by in following
            if by is not None and (by is not AT_END or self._at_end)
        }
        return tuple(found)


def _back(came: Mapping[Awaited, Awaited], start: Awaited, wait: Awaited) -> tuple[Awaited, ...]:
    """The way from a start to a wait, or where it runs in a circle, as much of it as there is."""
    found = [wait]
    while wait != start and (wait := came[wait]) not in found:
        found.append(wait)
    return tuple(reversed(found))
