"""`samhw run --trace`."""

import re
from pathlib import Path
from typing import Any

from samhw.backends import RunResult
from samhw.errors import InputError
from samhw.sim import write_chrome_trace, write_fst, write_vcd

__all__ = ["recording", "write_trace"]


def recording(trace: str | None, window: str | None) -> dict[str, Any]:
    """The simulator's options for a trace."""
    if trace is None:
        if window is not None:
            raise InputError("--window is a part of a trace; add '--trace run.json'.")
        return {}
    if Path(trace).suffix not in (".json", ".vcd", ".fst"):
        raise InputError(f"{trace} is no trace file; give it the suffix .json, .vcd or .fst.")
    if window is None:
        return {"trace": True}
    found = re.fullmatch(r"([0-9]{1,18}):([0-9]{1,18})", window)
    if not found or int(found[1]) >= int(found[2]):
        raise InputError(f"--window {window}: give two cycles, the later one behind, such as 100:200.")
    return {"trace": True, "window": (int(found[1]), int(found[2]))}


def write_trace(path: Path, model: RunResult) -> None:
    """Writes the tokens of a run in the format of the file's suffix."""
    runs = [(region.graph, region.statistics) for region in model.regions if region.statistics is not None]
    assert len(runs) == len(model.regions), "a run without its tokens"
    write = {".json": write_chrome_trace, ".vcd": write_vcd, ".fst": write_fst}[path.suffix]
    write(path, runs)
