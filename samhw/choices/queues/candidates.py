"""The queues that a search tries, where parts of a region wait for each other's rows."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.choices.choice import counts_text
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, CompiledRegion, add_queues, estimate_compiled
from samhw.compiler.search.tried import CLEARLY, AutoChoice, Search, Stage, Start, gain_words
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError

__all__ = ["STAGES", "neighbours"]

ROWS = (4, 16, 64, 256, 1024)
"""That are tried."""

MOST_TOKENS = 1 << 14
"""That a queue may add to a channel."""

ENOUGH = 0.998
"""What a longer queue's cycles must come down to before it is taken in the place of a shorter one."""


def _longer(schedule: Schedule, compiled: Compiled, known: TensorStatistics) -> Iterator[Schedule]:
    """The schedule with queues of all intermediates that need some by the estimate, those with few rows
    first."""
    tensors = _waited_for(compiled, known)
    for rows in ROWS if tensors else ():
        yield replace(schedule, queues={**schedule.queues, **dict.fromkeys(tensors, rows)})


def _others(schedule: Schedule, compiled: Compiled, known: TensorStatistics) -> Iterator[Schedule]:
    """The schedule with another queue of one intermediate, or without it."""
    for tensor in dict.fromkeys((*_waited_for(compiled, known), *schedule.queues)):
        others = {name: rows for name, rows in schedule.queues.items() if name != tensor}
        yield from (replace(schedule, queues={**others, tensor: rows}) for rows in ROWS)
        yield replace(schedule, queues=others)


def _fits(compiled: Compiled, without: Compiled) -> bool:
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


def _queued(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """With queues that are no longer than they have to be, where parts of a region wait for each other's
    rows."""
    found = _with_queues(search, best)
    if found.schedule != best.schedule:
        gain = gain_words(search.coupled(best).cycles, found.cycles)
        notes.append(f"queues: {counts_text(found.schedule.queues)}, as rows take unequal times ({gain})")
    return found


def _with_queues(search: Search, best: AutoChoice) -> AutoChoice:
    """With the queues that help, of which no channel becomes deeper than it may."""
    known = search.job.statistics(best.schedule)
    plain = search.coupled(best)
    if known is None or search.given.queues or best.cycles >= CLEARLY * plain.cycles:
        return plain
    longer = list(_longer(best.schedule, best.compiled, known))
    most = next(filter(None, (_fitting(search, way, best) for way in reversed(longer))), plain)
    if most.cycles >= CLEARLY * plain.cycles:
        return plain
    ways = filter(None, (_fitting(search, way, best) for way in longer))
    return next(way for way in ways if ENOUGH * way.cycles <= most.cycles)


def _fitting(search: Search, schedule: Schedule, best: AutoChoice) -> AutoChoice | None:
    """A schedule with queues, with what is expected where rows wait; None where they are too deep, or too
    large."""
    try:
        compiled = add_queues(best.compiled, schedule.queues)
    except InputError:
        return None
    if not _fits(compiled, best.compiled):
        return None
    way = search.coupled(AutoChoice(schedule, compiled, best.cycles))
    return way if search.has_room(way) else None


STAGES: Mapping[str, Stage] = {"long enough": _queued}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With another queue of one intermediate, or without it."""
    return iter(()) if at.known is None else _others(at.schedule, at.compiled, at.known)
