"""What all tests have: Ctrl-C, random examples that are the same in every run, without a limit on their time,
which depends on the machine, Python's collector out of the way, and a word now and then on how far they are,
since some dots take minutes. `--arch` gives them other latencies than the default."""

import gc
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from xdist.scheduler import WorkStealingScheduling

from tests.rounds import choose
from tests.support.thorough import THOROUGH

settings.register_profile("samhw", deadline=None, derandomize=True)
settings.register_profile("anew", deadline=None, derandomize=False)
settings.load_profile("samhw")

# A shell that runs the tests in the background has them ignore Ctrl-C, and with them all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The workers share the processors; threads of NumPy's and PyTorch's, which wait for each other in loops, take
# of them and give nothing.
os.environ.setdefault("OMP_NUM_THREADS", "1")

SMOKE, SLOW, DEEP = (choose.listed(file) for file in (choose.SMOKE, choose.SLOW, choose.DEEP))
"""The tests of the round of a minute, the functions of tests that are slow, and their cases that are for the
nightly alone."""

EVERY = 30.0
"""Seconds between two lines."""

COLLECTED = pytest.StashKey[frozenset[str]]()
"""The tests that were found, before any of them is left out."""


class Progress:
    """Ends a line of dots with the count when a test ends and the last line is long ago."""

    def __init__(self, reporter: pytest.TerminalReporter, session: pytest.Session | None = None):
        self.reporter = reporter
        self.session = session
        self.ended = 0
        self.failed = 0
        self.begin = self.told = time.monotonic()

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed += report.failed

    def pytest_runtest_logfinish(self) -> None:
        self.ended += 1
        now = time.monotonic()
        if now - self.told >= EVERY and self.session:
            self.told = now
            minutes, seconds = divmod(round(now - self.begin), 60)
            self.reporter.write(
                f" {self.ended:,} of {self.session.testscollected:,} tests, {self.failed} failed, "
                f"{minutes}:{seconds:02} minutes\n"
            )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WorkStealingScheduling:
    """A worker that is done takes over what another one has not begun."""
    return WorkStealingScheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--arch",
        metavar="NAME",
        help="the latencies of whatever names none: a profile, an arch.json, or a number that draws some",
    )


def set_arch(name: str) -> None:
    """Has `Arch()` give these latencies, and with it all that names no others. A command in a process of its
    own keeps the default."""
    from samhw.graph import Arch
    from tests.support.program_cases import random_arch

    arch = random_arch(np.random.default_rng(int(name))) if name.isdecimal() else Arch.load(name)
    given = {field.name: getattr(arch, field.name) for field in fields(Arch)}
    make = Arch.__init__

    def made(self: Arch, **chosen: Any) -> None:
        make(self, **given | chosen)

    Arch.__init__ = made  # type: ignore[method-assign, assignment]


def pytest_report_header(config: pytest.Config) -> str | None:
    return config.option.arch and f"arch: {config.option.arch}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The round of a minute opens no file that has none of its tests."""
    if config.option.markexpr != "smoke" or collection_path.suffix != ".py":
        return None
    return str(collection_path.relative_to(config.rootpath)) not in {
        test.partition("::")[0] for test in SMOKE
    }


def _for_the_nightly(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Of the cases of each test that is marked `nightly(but=n)`, all but n that lie evenly among them."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("nightly"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for of_one in cases.values():
        marker = of_one[0].get_closest_marker("nightly")
        but = min(marker.kwargs.get("but", 0), len(of_one)) if marker else 0
        kept = {n * len(of_one) // but for n in range(but)}
        yield from (item for n, item in enumerate(of_one) if n not in kept)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is for the nightly, and what only the default latencies give. The slow tests come
    first, so that no worker is left with a long one at the end."""
    config.stash[COLLECTED] = frozenset(item.nodeid for item in items)
    for item in items:
        if item.nodeid in SMOKE:
            item.add_marker(pytest.mark.smoke)
        if item.nodeid.partition("[")[0] in SLOW:
            item.add_marker(pytest.mark.slow)
        if item.nodeid in DEEP and not item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.nightly)
    if not THOROUGH and config.option.markexpr not in ("nightly", "smoke"):
        late = {item for item in items if item.nodeid in DEEP}.union(_for_the_nightly(items))
        if late:
            config.hook.pytest_deselected(items=list(late))
            items[:] = [item for item in items if item not in late]
    if config.option.arch:
        for item in items:
            if item.get_closest_marker("default_arch"):
                item.add_marker(pytest.mark.skip(reason="has the cycles of the default latencies in it"))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there before the first test, PyTorch and all tests among it, stays to the end: the collector
    need not walk through it, and rarely through the rest. That is a tenth of the tests' time in Python."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    whole = session.config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if session.config.option.markexpr == "smoke" and whole:
        gone = SMOKE - {item.nodeid for item in session.items}
        if gone:
            raise pytest.UsageError(
                f"{choose.SMOKE.name} lists tests that are gone: {', '.join(sorted(gone))}"
            )


@pytest.hookimpl(trylast=True)  # After the plugin that reports.
def pytest_configure(config: pytest.Config) -> None:
    if config.option.arch:
        set_arch(config.option.arch)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and config.option.verbose >= 0 and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(reporter), "samhw-progress")
