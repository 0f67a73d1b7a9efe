"""The tokens of a run as a file: for Perfetto, or as waves."""

from pathlib import Path

from samhw.errors import InputError
from samhw.sim import (
    write_chrome_trace,
    write_fst,
    write_gtkwave,
    write_perfetto_trace,
    write_surfer,
    write_vcd,
)
from samhw.targets.backends import RunResult

__all__ = ["check_trace", "write_trace"]

_WRITERS = {
    ".json": write_chrome_trace,
    ".pftrace": write_perfetto_trace,
    ".vcd": write_vcd,
    ".fst": write_fst,
    ".gtkw": write_gtkwave,
    ".sucl": write_surfer,
}


def check_trace(path: Path) -> Path:
    """The path of a trace, whose suffix is one of those that there are; raises `InputError` for another."""
    if path.suffix not in _WRITERS:
        *most, last = _WRITERS
        raise InputError(f"{path} is no trace file; give it the suffix {', '.join(most)} or {last}.")
    return path


def write_trace(path: Path, model: RunResult) -> None:
    """Writes the tokens that a run of the simulator has recorded, in the form of the file's suffix."""
    runs = [(region.graph, region.statistics) for region in model.regions if region.statistics is not None]
    assert len(runs) == len(model.regions), "a run without its tokens"
    _WRITERS[check_trace(path).suffix](path, runs)
