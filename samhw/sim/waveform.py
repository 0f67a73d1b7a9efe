"""Recorded tokens as dumps of signals for waveform viewers, VCD and FST, and what these show at first.

They show the channels that a run has recorded (`simulate(..., trace=..., window=...)`). A token takes a slot
from its push to its pop. Of tokens that are popped outside the window nothing is known, and so not which
slots are taken.
"""

import errno
import os
import shutil
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count, groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

from samhw.errors import InputError
from samhw.files import reason, replacing_path, write_text
from samhw.graph import Channel
from samhw.names import identifiers, plain
from samhw.sim.token_traces import Runs, Traced, occupancy, traced_regions

__all__ = ["TOP", "region_scopes", "scope_of", "write_fst", "write_gtkwave", "write_surfer", "write_vcd"]

TOP = "samhw"
"""The outermost scope of a dump of signals."""

LEAST, BYTES = 1 << 22, 256
"""Bytes of a file that an FST may take: of any, and for each token, generously."""

HIERARCHIES = (4, 6, 7)
"""Kinds of the block of an FST that names its signals, which is written last."""

CYCLE = 10
"""Units of 1 ns that a cycle takes in a dump of signals; the clock rises at its start."""


def write_vcd(path: Path, runs: Runs) -> None:
    """Writes a value change dump: a clock, and for each channel `pop` (1 in the cycle of a pop), `kind` and
    `payload` of the token popped last, and `slots` (slots taken), unless a window has left tokens out, in a
    scope that is named after its sink.
    Where there are several regions, each has a scope around those of its channels.

    Args:
        runs: the regions of a run with their results, in the order in which they ran.

    Raises:
        InputError: if the run recorded nothing, or the file cannot be written.
    """
    regions = traced_regions(runs)
    write_text(path, (f"{line}\n" for line in _vcd(_scopes(regions), _changes(regions))))


def load_fst() -> Any:
    """The functions of the package pylibfst; raises `InputError` if it is not installed."""
    try:
        from pylibfst import lib
    except ImportError:
        raise InputError(
            "FST needs pylibfst; install it with pip install 'samhw[fst]', or write .vcd."
        ) from None
    return lib


def write_fst(path: Path, runs: Runs) -> None:
    """Writes what `write_vcd` does in the format FST, which takes a fraction of the room.

    Raises:
        InputError: as `write_vcd` does, or if pylibfst is not installed.
    """
    lib = load_fst()
    regions = traced_regions(runs)
    tokens = sum(len(passages) for region in regions for passages in region.result.passages.values())
    try:
        with replacing_path(path) as temporary:
            temporary.open("wb").close()  # The library does not say why it cannot.
            _check_room(temporary.parent, tokens)
            writer = lib.fstWriterCreate(str(temporary).encode(), 1)
            try:
                _fill_fst(lib, writer, _scopes(regions), _changes(regions))
            finally:
                lib.fstWriterClose(writer)
            _check_fst(temporary)
    except (OSError, ValueError) as error:
        raise InputError(f"Cannot write {path} ({reason(error)}); choose another place.") from None


def _fill_fst(lib: Any, writer: Any, top: "_Scope", changes: Iterable["_Change"]) -> None:
    lib.fstWriterSetTimescaleFromString(writer, b"1ns")
    handles: list[tuple[Any, int]] = []

    def declare(scope: _Scope) -> None:
        lib.fstWriterSetScope(writer, lib.FST_ST_VCD_MODULE, scope.name.encode(), b"")
        for signal in scope.signals:
            kind = lib.FST_VT_VCD_INTEGER if signal.kind == "integer" else lib.FST_VT_VCD_WIRE
            name, width = signal.name.encode(), signal.width
            handle = lib.fstWriterCreateVar(writer, kind, lib.FST_VD_IMPLICIT, width, name, 0)
            handles.append((handle, width))
        for inner in scope.scopes:
            declare(inner)
        lib.fstWriterSetUpscope(writer)

    declare(top)
    for time, values in _clocked(changes):
        lib.fstWriterEmitTimeChange(writer, time)
        for number, value in values:
            handle, width = handles[number]
            lib.fstWriterEmitValueChange(writer, handle, f"{value:0{width}b}".encode())


def _check_room(folder: Path, tokens: int) -> None:
    """Raises `OSError` unless this many tokens fit on the disks of a file and of temporary files: the library
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

    name: str
    kind: Literal["wire", "integer"]
    width: int


@dataclass
class _Scope:
    """Signals of a dump. They are numbered as they are declared: those of a scope before those of the scopes
    inside of it."""

    name: str
    signals: tuple[_Signal, ...]
    scopes: list["_Scope"] = field(default_factory=list)

    def all(self) -> Iterator[_Signal]:
        """The signals in the order of their numbers."""
        yield from self.signals
        for scope in self.scopes:
            yield from scope.all()


_Change = tuple[int, int, int]
"""(cycle, number of the signal, its new value)."""


def _scopes(regions: Sequence[Traced]) -> _Scope:
    """What is declared: the clock, and for each channel its signals."""
    top = _Scope(TOP, (_Signal("clk", "wire", 1),))
    names = region_scopes(regions)
    for region in regions:
        scopes = [_channel_scope(region, channel) for channel in region.channels]
        if not names[region.graph.name]:
            top.scopes = scopes
        elif scopes:
            top.scopes.append(_Scope(names[region.graph.name][0], (), scopes))
    return top


def region_scopes(regions: Sequence[Traced]) -> dict[str, tuple[str, ...]]:
    """By region, the scopes between the outermost one and those of its channels: one, or none if there is no
    other region."""
    names = identifiers(region.graph.name for region in regions)
    return {name: (scope,) if len(regions) > 1 else () for name, scope in names.items()}


def scope_of(channel: Channel) -> str:
    """The scope with the signals of a channel."""
    return f"{channel.sink.node}_{channel.sink.port}"


def _channel_scope(region: Traced, channel: Channel) -> _Scope:
    passages = region.result.passages[channel.name]
    width = max(1, *(passage.token.payload.bit_length() for passage in passages))
    signals = (
        _Signal("pop", "wire", 1),
        _Signal("kind", "wire", 2),
        _Signal("payload", "wire", width),
        _Signal("slots", "integer", 32),
    )
    shown = _fields(region, channel)
    return _Scope(scope_of(channel), tuple(signal for signal in signals if signal.name in shown))


def _changes(regions: Sequence[Traced]) -> Iterator[_Change]:
    """All changes but those of the clock, in order. No more is held than those of a region, and of those
    beside it."""
    fields = [[len(_fields(region, channel)) for channel in region.channels] for region in regions]
    firsts = accumulate(map(sum, fields), initial=1)
    late: list[_Change] = []
    ordered = sorted(zip(regions, fields, firsts, strict=False), key=lambda own: own[0].result.start)
    for region, sizes, first in ordered:
        # A token may still leave its channel when the next region runs.
        begun = bisect_left(late, (region.result.start,))
        yield from late[:begun]
        late = late[begun:]
        for channel, pop in zip(region.channels, accumulate(sizes, initial=first), strict=False):
            late += _channel_changes(region, channel, pop)
        late.sort()
    yield from late


def _fields(region: Traced, channel: Channel) -> tuple[str, ...]:
    """The signals of a channel."""
    return ("pop", "kind", "payload", *(("slots",) if region.has_all(channel) else ()))


def _channel_changes(region: Traced, channel: Channel, pop: int) -> Iterator[_Change]:
    """The changes of a channel, whose first signal has the number `pop`."""
    kind, payload, slots = pop + 1, pop + 2, pop + 3
    passages = list(region.passages(channel))
    popped = {passage.popped for passage in passages}
    for _, cycle, token in passages:
        yield from ((cycle, kind, int(token.kind)), (cycle, payload, token.payload))
    for cycle in popped:
        if cycle - 1 not in popped:
            yield cycle, pop, 1
        if cycle + 1 not in popped:
            yield cycle + 1, pop, 0
    for cycle, taken in occupancy(passages) if region.has_all(channel) else ():
        yield cycle, slots, taken


def _clocked(changes: Iterable[_Change]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """The changes with the clock, which runs from the first of them to the last: for each time (ns) at which
    anything changes, (number of the signal, its new value)."""
    following: int | None = None
    for at, group in groupby(changes, key=lambda change: change[0]):
        for cycle in range(at if following is None else following, at):
            yield cycle * CYCLE, [(0, 1)]
            yield cycle * CYCLE + CYCLE // 2, [(0, 0)]
        yield at * CYCLE, [(0, 1), *((signal, value) for _, signal, value in group)]
        yield at * CYCLE + CYCLE // 2, [(0, 0)]
        following = at + 1


def _vcd(top: _Scope, changes: Iterable[_Change]) -> Iterator[str]:
    numbers = count()

    def declare(scope: _Scope) -> Iterator[str]:
        yield f"$scope module {scope.name} $end"
        for signal in scope.signals:
            yield f"$var {signal.kind} {signal.width} s{next(numbers)} {signal.name} $end"
        for inner in scope.scopes:
            yield from declare(inner)
        yield "$upscope $end"

    yield "$timescale 1 ns $end"
    yield from declare(top)
    yield "$enddefinitions $end"
    widths = [signal.width for signal in top.all()]
    for time, values in _clocked(changes):
        yield f"#{time}"
        for number, value in values:
            yield f"{value}s{number}" if widths[number] == 1 else f"b{value:b} s{number}"


# What viewers of waves show at first of a dump of recorded tokens, in groups that are named: a save file of
# GTKWave, and a command file of Surfer.


def write_surfer(path: Path, runs: Runs) -> None:
    """Writes `run.sucl` for a `path` of that name, and beside it its waves, as `write_vcd` does, `run.vcd`.

    The commands are those of Surfer's manual: they load the waves, and add the signals under a divider for
    each region, if there are several, and for each node that reads channels.

    Raises:
        InputError: if the run recorded nothing, a file cannot be written, or Surfer would not find it.
    """
    runs = list(runs)
    waves = path.with_suffix(".vcd")
    if {"#", ";"} & set(waves.name):
        raise InputError(f"{path.name}: in a command of Surfer, # and ; end a file's name; give another one.")
    write_vcd(waves, runs)
    write_text(path, (f"{line}\n" for line in _commands(waves.name, traced_regions(runs))))


def _commands(waves: str, regions: Sequence[Traced]) -> Iterator[str]:
    yield from (f"load_file {waves}", f"variable_add {TOP}.clk")
    scopes = region_scopes(regions)
    for region in regions:
        within = ".".join([TOP, *scopes[region.graph.name]])
        if region.channels and scopes[region.graph.name]:
            yield f"divider_add {scopes[region.graph.name][0]}"
        for node, read in region.readers:
            yield f"divider_add {plain(node)}"
            for channel in read:
                for signal in _fields(region, channel):
                    yield f"variable_add {within}.{scope_of(channel)}.{signal}"
    yield "zoom_fit"


_BIT, _DECIMAL, _HEX = "@28", "@24", "@22"
"""How GTKWave shows the signals that follow."""
_BEGIN, _END = "@800200", "@1000200"
"""A group of signals begins and ends, which a title follows."""
_FOLDED, _FOLDED_END = "@c00200", "@1401200"
"""Of a group that is closed at first."""


def write_gtkwave(path: Path, runs: Runs) -> None:
    """Writes `run.gtkw` for a `path` of that name, and beside it its waves, as `write_vcd` does, `run.vcd`.

    There is a group for each region, if there are several, and in it one for each node, with the channels
    that it reads. Coordinates and references are decimal; values are the words of their type, in hexadecimal
    digits.

    Raises:
        InputError: if the run recorded nothing, or a file cannot be written.
    """
    runs = list(runs)
    waves = path.with_suffix(".vcd")
    write_vcd(waves, runs)
    write_text(path, (f"{line}\n" for line in _saved(waves.name, traced_regions(runs))))


def _saved(waves: str, regions: Sequence[Traced]) -> Iterator[str]:
    yield f'[dumpfile] "{waves}"'
    yield from ("[timestart] 0", "[sst_expanded] 1", _BIT, f"{TOP}.clk")
    scopes = region_scopes(regions)
    for region in regions:
        if not region.channels:
            continue
        within = ".".join([TOP, *scopes[region.graph.name]])
        if scopes[region.graph.name]:
            yield from (_BEGIN, f"-{region.graph.name}")
        for node, read in region.readers:
            yield from (_FOLDED, f"-{node}")
            for channel in read:
                yield from _channel(region, channel, f"{within}.{scope_of(channel)}")
            yield from (_FOLDED_END, f"-{node}")
        if scopes[region.graph.name]:
            yield from (_END, f"-{region.graph.name}")


def _channel(region: Traced, channel: Channel, scope: str) -> Iterator[str]:
    """The signals of a channel, under a title that says from where it comes."""
    graph = region.graph
    element = graph.given(graph.node[channel.source.node], channel.source.port).element
    shown = _DECIMAL if element is None else _HEX
    yield from ("@200", f"-{channel.sink.port} from {channel.source.node}.{channel.source.port}")
    yield from (_BIT, f"{scope}.pop", _DECIMAL, f"{scope}.kind", shown, f"{scope}.payload")
    if region.has_all(channel):
        yield from (_DECIMAL, f"{scope}.slots")
