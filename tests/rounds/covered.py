"""A plugin that writes which lines of samhw each test runs, and the time that it takes of a processor.

    SAMHW_COVERED=FOLDER python -m pytest -n 2 -p tests.rounds.covered

`choose.py` reads FOLDER. Needs Python 3.12, whose monitoring costs next to nothing: a line reports once a
test.
"""

import json
import os
import sys
from collections.abc import Generator
from pathlib import Path
from types import CodeType

import pytest

if sys.version_info < (3, 12):
    raise ImportError("The plugin needs Python 3.12.")

PACKAGE = Path(__file__).parents[2] / "samhw"
TOOL = sys.monitoring.COVERAGE_ID

ran: dict[str, int] = {}
"""By file, a bit for each line that has run since a test began."""


def _processor() -> float:
    """Seconds of a processor that this process and those that it has waited for have taken: other programs do
    not make them more."""
    return sum(os.times()[:4])


def _line(code: CodeType, line: int) -> object:
    if code.co_filename.startswith(f"{PACKAGE}{os.sep}"):
        ran[code.co_filename] = ran.get(code.co_filename, 0) | 1 << line
    return sys.monitoring.DISABLE


def pytest_sessionstart() -> None:
    sys.monitoring.use_tool_id(TOOL, "smoke")
    sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, _line)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, None, None]:
    ran.clear()
    sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)
    sys.monitoring.restart_events()
    begin = _processor()
    yield
    seconds = _processor() - begin
    sys.monitoring.set_events(TOOL, sys.monitoring.events.NO_EVENTS)
    lines = {str(Path(file).relative_to(PACKAGE)): f"{bits:x}" for file, bits in ran.items()}
    with open(Path(os.environ["SAMHW_COVERED"]) / f"{os.getpid()}.jsonl", "a", encoding="utf-8") as file:
        print(json.dumps({"test": item.nodeid, "seconds": seconds, "lines": lines}), file=file)
