"""Recorded tokens as files for viewers: a Chrome trace (for Perfetto), and a value change dump.

Both show the channels that a run has recorded (`simulate(..., trace=..., window=...)`). A token takes a slot
from its push to its pop; of tokens that are popped outside the window nothing is shown.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from samhw.errors import InputError
from samhw.graph import Channel, Graph
from samhw.sim.result import Passage, Result

__all__ = ["write_chrome_trace", "write_vcd"]

CYCLE = 10
"""Units of 1 ns that a cycle takes in a value change dump; the clock rises at its start."""


def write_chrome_trace(path: Path, graph: Graph, result: Result) -> None:
    """Writes JSON for https://ui.perfetto.dev or chrome://tracing: one microsecond stands for a cycle.

    Each node is a process. Each channel that it reads is a thread of it, with a slice for each token in the
    cycle of the pop, and a counter of the slots taken.

    Raises:
        InputError: if the run recorded nothing, or the file cannot be written.
    """
    numbers = {node.name: n for n, node in enumerate(graph.nodes)}
    channels = _recorded(graph, result)
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "process_name", "pid": numbers[name], "args": {"name": name}}
        for name in dict.fromkeys(channel.sink.node for channel in channels)
    ]
    for thread, channel in enumerate(channels):
        place = {"pid": numbers[channel.sink.node], "tid": thread}
        label = f"{channel.sink.port} from {channel.source}"
        events.append({"ph": "M", "name": "thread_name", **place, "args": {"name": label}})
        passages = result.passages[channel.name]
        for pushed, popped, token in passages:
            args = {"pushed": pushed, "kind": token.kind.name, "payload": token.payload}
            events.append({"ph": "X", "name": str(token), "ts": popped, "dur": 1, **place, "args": args})
        for cycle, taken in _occupancy(passages):
            counter = {"ph": "C", "name": f"slots of {label}", "ts": cycle, **place, "args": {"slots": taken}}
            events.append(counter)
    _write(path, [json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}), "\n"])


def write_vcd(path: Path, graph: Graph, result: Result) -> None:
    """Writes a value change dump: a clock, and for each channel `pop` (1 in the cycle of a pop), `kind` and
    `payload` of the token popped last, and `slots` (slots taken).

    Raises:
        InputError: if the run recorded nothing, or the file cannot be written.
    """
    channels = _recorded(graph, result)
    _write(path, (f"{line}\n" for line in _vcd(channels, result)))


def _vcd(channels: Sequence[Channel], result: Result) -> Iterator[str]:
    yield "$timescale 1 ns $end"
    yield "$scope module samhw $end"
    yield "$var wire 1 ! clk $end"
    changes: list[tuple[int, str]] = []
    for n, channel in enumerate(channels):
        passages = result.passages[channel.name]
        width = max(1, *(passage.token.payload.bit_length() for passage in passages))
        yield f"$scope module {channel.sink.node}_{channel.sink.port} $end"
        yield f"$var wire 1 p{n} pop $end"
        yield f"$var wire 2 k{n} kind $end"
        yield f"$var wire {width} d{n} payload $end"
        yield f"$var integer 32 s{n} slots $end"
        yield "$upscope $end"
        for _, popped, token in passages:
            changes.append((popped + 1, f"0p{n}"))
            changes.append((popped, f"b{token.kind:b} k{n}\nb{token.payload:b} d{n}\n1p{n}"))
        changes += [(cycle, f"b{taken:b} s{n}") for cycle, taken in _occupancy(passages)]
    yield "$upscope $end"
    yield "$enddefinitions $end"

    # The end of a pop comes before the pop of the same cycle, which keeps the signal up.
    changes.sort(key=lambda change: (change[0], not change[1].startswith("0p")))
    first, last = changes[0][0], changes[-1][0]
    by_cycle = {cycle: list(group) for cycle, group in groupby(changes, key=lambda change: change[0])}
    for cycle in range(first, last + 1):
        yield f"#{cycle * CYCLE}"
        yield "1!"
        yield from (text for _, text in by_cycle.get(cycle, ()))
        yield f"#{cycle * CYCLE + CYCLE // 2}"
        yield "0!"


def _recorded(graph: Graph, result: Result) -> list[Channel]:
    """The channels of which there is anything to show, in the order of the graph."""
    channels = [channel for channel in graph.channels if result.passages.get(channel.name)]
    if not channels:
        raise InputError(
            "The run recorded no token; name channels to trace, and a window in which they work."
        )
    return channels


def _occupancy(passages: Iterable[Passage]) -> Iterator[tuple[int, int]]:
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


def _write(path: Path, text: Iterable[str]) -> None:
    try:
        with path.open("w") as file:
            file.writelines(text)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); name another file.") from error
