"""Queues: room for further rows of an intermediate between what computes it and what reads it.

Where rows take unequal times on either side, such as those of A X by their neighbours and those of the
product after it all the same, each row would take as long as the slower side. With room for many rows each
side takes its own time, and the region that of the slower one in all. That room is needed on every way from
what must be ahead, which is the intermediate's reducer and all before it, to what follows: also on those
that lead past the reducer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from samhw.compiler.graph_passes import Assembly
from samhw.compiler.graph_passes.depths import most_tokens, permit_more
from samhw.errors import InputError
from samhw.graph import Arch, Channel, Endpoint, Graph, Levels, Node, levels
from samhw.words import counted

__all__ = ["queues", "with_room"]


def queues(assembly: Assembly) -> Assembly:
    """The graph with further room after what has a queue.

    Raises:
        InputError: as `with_room` does.
    """
    if not assembly.queues:
        return assembly
    graph, reasons = with_room(
        assembly.graph, assembly.queues, assembly.extent, assembly.arch, assembly.reasons
    )
    return replace(assembly, graph=graph, reasons=reasons)


def with_room(
    graph: Graph,
    queues: Mapping[Endpoint, int],
    extent: Mapping[str, int],
    arch: Arch,
    reasons: Mapping[str, str],
) -> tuple[Graph, dict[str, str]]:
    """A graph whose channels have room for further rows, and why each channel has the depth that it has.

    Args:
        queues: by the output that gives the values of an intermediate, how many rows of it may wait.
        extent: the greatest extent of each index.
        reasons: why the channels are as deep as they are without queues.

    Raises:
        InputError: for a queue after what no reducer gives, and for a channel that would have to hold too
            much.
    """
    room: dict[str, int] = {}
    behind: dict[str, str] = {}
    for source, rows in queues.items():
        for channel, tokens in _room(graph, _copies(graph, source), rows, extent):
            if tokens > room.get(channel.name, 0):
                room[channel.name], behind[channel.name] = tokens, str(source)
    depths = {c.name: c.depth + room[c.name] for c in graph.channels if c.name in room}
    for name, depth in depths.items():
        if depth > arch.deepest:
            raise InputError(
                f"Channel {name} would have to hold {counted(depth, 'token')}, with the queue after "
                f"{behind[name]}; give it fewer rows, or {permit_more(arch)}."
            )
    found = dict(reasons)
    for name, tokens in room.items():
        own = f"{counted(tokens, 'token')} of the queue after {behind[name]}"
        found[name] = "; ".join(filter(None, (found.get(name), own)))
    return graph.with_depths(depths), found


def _outer_indices(graph: Graph, source: Endpoint) -> int | None:
    """How many indices lie around a row of what an output gives: those around what its reducer reduces, or
    the last reducer before it; None where nothing is reduced."""
    around = levels(graph)
    if (own := _outer(graph.node[source.node], around)) is not None:
        return len(own)
    before = (_outer(graph.node[name], around) for name in graph.before([source.node]))
    outside = [outer for outer in before if outer is not None and outer == around[source][: len(outer)]]
    return max(map(len, outside), default=None)


def _outer(node: Node, around: Mapping[Endpoint, Levels]) -> Levels | None:
    """The indices around what a reducer reduces; None for other nodes."""
    kept = None if node.spec.completes else node.spec.kept(node.params)
    if kept is None:
        return None
    own = around[Endpoint(node.name, node.outputs[0].name)]
    return own[: len(own) - kept]


def _across(graph: Graph, sources: Sequence[str]) -> Iterator[Channel]:
    """The channels from some nodes, and all that they need, to what waits for them: to all after them, and
    what these need besides. Writers wait for nobody."""
    ahead = graph.before(sources)
    waiting = graph.before(graph.behind(sources)) - ahead
    for channel in graph.channels:
        source, sink = channel.source.node, channel.sink.node
        if source in ahead and sink in waiting and graph.node[sink].outputs:
            yield channel


def _copies(graph: Graph, source: Endpoint) -> list[str]:
    """The nodes that an output has become, one in each lane."""
    return [node.name for node in graph.nodes if source.node in (node.name, node.copy_of)]


def _room(
    graph: Graph, sources: Sequence[str], rows: int, extent: Mapping[str, int]
) -> Iterator[tuple[Channel, int]]:
    """The tokens of this many rows in each channel across."""
    if not sources:
        return
    first = graph.node[sources[0]]
    source = Endpoint(first.name, first.outputs[0].name)
    outer = _outer_indices(graph, source)
    if outer is None:
        raise InputError(
            f"A queue after {source} would not help: no sum, or other reduction, gives it row by row; leave "
            "the queue out."
        )
    around = levels(graph)
    row = around[source][:outer]
    for channel in _across(graph, sources):
        own = around[channel.source]
        if len(own) < outer:
            # One of its coordinates serves many rows.
            yield channel, rows // prod(extent[index] for index in row[len(own) :]) + 1
        else:
            yield channel, rows * most_tokens(own[outer:], extent, {})
