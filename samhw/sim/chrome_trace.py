"""Recorded tokens as a Chrome trace, for Perfetto."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from samhw.files import write_text
from samhw.sim.traced import Runs, Traced, occupancy, traced_regions

__all__ = ["write_chrome_trace"]

Event = dict[str, Any]


def write_chrome_trace(path: Path, runs: Runs) -> None:
    """Writes JSON for https://ui.perfetto.dev or chrome://tracing: one microsecond stands for a cycle.

    Each node is a process. Each channel that it reads is a thread of it, with a slice for each token in the
    cycle of the pop, and a counter of the slots taken. Where there are several regions, a process of their
    own shows when each of them ran, and the names of nodes begin with that of their region.

    Args:
        runs: the regions of a run with their results, in the order in which they ran.

    Raises:
        InputError: if the run recorded nothing, or the file cannot be written.
    """
    write_text(path, _lines(traced_regions(runs)))


def _lines(regions: Sequence[Traced]) -> Iterator[str]:
    """The text, an event in a line: no more than one of them is held."""
    comma = ""
    yield '{"displayTimeUnit": "ms", "traceEvents": [\n'
    for event in _events(regions):
        yield comma + json.dumps(event)
        comma = ",\n"
    yield "\n]}\n"


def _events(regions: Sequence[Traced]) -> Iterator[Event]:
    processes = count(1)  # Viewers have uses of their own for 0.
    several = len(regions) > 1
    if several:
        yield from _region_events(regions, next(processes))
    for region in regions:
        label = f"{region.graph.name}." if several else ""
        numbers: dict[str, int] = {}
        for channel in region.channels:
            node = channel.sink.node
            if node not in numbers:
                numbers[node] = next(processes)
                yield _name("process", numbers[node], label + node)
        for thread, channel in enumerate(region.channels, 1):
            passages = list(region.passages(channel))
            text = f"{channel.sink.port} from {channel.source}"
            place = {"pid": numbers[channel.sink.node], "tid": thread}
            yield _name("thread", place["pid"], text, tid=thread)
            for pushed, popped, token in passages:
                args = {"pushed": pushed, "kind": token.kind.name, "payload": token.payload}
                yield {"ph": "X", "name": str(token), "ts": popped, "dur": 1, **place, "args": args}
            for cycle, taken in occupancy(passages):
                yield {"ph": "C", "name": f"slots of {text}", "ts": cycle, **place, "args": {"slots": taken}}


def _region_events(regions: Sequence[Traced], process: int) -> Iterator[Event]:
    """A slice for each region, from its start to its end."""
    yield _name("process", process, "regions")
    for region in regions:
        span = {"ts": region.start, "dur": region.result.cycles + 1}
        yield {"ph": "X", "name": region.graph.name, **span, "pid": process, "tid": 1}


def _name(what: str, process: int, name: str, **place: int) -> Event:
    return {"ph": "M", "name": f"{what}_name", "pid": process, **place, "args": {"name": name}}
