"""What viewers of waves show at first of a dump of recorded tokens, in groups that are named: a save file of
GTKWave, and a command file of Surfer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from samhw.errors import InputError
from samhw.files import write_text
from samhw.graph import Channel
from samhw.names import plain
from samhw.sim.traced import Runs, Traced, traced_regions
from samhw.sim.waveform import TOP, region_scopes, scope_of, write_vcd

__all__ = ["write_gtkwave", "write_surfer"]


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
                for signal in ("pop", "kind", "payload", "slots"):
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
    yield from (_DECIMAL, f"{scope}.slots")
