"""A command file of Surfer: what a dump of recorded tokens shows at first, in groups that are named."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from samhw.errors import InputError
from samhw.files import write_text
from samhw.names import plain
from samhw.sim.traced import Runs, Traced, traced_regions
from samhw.sim.waveform import TOP, region_scopes, scope_of, write_vcd

__all__ = ["write_surfer"]


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
