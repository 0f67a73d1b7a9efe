"""Depths of channels (docs/compiler.md): enough for full rate, and for paths that part and meet again.

Where two paths meet, the tokens of the quicker one wait, and its channel must have room for them. Paths
differ in two ways. A path may be longer by some cycles: its partner gets as many slots (slack matching). Or a
path may lead through a reducer, which gives nothing until the fibers below some coordinates are complete: its
partner must hold all tokens of one such fiber, however many the extents allow. So must what an intersection
takes slowly beside what it takes fast. So must a reducer's own tokens that meet a scanner below its outer
coordinates: the scanner ends a fiber when it sees the next of these, which the reducer gives after the
tokens that wait.

Where several reductions follow each other, as many fibers are under way as begin while one passes them all.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, prod

from samhw.compiler.graph_passes import Assembly
from samhw.compiler.graph_passes.concats import waiting_parts
from samhw.errors import StreamError
from samhw.graph import Arch, Channel, Endpoint, Graph, MemoryRole, Node, PortDelays, levels
from samhw.words import and_more, counted

__all__ = ["depths", "most_tokens", "permit_more", "reductions_awaited", "with_delays"]


SHORT = 1 / 8
"""Of the time in which a fiber is gone through: what is not worth room for one more."""

BURST = 2
"""How much faster than on average tokens may come for a while, where fibers are of unequal length."""

_Origin = tuple[str, int]
"""A node that makes coordinates, and the level that it makes, 0 for its outermost."""


@dataclass(frozen=True)
class _Stream:
    """What is known of an output.

    `levels` are the indices of its fibers, outermost first. `waits` tells for a number n of outer indices how
    many reductions, one after the other, the stream has waited for, each until a fiber below n coordinates
    was complete.

    `origins` are, level by level, what has made its coordinates, and `delayed` counts for an origin how often
    the stream has waited for the end of a fiber of these coordinates: some may have been left out, up to the
    last, or have met a scanner that sees the end late.
    """

    levels: tuple[str, ...]
    waits: Mapping[int, int]
    turns: Mapping[str, int] = field(default_factory=dict)
    """By index the lanes that the stream has been collected from."""
    shares: Mapping[str, int] = field(default_factory=dict)
    """By index the lanes that it is in, one of which has its share of the coordinates."""
    origins: tuple[frozenset[_Origin], ...] = ()
    delayed: Mapping[_Origin, int] = field(default_factory=dict)

    def ends_behind(self, other: "_Stream") -> frozenset[_Origin]:
        """The origins of the other stream that give the end of a fiber before the coordinate that lets this
        stream, scanned below the same outer coordinates, give its own."""
        return frozenset(
            (node, level)
            for outer, inner, theirs in zip(self.origins, self.origins[1:], other.origins[1:], strict=False)
            for node, level in theirs
            if level and (node, level) not in inner and (node, level - 1) in outer
        )


def depths(assembly: Assembly) -> Assembly:
    """The graph with channels as deep as they have to be.

    Raises:
        StreamError: for a channel that would have to hold too much.
    """
    graph, arch, extent = assembly.graph, assembly.arch, assembly.extent
    arrival, folded = _Arrival(graph, arch), _Arrival(graph, arch, folded=True)
    indices = levels(graph)
    streams = _streams(graph, indices)
    parts = waiting_parts(graph, indices)
    pace = _Pace.of_streams(graph, streams, extent)
    found = {}
    reasons = {}
    waiting = {}
    held_tokens: dict[Endpoint, dict[str, int]] = {}
    for channel in graph.channels:
        sink = graph.node[channel.sink.node]
        held = _held(graph, channel, streams, parts, pace)
        # What is read once for several stalls them all where one of them holds a fiber and has no room.
        is_shared = graph.node[channel.source.node].memories and len(graph.fanout[channel.source]) > 1
        slack = (folded if held is not None and is_shared else arrival).earlier(channel)
        depth = channel.latency + 1 + slack + arch.slack
        if slack:
            reasons[channel.name] = f"{counted(slack, 'more cycle')} on another way to {sink.name}"
        if held is not None:
            outer, awaited, count = held
            inner = streams[channel.source].levels[outer:]
            tokens = most_tokens(inner, extent, streams[channel.source].shares)
            if tokens > arch.deepest:
                raise StreamError(
                    f"For {and_more(_computed(graph))}, channel {channel.name} would have to hold "
                    f"{counted(tokens, 'token')}, a fiber over {', '.join(inner)}, which waits for {awaited}",
                    f"end the fused region before {sink.name}",
                    "choose another order",
                    permit_more(arch),
                )
            fibers = max(1, min(count, arch.deepest // tokens))
            depth += fibers * tokens
            held_tokens.setdefault(channel.source, {})[channel.name] = tokens
            what = f"a fiber over {', '.join(inner)}" if inner else "a value"
            if fibers > 1:
                what = f"{fibers} times {what}"
            waiting[channel.name] = f"{what}, {counted(fibers * tokens, 'token')}, waits for {awaited}"
            reasons[channel.name] = waiting[channel.name]
        if room := _lane_room(graph, channel, streams, arch, extent):
            depth += room[0]
            reasons[channel.name] = "; ".join(filter(None, (reasons.get(channel.name), room[1])))
        found[channel.name] = depth
    for source, held_by in held_tokens.items():
        for channel in graph.fanout[source]:
            # What holds a fiber takes the next one only as fast as the slowest of the other readers.
            if channel.name not in held_by and graph.node[channel.sink.node].outputs:
                tokens = min(held_by.values())
                found[channel.name] += tokens
                reasons[channel.name] = (
                    f"room for {counted(tokens, 'token')}, as many as another reader holds"
                )
    return replace(assembly, graph=graph.with_depths(found), reasons=reasons, held=waiting)


def with_delays(
    graph: Graph,
    arch: Arch,
    delays: PortDelays,
    tokens: Mapping[Endpoint, float],
    reasons: Mapping[str, str],
    reads: str = "reads off chip",
) -> tuple[Graph, dict[str, str]]:
    """A graph with room for what waits while reads through ports make other ways longer; and why each channel
    has the depth that it has.

    A channel needs a token for each cycle only if its tokens come one a cycle; those of outer levels do not.

    Args:
        tokens: about how many each output gives in a run, all lanes together.
        reasons: why the channels are as deep as they are without these reads.
        reads: what they are called.
    """
    plain, delayed = _Arrival(graph, arch), _Arrival(graph, arch, delays)
    rate = _rates(graph, tokens)
    room = {}
    found = dict(reasons)
    for channel in graph.channels:
        longer = delayed.earlier(channel) - plain.earlier(channel)
        if longer > 0:
            waiting = ceil(longer * min(1.0, BURST * rate[channel.source]))
            room[channel.name] = channel.depth + waiting
            own = f"{counted(waiting, 'token')} while {reads} take {counted(longer, 'cycle')} longer"
            found[channel.name] = "; ".join(filter(None, (found.get(channel.name), own)))
    return graph.with_depths(room), found


def _rates(graph: Graph, tokens: Mapping[Endpoint, float]) -> dict[Endpoint, float]:
    """About how many tokens each output gives in a cycle, where the busiest gives one."""
    own = {
        end: tokens[end] / prod(stream.shares.get(index, 1) for index in stream.levels)
        for end, stream in _streams(graph, levels(graph)).items()
    }
    most = max(own.values(), default=1.0)
    return {end: count / most for end, count in own.items()}


class _Arrival:
    """When the first tokens come to the nodes of a graph, in cycles, along the longest ways.

    Args:
        delays: of reads off chip; None if there are none.
        folded: with the time that reducers take after the end of a fiber.
    """

    def __init__(self, graph: Graph, arch: Arch, delays: PortDelays | None = None, *, folded: bool = False):
        self._delays = delays or PortDelays()
        self._taken: dict[str, int] = {}
        """When a node has taken from all inputs, and a reducer has folded that,"""
        self._given: dict[str, int] = {}
        """and when it gives."""
        for node in graph.nodes:
            ends = (graph.fanin[Endpoint(node.name, port.name)] for port in node.inputs)
            own = node.spec.behind_end(node.params, arch, graph.value) if folded else 0
            self._taken[node.name] = max(map(self._comes, ends), default=0) + own
            inside = node.spec.inside(node.params, arch, graph.value)
            self._given[node.name] = self._taken[node.name] + inside + self._delays.inside.get(node.name, 0)

    def _comes(self, channel: Channel) -> int:
        return self._given[channel.source.node] + self._delays.before(channel) + channel.latency

    def earlier(self, channel: Channel) -> int:
        """How many cycles before its node has taken from all inputs a channel has its first token."""
        return self._taken[channel.sink.node] - self._comes(channel)


def _streams(graph: Graph, indices: Mapping[Endpoint, tuple[str, ...]]) -> dict[Endpoint, _Stream]:
    """What is known of all outputs."""
    streams: dict[Endpoint, _Stream] = {}
    for node in graph.nodes:
        heads = {p.name: streams[graph.fanin[Endpoint(node.name, p.name)].source] for p in node.inputs}
        streams |= _outputs(node, heads, indices)
    return streams


def reductions_awaited(graph: Graph, nodes: Collection[str]) -> dict[str, int]:
    """For each channel to one of some nodes, among which are all that are before one of them, by its name how
    many reductions, one after the other, its tokens wait for."""
    indices = levels(graph)
    streams: dict[Endpoint, _Stream] = {}
    found: dict[str, int] = {}
    for node in graph.nodes:
        if node.name not in nodes:
            continue
        inputs = {port.name: graph.fanin[Endpoint(node.name, port.name)] for port in node.inputs}
        heads = {port: streams[channel.source] for port, channel in inputs.items()}
        streams |= _outputs(node, heads, indices)
        for port, channel in inputs.items():
            own = heads[port].waits
            found[channel.name] = max(
                (n - own.get(outer, 0) for head in heads.values() for outer, n in head.waits.items()),
                default=0,
            )
    return found


def _outputs(
    node: Node, heads: Mapping[str, _Stream], indices: Mapping[Endpoint, tuple[str, ...]]
) -> dict[Endpoint, _Stream]:
    """The streams that a node gives, from those that it takes."""
    waits = _greatest(head.waits for head in heads.values())
    # Level by level: a payload stream has the origins of the coordinates that it is in lockstep with, too.
    depth = max((len(head.origins) for head in heads.values()), default=0)
    origins = tuple(
        frozenset[_Origin]().union(*(h.origins[level] for h in heads.values() if level < len(h.origins)))
        for level in range(depth)
    )
    delayed: dict[_Origin, int] = {}
    for head in heads.values():
        for origin, count in head.delayed.items():
            delayed[origin] = max(delayed.get(origin, 0), count)
    ends = {o for head in heads.values() for other in heads.values() for o in head.ends_behind(other)}
    if node.spec.thins and origins:
        ends |= origins[-1]
    delayed |= {origin: delayed.get(origin, 0) + 1 for origin in ends}
    turns: dict[str, int] = {}
    for head in heads.values():
        for index, lanes in head.turns.items():
            turns[index] = max(turns.get(index, 1), lanes)
    if (distribution := node.spec.distribution(node.params)) and distribution.collects:
        turns[node.index] = distribution.lanes * turns.get(node.index, 1)
    indices_in = {index for head in heads.values() for index in head.levels}
    shares = {
        index: min(head.shares.get(index, 1) for head in heads.values() if index in head.levels)
        for index in indices_in
    }
    if distribution:
        distributed = shares[node.index]
        shares[node.index] = (
            distributed // distribution.lanes if distribution.collects else distributed * distribution.lanes
        )
    kept = node.spec.kept(node.params)
    if node.spec.completes:
        # It makes no coordinates, but has those of what its output follows.
        followed = node.spec.follows(node.outputs[0].name, node.params)
        assert followed is not None
        origins = heads[followed].origins
        waits = {n: count for n, count in waits.items() if n < depth} | {
            depth - 1: waits.get(depth - 1, 0) + 1
        }
    if kept is not None:
        outer = depth - 1 - kept
        # What comes out below the outer coordinates, the reducer makes.
        origins = origins[:outer]
        # To wait for a whole fiber is to wait for everything inside of it.
        waits = {n: count for n, count in waits.items() if n < outer} | {outer: waits.get(outer, 0) + 1}
    result = {}
    for port in node.outputs:
        end = Endpoint(node.name, port.name)
        around = indices[end]
        made = (frozenset({(node.name, level)}) for level in range(len(around) - len(origins)))
        result[end] = _Stream(around, waits, turns, shares, (*origins[: len(around)], *made), delayed)
    return result


@dataclass(frozen=True)
class _Pace:
    """How long fibers take, in tokens of the nodes that have most of them.

    Attributes:
        awaited: by output and number n of outer indices, how long the reductions below n coordinates that it
            has waited for take, one after the other.
        between: by the outer indices, how much later each of their coordinates is gone through than the one
            before it.
    """

    awaited: Mapping[Endpoint, Mapping[int, int]]
    between: Mapping[tuple[str, ...], int]

    @classmethod
    def of_streams(
        cls, graph: Graph, streams: Mapping[Endpoint, _Stream], extent: Mapping[str, int]
    ) -> "_Pace":
        awaited: dict[Endpoint, dict[int, int]] = {}
        since: dict[Endpoint, dict[int, int]] = {}
        """The same, of what lies after the last of these reductions."""
        between: dict[tuple[str, ...], int] = {}
        for node in graph.nodes:
            heads = [graph.fanin[Endpoint(node.name, port.name)].source for port in node.inputs]
            counts = _greatest(streams[head].waits for head in heads)
            before = _greatest(awaited[head] for head in heads)
            # What is not late was gone through before.
            behind = _greatest(
                {n: t for n, t in since[head].items() if streams[head].waits.get(n, 0) == counts.get(n, 0)}
                for head in heads
            )
            for port in node.outputs:
                end = Endpoint(node.name, port.name)
                stream = streams[end]
                awaited[end], since[end] = {}, {}
                for n in range(len(stream.levels) + 1):
                    own = most_tokens(stream.levels[n:], extent, stream.shares)
                    outer = stream.levels[:n]
                    between[outer] = max(between.get(outer, 0), own)
                    waits = stream.waits.get(n, 0) > counts.get(n, 0)
                    awaited[end][n] = before.get(n, 0) + (behind.get(n, 0) if waits else 0)
                    since[end][n] = own if waits else max(own, behind.get(n, 0))
        return cls(awaited, between)

    def fibers(self, own: Endpoint, other: Endpoint, outer: Sequence[str]) -> int:
        """How many fibers below some outer indices one output gives while another one is late with one; of
        those below none there is one."""
        n = len(outer)
        late = self.awaited[other].get(n, 0) - self.awaited[own].get(n, 0)
        return max(1, ceil(late / self.between[tuple(outer)] - SHORT)) if n else 1


def _greatest(counts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Of several counts the greatest ones."""
    found: dict[int, int] = {}
    for each in counts:
        for n, count in each.items():
            found[n] = max(found.get(n, 0), count)
    return found


def _held(
    graph: Graph,
    channel: Channel,
    streams: Mapping[Endpoint, _Stream],
    parts: Mapping[str, int],
    pace: _Pace,
) -> tuple[int, str, int] | None:
    """If the tokens of a channel wait for a reduction, or for the end of a fiber, on the way to another input
    of the same node, or as one of the `parts` for those before it: the number of outer indices below which
    they do, what they wait for, and how many fibers wait."""
    own = streams[channel.source]
    best = (parts[channel.name], "the parts before it", 1) if channel.name in parts else None
    if best is None and (passed := _passed(graph, channel, streams)):
        best = len(own.levels) - 1, str(passed), 1
    for port in graph.node[channel.sink.node].inputs:
        other = graph.fanin[Endpoint(channel.sink.node, port.name)].source
        late = [n for n, count in streams[other].waits.items() if count > own.waits.get(n, 0)]
        late += [
            level
            for level, origins in enumerate(own.origins)
            if any(streams[other].delayed.get(o, 0) > own.delayed.get(o, 0) for o in origins)
        ]
        ends = streams[other].ends_behind(own)
        late += [level for level, origins in enumerate(own.origins) if origins & ends]
        if late and (best is None or min(late) < best[0]):
            n = min(late)
            best = (n, str(other), pace.fibers(channel.source, other, own.levels[:n]))
    return best


def _passed(graph: Graph, channel: Channel, streams: Mapping[Endpoint, _Stream]) -> Endpoint | None:
    """The input of an intersection that may be taken to the end of a fiber while the tokens of a channel to
    another input wait, both from the same scanner. Each firing takes one coordinate of both, where a third
    input is further; so the one with fewer of them comes first to the last one."""
    sink = graph.node[channel.sink.node]
    if not sink.spec.thins:
        return None
    heads = {join: graph.fanin[Endpoint(sink.name, join.crd)].source for join in sink.spec.joins(sink.params)}
    sources = set(heads.values())
    for join, source in heads.items():
        if channel.sink.port not in join or len(sources) < 3:
            continue
        own = streams[source]
        for other in sources - {source}:
            shared = own.origins[-1] & streams[other].origins[-1]
            # Nothing comes further than a union that has it, of which nothing was left out.
            below = shared == own.origins[-1] and not any(
                stream.delayed.get(origin) for stream in (own, streams[other]) for origin in shared
            )
            if shared and not below:
                return other
    return None


def _lane_room(
    graph: Graph, channel: Channel, streams: Mapping[Endpoint, _Stream], arch: Arch, extent: Mapping[str, int]
) -> tuple[int, str] | None:
    """The tokens that lanes need room for beyond those of one lane, and why.

    After a scatter and before a gather it only lets a lane be ahead of the others. What passes lanes by must
    have room for the coordinates that are in them: a lane ends a row when it sees its next coordinate, which
    comes a whole round later.
    """
    source, sink = graph.node[channel.source.node], graph.node[channel.sink.node]
    own = streams[channel.source]
    distribution = sink.spec.distribution(sink.params)
    if distribution and distribution.collects:
        inner = own.levels[len(own.levels) - distribution.levels :]
        room = min(arch.lane_tokens, arch.lane_rows * most_tokens(inner, extent, own.shares))
        return room, f"{counted(room, 'token')} of rows that wait for their turn"
    distribution = source.spec.distribution(source.params)
    if distribution and not distribution.collects:
        return arch.lane_rows, f"{counted(arch.lane_rows, 'coordinate')} that a lane may be behind"
    room = 0
    for port in sink.inputs:
        other = streams[graph.fanin[Endpoint(sink.name, port.name)].source]
        for index, lanes in other.turns.items():
            if index in own.levels and own.turns.get(index, 1) < lanes:
                inner = own.levels[own.levels.index(index) + 1 :]
                rows = lanes * (2 if inner else arch.lane_rows + 2)
                room = max(room, rows * most_tokens(inner, extent, own.shares))
    return (room, f"{counted(room, 'token')} of rows that are in lanes") if room else None


def _computed(graph: Graph) -> list[str]:
    """The tensors that a region writes."""
    return [tensor.name for tensor in graph.tensors if tensor.role is not MemoryRole.INPUT]


def permit_more(arch: Arch) -> str:
    """The way out for a channel that would be too deep."""
    return f"permit more than {arch.deepest:,} by 'deepest' of --arch"


def most_tokens(levels: tuple[str, ...], extent: Mapping[str, int], shares: Mapping[str, int]) -> int:
    """The most tokens of a fiber over some levels, with its stop; 1 for none of them.

    Args:
        extent: the greatest of each index.
        shares: by index, how many lanes share its coordinates.
    """
    count = 1
    for level in reversed(levels):
        count = -(-extent[level] // shares.get(level, 1)) * count + 1
    return count
