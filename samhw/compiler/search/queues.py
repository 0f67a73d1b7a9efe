"""The queues that a search tries, where parts of a region wait for each other's rows."""

from collections.abc import Iterator
from dataclasses import replace

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, CompiledRegion, estimate_compiled
from samhw.cost.statistics import TensorStatistics

__all__ = ["fits", "more_queues", "with_queues"]

ROWS = (4, 16, 64, 256, 1024)
"""That are tried."""

MOST_TOKENS = 1 << 14
"""That a queue may add to a channel."""


def with_queues(schedule: Schedule, compiled: Compiled, known: TensorStatistics) -> Iterator[Schedule]:
    """The schedule with queues of all intermediates that need some by the estimate, those with few rows
    first."""
    tensors = _waited_for(compiled, known)
    for rows in ROWS if tensors else ():
        yield replace(schedule, queues={**schedule.queues, **dict.fromkeys(tensors, rows)})


def more_queues(schedule: Schedule, compiled: Compiled, known: TensorStatistics) -> Iterator[Schedule]:
    """The schedule with another queue of one intermediate, or without it."""
    for tensor in dict.fromkeys((*_waited_for(compiled, known), *schedule.queues)):
        others = {name: rows for name, rows in schedule.queues.items() if name != tensor}
        yield from (replace(schedule, queues={**others, tensor: rows}) for rows in ROWS)
        yield replace(schedule, queues=others)


def fits(compiled: Compiled, without: Compiled) -> bool:
    """Whether queues are no deeper than a search makes them.

    Args:
        without: the same without queues.
    """
    before = {channel.name: channel.depth for graph in without.design.regions for channel in graph.channels}
    return all(
        channel.depth - before.get(channel.name, 0) <= MOST_TOKENS
        for graph in compiled.design.regions
        for channel in graph.channels
    )


def _waited_for(compiled: Compiled, known: TensorStatistics) -> list[str]:
    """The intermediates between parts that wait for each other's rows."""
    estimates = {region.name: region for region in estimate_compiled(compiled, known).regions}
    found: dict[str, None] = {}
    for region in compiled.regions:
        estimate = estimates.get(region.graph.name)
        for reducer in estimate.coupled if estimate else ():
            if (tensor := _given_by(region, reducer)) is not None:
                found[tensor] = None
    return list(found)


def _given_by(region: CompiledRegion, reducer: str) -> str | None:
    """The intermediate that a reducer gives, or else the first one that is made of what it gives."""
    sources = {place.source.node: c.tensor for c in region.computations for place in c.places}
    behind = region.graph.behind([reducer])
    made = (sources.get(node.copy_of or node.name) for node in region.graph.nodes if node.name in behind)
    return next(filter(None, made), None)
