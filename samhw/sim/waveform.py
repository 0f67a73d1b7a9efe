"""Recorded tokens as files for viewers: a Chrome trace (for Perfetto), and dumps of signals, VCD and FST.

All show the channels that a run has recorded (`simulate(..., trace=..., window=...)`). A token takes a slot
from its push to its pop; of tokens that are popped outside the window nothing is shown.
"""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

from samhw.errors import InputError
from samhw.files import reason, replacing_path, write_text
from samhw.graph import Channel, Graph
from samhw.sim.result import Passage, Result

__all__ = ["write_chrome_trace", "write_fst", "write_vcd"]

TOP = "samhw"
"""The outermost scope of a dump of signals."""

LEAST, BYTES = 1 << 22, 256
"""Bytes of a file that an FST may take: of any, and for each token, generously."""

HIERARCHIES = (4, 6, 7)
"""Kinds of the block of an FST that names its signals, which is written last."""

CYCLE = 10
"""Units of 1 ns that a cycle takes in a dump of signals; the clock rises at its start."""


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
    write_text(path, [json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}), "\n"])


def write_vcd(path: Path, graph: Graph, result: Result) -> None:
    """Writes a value change dump: a clock, and for each channel `pop` (1 in the cycle of a pop), `kind` and
    `payload` of the token popped last, and `slots` (slots taken).

    Raises:
        InputError: if the run recorded nothing, or the file cannot be written.
    """
    signals, changes = _signals(graph, result)
    write_text(path, (f"{line}\n" for line in _vcd(signals, changes)))


def write_fst(path: Path, graph: Graph, result: Result) -> None:
    """Writes what `write_vcd` does in the format FST, which takes a fraction of the room.

    Raises:
        InputError: as `write_vcd` does, or if pylibfst is not installed.
    """
    try:
        from pylibfst import lib
    except ImportError:
        raise InputError(
            "FST needs pylibfst; install it with pip install 'samhw[fst]', or write .vcd."
        ) from None
    signals, changes = _signals(graph, result)
    try:
        with replacing_path(path) as temporary:
            temporary.open("wb").close()  # The library does not say why it cannot.
            _check_room(temporary.parent, sum(map(len, result.passages.values())))
            writer = lib.fstWriterCreate(str(temporary).encode(), 1)
            try:
                _fill_fst(lib, writer, signals, changes)
            finally:
                lib.fstWriterClose(writer)
            _check_fst(temporary)
    except (OSError, ValueError) as error:
        raise InputError(f"Cannot write {path} ({reason(error)}); choose another place.") from None


def _fill_fst(lib: Any, writer: Any, signals: Sequence["_Signal"], changes: "_Changes") -> None:
    lib.fstWriterSetTimescaleFromString(writer, b"1ns")
    lib.fstWriterSetScope(writer, lib.FST_ST_VCD_MODULE, TOP.encode(), b"")
    handles = []
    for scope, group in groupby(signals, key=lambda signal: signal.scope):
        if scope:
            lib.fstWriterSetScope(writer, lib.FST_ST_VCD_MODULE, scope.encode(), b"")
        for signal in group:
            kind = lib.FST_VT_VCD_INTEGER if signal.kind == "integer" else lib.FST_VT_VCD_WIRE
            name, width = signal.name.encode(), signal.width
            handles.append(lib.fstWriterCreateVar(writer, kind, lib.FST_VD_IMPLICIT, width, name, 0))
        if scope:
            lib.fstWriterSetUpscope(writer)
    lib.fstWriterSetUpscope(writer)
    for time, values in changes:
        lib.fstWriterEmitTimeChange(writer, time)
        for number, value in values:
            bits = f"{value:0{signals[number].width}b}".encode()
            lib.fstWriterEmitValueChange(writer, handles[number], bits)


def _check_room(folder: Path, tokens: int) -> None:
    """Raises `OSError` unless so many tokens fit on the disks of a file and of temporary files: the library
    maps them into memory, and a write that finds no room would end the process."""
    for place in (folder, Path(tempfile.gettempdir())):
        if shutil.disk_usage(place).free < LEAST + BYTES * tokens:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _check_fst(path: Path) -> None:
    """Follows the blocks of a file, each a byte for its kind and its length, since the library does not say
    that a disk was full. Raises `OSError` unless the last one is that of the signals, and ends the file."""
    end, size, kind = 0, path.stat().st_size, None
    with path.open("rb") as file:
        while end < size:
            file.seek(end)
            kind, *length = file.read(9)
            end += 1 + max(8, int.from_bytes(bytes(length), "big"))
    if end != size or kind not in HIERARCHIES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _Signal(NamedTuple):
    """A signal of a dump."""

    scope: str
    """Inside of the outermost one; empty for that itself."""
    name: str
    kind: Literal["wire", "integer"]
    width: int


_Changes = Iterator[tuple[int, list[tuple[int, int]]]]
"""In the order of time (ns), (number of the signal, its new value) for all that change then."""


def _signals(graph: Graph, result: Result) -> tuple[list[_Signal], _Changes]:
    """The signals of a dump and their changes."""
    signals = [_Signal("", "clk", "wire", 1)]
    changes: list[tuple[int, int, int]] = []
    for channel in _recorded(graph, result):
        passages = result.passages[channel.name]
        scope = f"{channel.sink.node}_{channel.sink.port}"
        width = max(1, *(passage.token.payload.bit_length() for passage in passages))
        pop = len(signals)
        kind, payload, slots = pop + 1, pop + 2, pop + 3
        signals += [
            _Signal(scope, "pop", "wire", 1),
            _Signal(scope, "kind", "wire", 2),
            _Signal(scope, "payload", "wire", width),
            _Signal(scope, "slots", "integer", 32),
        ]
        popped = {passage.popped for passage in passages}
        changes += [(cycle + 1, pop, 0) for cycle in popped if cycle + 1 not in popped]
        for _, cycle, token in passages:
            changes += [(cycle, kind, int(token.kind)), (cycle, payload, token.payload)]
        changes += [(cycle, pop, 1) for cycle in popped if cycle - 1 not in popped]
        changes += [(cycle, slots, taken) for cycle, taken in _occupancy(passages)]
    return signals, _clocked(sorted(changes))


def _clocked(changes: Sequence[tuple[int, int, int]]) -> _Changes:
    """The changes, (cycle, signal, value), with the clock."""
    by_cycle = {
        cycle: [(signal, value) for _, signal, value in group]
        for cycle, group in groupby(changes, key=lambda change: change[0])
    }
    for cycle in range(changes[0][0], changes[-1][0] + 1):
        yield cycle * CYCLE, [(0, 1), *by_cycle.get(cycle, ())]
        yield cycle * CYCLE + CYCLE // 2, [(0, 0)]


def _vcd(signals: Sequence[_Signal], changes: _Changes) -> Iterator[str]:
    yield "$timescale 1 ns $end"
    yield f"$scope module {TOP} $end"
    for scope, group in groupby(enumerate(signals), key=lambda item: item[1].scope):
        if scope:
            yield f"$scope module {scope} $end"
        for number, signal in group:
            yield f"$var {signal.kind} {signal.width} s{number} {signal.name} $end"
        if scope:
            yield "$upscope $end"
    yield "$upscope $end"
    yield "$enddefinitions $end"
    for time, values in changes:
        yield f"#{time}"
        for number, value in values:
            yield f"{value}s{number}" if signals[number].width == 1 else f"b{value:b} s{number}"


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
