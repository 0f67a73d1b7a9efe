"""`samhw run --trace`."""

import re
from pathlib import Path
from typing import Any

from samhw.app.report.trace import check_trace
from samhw.errors import InputError

__all__ = ["recording"]


def recording(trace: str | None, window: str | None) -> dict[str, Any]:
    """The simulator's options for a trace."""
    if trace is None:
        if window is not None:
            raise InputError("--window is a part of a trace; add '--trace run.json'.")
        return {}
    check_trace(Path(trace))
    if window is None:
        return {"trace": True}
    found = re.fullmatch(r"([0-9]{1,18}):([0-9]{1,18})", window)
    if not found or int(found[1]) >= int(found[2]):
        raise InputError(f"--window {window}: give two cycles, the later one last, such as 100:200.")
    return {"trace": True, "window": (int(found[1]), int(found[2]))}
