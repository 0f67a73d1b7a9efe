"""Recorded tokens as a Chrome trace, for Perfetto."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from samhw.files import write_text
from samhw.graph import Channel, Graph, Kind
from samhw.sim.result import Passage
from samhw.sim.traced import Runs, Traced, occupancy, traced_regions

__all__ = ["Event", "trace_events", "write_chrome_trace"]

Event = dict[str, Any]
"""An event of Chrome's format: a name, a slice or a counter."""


def write_chrome_trace(path: Path, runs: Runs) -> None:
    """Writes JSON for https://ui.perfetto.dev or chrome://tracing: one microsecond stands for a cycle.

    Each node is a process. Each channel that it reads is a thread of it, with a slice for each token in the
    cycle of the pop, and a counter of the slots taken. Values are numbers. Where there are several regions, a
    process of their own shows when each of them ran, and the names of nodes begin with that of their region.

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
    for event in trace_events(regions):
        yield comma + json.dumps(event)
        comma = ",\n"
    yield "\n]}\n"


def trace_events(regions: Sequence[Traced]) -> Iterator[Event]:
    """All events; names come before what they name."""
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
            yield from _pops(region.graph, channel, passages, place)
            for cycle, taken in occupancy(passages):
                yield {"ph": "C", "name": f"slots of {text}", "ts": cycle, **place, "args": {"slots": taken}}


def _pops(
    graph: Graph, channel: Channel, passages: Sequence[Passage], place: Mapping[str, int]
) -> Iterator[Event]:
    """A slice for each token: what it is, how long it stood at the channel's end before the node took it, and
    how long the channel had had nothing to take before it came."""
    values = _values(graph, channel, [token.payload for _, _, token in passages])
    before = None
    for (pushed, popped, token), value in zip(passages, values, strict=True):
        ready = pushed + channel.latency
        args = {"pushed": pushed, "kind": token.kind.name, "payload": token.payload}
        args |= {"stood": popped - ready, "empty before": 0 if before is None else max(0, ready - before - 1)}
        name = str(token)
        if token.kind is Kind.VAL and value is not None:
            name = args["value"] = value
        if token.payload.bit_length() > 63:  # Protobuf has no such integer.
            args["payload"] = hex(token.payload)
        yield {"ph": "X", "name": name, "ts": popped, "dur": 1, **place, "args": args}
        before = popped


def _values(graph: Graph, channel: Channel, payloads: Sequence[int]) -> Sequence[str | None]:
    """The numbers that payloads stand for, those of a block one after the other; None for coordinates and
    references, which are such themselves."""
    given = graph.given(graph.node[channel.source.node], channel.source.port)
    kind = given.element
    if kind is None:
        return [None] * len(payloads)
    bits, mask = kind.width, (1 << kind.width) - 1
    words = [[payload >> n * bits & mask for n in range(given.words)] for payload in payloads]
    return [" ".join(map(_number, numbers)) for numbers in kind.decode(words).tolist()]


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"


def _region_events(regions: Sequence[Traced], process: int) -> Iterator[Event]:
    """A slice for each region, from its start to its end."""
    yield _name("process", process, "regions")
    for region in regions:
        span = {"ts": region.start, "dur": region.result.cycles + 1}
        yield {"ph": "X", "name": region.graph.name, **span, "pid": process, "tid": 1}


def _name(what: str, process: int, name: str, **place: int) -> Event:
    return {"ph": "M", "name": f"{what}_name", "pid": process, **place, "args": {"name": name}}
