"""What a run has recorded, region by region on the one axis of cycles of the whole run."""

from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, groupby
from typing import NamedTuple

from samhw.errors import InputError
from samhw.graph import Channel, Graph
from samhw.sim.result import Passage, Result

__all__ = ["Runs", "Traced", "occupancy", "traced_regions"]

Runs = Iterable[tuple[Graph, Result]]
"""The regions of a run with their results, in the order in which they ran."""


class Traced(NamedTuple):
    """A region with what was recorded of it."""

    graph: Graph
    start: int
    """The cycle of the run in which its start is accepted (docs/timing.md, "Regions")."""
    result: Result

    @property
    def channels(self) -> list[Channel]:
        """Those of which there is anything to show, in the order of the graph."""
        return [channel for channel in self.graph.channels if self.result.passages.get(channel.name)]

    @property
    def readers(self) -> list[tuple[str, list[Channel]]]:
        """Each node that reads some of them, by name, with what it reads."""
        by_node = groupby(sorted(self.channels, key=_reader), key=_reader)
        return [(node, list(channels)) for node, channels in by_node]

    def passages(self, channel: Channel) -> Iterator[Passage]:
        """What went through a channel, in cycles of the run."""
        for pushed, popped, token in self.result.passages[channel.name]:
            yield Passage(self.start + pushed, self.start + popped, token)


def _reader(channel: Channel) -> str:
    return channel.sink.node


def traced_regions(runs: Runs) -> list[Traced]:
    """All regions, each where it starts.

    Raises:
        InputError: if nothing was recorded of any.
    """
    runs = list(runs)
    starts = accumulate(chain([0], (result.cycles + 1 for _, result in runs)))
    regions = [Traced(graph, start, result) for (graph, result), start in zip(runs, starts, strict=False)]
    if not any(region.channels for region in regions):
        raise InputError(
            "The run recorded no token; name channels to trace, and a window in which they work."
        )
    return regions


def occupancy(passages: Iterable[Passage]) -> Iterator[tuple[int, int]]:
    """(cycle, slots taken from then on) wherever that changes."""
    steps: dict[int, int] = {}
    for pushed, popped, _ in passages:
        steps[pushed] = steps.get(pushed, 0) + 1
        steps[popped + 1] = steps.get(popped + 1, 0) - 1
    taken = 0
    for cycle in sorted(steps):
        if steps[cycle]:
            taken += steps[cycle]
            yield cycle, taken
