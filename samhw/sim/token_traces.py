"""Recorded tokens as a trace for Perfetto: a Chrome trace, in JSON, or one in Perfetto's own format, in less
than half of the room that JSON takes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple

from samhw.errors import InputError
from samhw.files import write_bytes, write_text
from samhw.graph import Channel, Graph, Kind
from samhw.sim.account import account
from samhw.sim.result import Passage, Result

__all__ = [
    "Runs",
    "Traced",
    "load_perfetto",
    "occupancy",
    "traced_regions",
    "write_chrome_trace",
    "write_perfetto_trace",
]

# What a run has recorded, region by region on the one axis of cycles of the whole run.


Runs = Iterable[tuple[Graph, Result]]
"""The regions of a run with their results, in the order in which they ran."""


class Traced(NamedTuple):
    """A region with what was recorded of it."""

    graph: Graph
    result: Result

    @property
    def runs(self) -> tuple[Result, ...]:
        """Each time that it has run."""
        return self.result.parts or (self.result,)

    @property
    def channels(self) -> list[Channel]:
        """Those of which there is anything to show, in the order of the graph."""
        return [channel for channel in self.graph.channels if self.result.passages.get(channel.name)]

    @property
    def readers(self) -> list[tuple[str, list[Channel]]]:
        """Each node that reads some of them, by name, with what it reads."""
        by_node = groupby(sorted(self.channels, key=_reader), key=_reader)
        return [(node, list(channels)) for node, channels in by_node]

    def has_all(self, channel: Channel) -> bool:
        """Whether all tokens of a channel were recorded: only then is it known which slots are taken."""
        name = channel.name
        return all(len(run.passages[name]) >= run.channels[name].tokens for run in self.runs)

    def passages(self, channel: Channel) -> Iterator[Passage]:
        """What went through a channel, in cycles of the run."""
        for run in self.runs:
            for pushed, popped, token in run.passages[channel.name]:
                yield Passage(run.start + pushed, run.start + popped, token)


def _reader(channel: Channel) -> str:
    return channel.sink.node


def traced_regions(runs: Runs) -> list[Traced]:
    """All regions.

    Raises:
        InputError: if nothing was recorded of any.
    """
    regions = [Traced(graph, result) for graph, result in runs]
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


Event = dict[str, Any]
"""An event of Chrome's format: a name, a slice or a counter."""


def write_chrome_trace(path: Path, runs: Runs) -> None:
    """Writes JSON for https://ui.perfetto.dev or chrome://tracing: one microsecond stands for a cycle.

    Each node is a process. Each channel that it reads is a thread of it, with a slice for each token in the
    cycle of the pop, and a counter of the slots taken, unless a window has left tokens out. Its label is its
    `Account`.
    Values are numbers. Where there are several regions, a process of their own shows when each of them ran,
    and the names of nodes begin with that of their region.

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
                yield _account(region, node, numbers[node])
        for thread, channel in enumerate(region.channels, 1):
            passages = list(region.passages(channel))
            text = f"{channel.sink.port} from {channel.source}"
            place = {"pid": numbers[channel.sink.node], "tid": thread}
            yield _name("thread", place["pid"], text, tid=thread)
            yield from _pops(region.graph, channel, passages, place)
            for cycle, taken in occupancy(passages) if region.has_all(channel) else ():
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
    """A slice for each run of a region, from its start to its end; those side by side are in threads."""
    yield _name("process", process, "regions")
    ends: list[int] = []
    slices = [(run.start, run.cycles + 1, region.graph.name) for region in regions for run in region.runs]
    for start, cycles, name in sorted(slices):
        thread = next((n for n, end in enumerate(ends) if end <= start), len(ends))
        ends[thread : thread + 1] = [start + cycles]
        yield {"ph": "X", "name": name, "ts": start, "dur": cycles, "pid": process, "tid": thread + 1}


def _account(region: Traced, node: str, process: int) -> Event:
    """The label of a process: where the cycles of the node went."""
    spent = account(region.result.nodes[node], region.result.cycles)
    text = ", ".join(f"{cause} {cycles}" for cause, cycles in spent.causes.items() if cycles)
    args = {"labels": f"{text} of {spent.cycles} cycles"}
    return {"ph": "M", "name": "process_labels", "pid": process, "args": args}


def _name(what: str, process: int, name: str, **place: int) -> Event:
    return {"ph": "M", "name": f"{what}_name", "pid": process, **place, "args": {"name": name}}


_CYCLE = 1000
"""Nanoseconds that stand for a cycle, as a microsecond does in JSON."""

_SEQUENCE = 1
"""All packets are of one writer."""


def load_perfetto() -> Any:
    """The messages of the package perfetto; raises `InputError` if it is not installed."""
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        raise InputError(
            "This format needs perfetto; install it with pip install 'samhw[perfetto]', or write .json."
        ) from None
    return perfetto_trace_pb2


def write_perfetto_trace(path: Path, runs: Runs) -> None:
    """Writes what `write_chrome_trace` does, as packets of protobuf.

    Args:
        runs: the regions of a run with their results, in the order in which they ran.

    Raises:
        InputError: if the package perfetto is not installed, the run recorded nothing, or the file cannot be
            written.
    """
    protos = load_perfetto()
    packets = _Packets(protos)
    events = trace_events(traced_regions(runs))
    whole = (protos.Trace(packet=[packet]) for event in events for packet in packets.of(event))
    write_bytes(path, (trace.SerializeToString() for trace in whole))


class _Packets:
    """The packets of events as JSON has them. A process, a thread and a counter are tracks.

    Args:
        protos: the module of Perfetto's messages.
    """

    def __init__(self, protos: Any):
        self._protos = protos
        self._numbers = count(1)
        self._tracks: dict[tuple[object, ...], int] = {}
        self._processes: dict[int, Any] = {}
        self._interned: dict[tuple[str, str], int] = {}

    def of(self, event: Event) -> Iterator[Any]:
        """The packets of an event."""
        match event["ph"]:
            case "M":
                yield self._descriptor(event)
            case "X":
                track = self._tracks.get((event["pid"], event["tid"]))
                if track is None:
                    yield self._descriptor({**event, "name": "thread_name", "args": {"name": "runs"}})
                    track = self._tracks[event["pid"], event["tid"]]
                begin = self._event(event["ts"], track, "TYPE_SLICE_BEGIN")
                begin.track_event.name_iid = self._intern(begin, "event_names", event["name"])
                for name, value in event.get("args", {}).items():
                    note = begin.track_event.debug_annotations.add()
                    note.name_iid = self._intern(begin, "debug_annotation_names", name)
                    if isinstance(value, int):
                        note.int_value = value
                    else:
                        note.string_value_iid = self._intern(begin, "debug_annotation_string_values", value)
                yield begin
                yield self._event(event["ts"] + event["dur"], track, "TYPE_SLICE_END")
            case _:
                key = event["pid"], event["tid"], event["name"]
                if key not in self._tracks:
                    yield self._counter(key)
                slots = event["args"]["slots"]
                yield self._event(event["ts"], self._tracks[key], "TYPE_COUNTER", counter_value=slots)

    def _descriptor(self, event: Event) -> Any:
        """Of a process or a thread, with its name."""
        process = event["pid"]
        if event["name"] == "process_labels":
            found = self._packet()  # The process again, with what more is known of it.
            found.track_descriptor.CopyFrom(self._processes[process])
            found.track_descriptor.process.process_labels.append(event["args"]["labels"])
            return found
        name = event["args"]["name"]
        if event["name"] == "process_name":
            found = self._track(process)
            found.track_descriptor.process.pid = process
            found.track_descriptor.process.process_name = name
            self._processes[process] = found.track_descriptor
            return found
        found = self._track(process, event["tid"])
        found.track_descriptor.parent_uuid = self._tracks[process,]
        found.track_descriptor.name = name
        return found

    def _counter(self, key: tuple[int, int, str]) -> Any:
        process, _, name = key
        found = self._track(*key)
        found.track_descriptor.parent_uuid = self._tracks[process,]
        found.track_descriptor.name = name
        found.track_descriptor.counter.SetInParent()
        return found

    def _track(self, *key: object) -> Any:
        """The packet that describes a new track."""
        packet = self._packet()
        self._tracks[key] = packet.track_descriptor.uuid = next(self._numbers)
        return packet

    def _event(self, cycle: int, track: int, kind: str, **fields: object) -> Any:
        packet = self._packet(timestamp=cycle * _CYCLE)
        types = self._protos.TrackEvent
        packet.track_event.MergeFrom(types(type=getattr(types, kind), track_uuid=track, **fields))
        return packet

    def _intern(self, packet: Any, table: str, text: str) -> int:
        """The number that stands for a text; a packet that is the first to use it says so."""
        if (table, text) not in self._interned:
            number = self._interned[table, text] = next(self._numbers)
            words = text.encode() if table == "debug_annotation_string_values" else text
            field = "str" if isinstance(words, bytes) else "name"
            getattr(packet.interned_data, table).add(iid=number, **{field: words})
        return self._interned[table, text]

    def _packet(self, **fields: object) -> Any:
        """The first one says that nothing stands for anything yet."""
        packet = self._protos.TracePacket
        flags = packet.SEQ_NEEDS_INCREMENTAL_STATE if self._tracks else packet.SEQ_INCREMENTAL_STATE_CLEARED
        return packet(trusted_packet_sequence_id=_SEQUENCE, sequence_flags=flags, **fields)
