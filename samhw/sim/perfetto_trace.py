"""Recorded tokens as a trace in Perfetto's own format, in less than half of the room that JSON takes."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from samhw.errors import InputError
from samhw.files import write_bytes
from samhw.sim.chrome_trace import Event, trace_events
from samhw.sim.traced import Runs, traced_regions

__all__ = ["write_perfetto_trace"]

_CYCLE = 1000
"""Nanoseconds that stand for a cycle, as a microsecond does in JSON."""

_SEQUENCE = 1
"""All packets are of one writer."""


def write_perfetto_trace(path: Path, runs: Runs) -> None:
    """Writes what `write_chrome_trace` does, as packets of protobuf.

    Args:
        runs: the regions of a run with their results, in the order in which they ran.

    Raises:
        InputError: if the package perfetto is not installed, the run recorded nothing, or the file cannot be
            written.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
    except ImportError:
        raise InputError(
            "This format needs perfetto; install it with pip install 'samhw[perfetto]', or write .json."
        ) from None
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
        name, process = event["args"]["name"], event["pid"]
        if event["name"] == "process_name":
            found = self._track(process)
            found.track_descriptor.process.pid = process
            found.track_descriptor.process.process_name = name
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
