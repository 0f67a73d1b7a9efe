"""What a command shows of long work, on stderr: a line that changes on a terminal, and elsewhere a sentence
after some seconds of silence."""

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

import click

from samhw.app.workload import Workload, predict_effort
from samhw.limits import memory_limit, say_size
from samhw.sim import Progress as RunProgress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task
    from rich.text import Text

__all__ = ["Line", "building", "follow", "line", "phase", "warn_before"]

SOON, LONG = 30.0, 3600.0
"""Seconds that the speed is averaged over: of a run, which changes engines, and of many pieces of work, one
of which may take minutes."""

LONG_RUN = 90.0
"""Seconds from which on a run is announced."""

QUIET = 10.0
"""Seconds of silence after which a command says, where stderr is no terminal, that it works; then after as
long again as it has taken, so that a log of hours has some lines."""


def _terminal() -> "Console | None":
    """What is written to stderr, where that is a terminal."""
    if not sys.stderr.isatty() and not {"FORCE_COLOR", "TTY_COMPATIBLE"} & os.environ.keys():
        return None
    from rich.console import Console  # Takes a tenth of a second to be imported.

    console = Console(stderr=True)
    return console if console.is_terminal else None


class Line:
    """What is done so far, and of how much."""

    def show(self, done: float, total: float | None, note: str = "") -> None:
        """Shows what is done, of how much (None if nobody knows), and a note after it."""
        raise NotImplementedError


class _Bar(Line):
    """A line with a bar, the time so far and about the time left."""

    def __init__(self, name: str, progress: "Progress"):
        self._name = name
        self._progress = progress

    def show(self, done: float, total: float | None, note: str = "") -> None:
        if not self._progress.tasks:
            self._progress.add_task(self._name, total=total, note=note)
        self._progress.update(self._progress.task_ids[0], completed=done, total=total, note=note)

    def restart(self) -> None:
        """Begins again, without the speed so far."""
        for task in self._progress.task_ids:
            self._progress.remove_task(task)


class _Sentences(Line):
    """What is said where no line can change."""

    def __init__(self, name: str):
        self._name = name
        self._start = monotonic()
        self._done, self._total, self._note = 0.0, None, ""  # type: tuple[float, float | None, str]

    def show(self, done: float, total: float | None, note: str = "") -> None:
        self._done, self._total, self._note = done, total, note

    def say(self, ended: Event) -> None:
        """Says how far the work is, until it has ended."""
        pause = QUIET
        while not ended.wait(pause):
            pause = monotonic() - self._start
            click.echo(f"samhw: {self}", err=True)

    def __str__(self) -> str:
        passed = monotonic() - self._start
        said = [f"{self._name} has worked for {passed:,.0f} s"]
        if self._done or self._total:
            said.append(
                f"{self._done:,.0f} done"
                if self._total is None
                else f"{self._done:,.0f} of {self._total:,.0f} done"
            )
        if self._total and self._done:
            said.append(f"about {passed * (self._total / self._done - 1):,.0f} s left")
        return ", ".join(filter(None, [*said, self._note]))


@contextmanager
def _sentences(name: str) -> Iterator[Line]:
    """Says of work that takes long how far it is, in a thread of its own."""
    shown, ended = _Sentences(name), Event()
    thread = Thread(target=shown.say, args=[ended], daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        ended.set()
        thread.join()


@contextmanager
def _bar(console: "Console", name: str, count: str, window: float) -> Iterator[_Bar]:
    """A line on a terminal; the arguments are those of `line`."""
    # As with the terminal.
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class Left(TimeRemainingColumn):
        def render(self, task: "Task") -> "Text":
            return Text(f"about {super().render(task)} left" if task.time_remaining is not None else "")

    # One line, however narrow the terminal: what does not fit of the note is cut.
    whole, cut = Column(no_wrap=True), Column(no_wrap=True, overflow="ellipsis", ratio=1)
    columns = (
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=24)),
        BarColumn(bar_width=24 if console.width >= 110 else 8),
        TextColumn(count, table_column=whole),
        TimeElapsedColumn(table_column=whole),
        Left(table_column=whole),
        TextColumn("{task.fields[note]}", markup=False, table_column=cut),
    )
    with Progress(
        *columns, console=console, transient=True, expand=True, speed_estimate_period=window
    ) as progress:
        yield _Bar(name, progress)


@contextmanager
def line(name: str, count: str, window: float = LONG, *, begin: str = "") -> Iterator[Line]:
    """A line that goes when the work is done, or sentences where stderr is no terminal.

    Args:
        count: how the line says what is done, with rich's fields of a task.
        window: seconds that the speed is averaged over.
        begin: what is said first where stderr is no terminal, of work that takes long at all times.
    """
    console = _terminal()
    if console is not None:
        with _bar(console, name, count, window) as bar:
            yield bar
        return
    if begin:
        click.echo(f"samhw: {begin}", err=True)
    with _sentences(name) as sentences:
        yield sentences


@contextmanager
def follow(name: str) -> Iterator[Callable[[RunProgress], None] | None]:
    """A line for a run of the simulator. Gives what `simulate` takes as `progress`."""
    console = _terminal()
    if console is None:
        with _sentences(name):
            yield None
        return
    with _bar(console, name, "{task.percentage:>3.0f}%", SOON) as shown:
        running = ""

        def progress(state: RunProgress) -> None:
            nonlocal running
            if state.graph != running:  # A region has a length and a speed of its own.
                running = state.graph
                shown.restart()
            note = f"{state.graph}: {state.firings:,} firings, cycle {state.cycle:,}"
            # When all is read but the run goes on, nobody knows for how long.
            known = state.share is not None and state.share < 1
            shown.show(state.share or 0, 1 if known else None, note)

        yield progress


def _timed(console: "Console") -> "Progress":
    """A line that says what is done and for how long, cut where the terminal is narrower."""
    from rich.progress import Progress, TextColumn, TimeElapsedColumn  # As with the terminal.
    from rich.table import Column

    cut = Column(no_wrap=True, overflow="ellipsis")
    columns = (TextColumn("{task.description}", markup=False, table_column=cut), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Says what takes its time, until it is done."""
    console = _terminal()
    if console is None:
        with _sentences(name):
            yield
        return
    with _timed(console) as progress:
        progress.add_task(name, total=None)
        yield


def warn_before(workloads: Sequence[Workload], *, times: float = 1, jobs: int = 1, rtl: bool = False) -> None:
    """Says on stderr if runs on this data will need more memory than there is, or minutes of time.

    Args:
        times: how often the simulator runs each of them.
        jobs: how many run at the same time.
        rtl: the RTL runs too, cycle by cycle.
    """
    found = [predict_effort(workload.program, workload.tensors) for workload in workloads]
    needed = sum(sorted(effort.bytes for effort in found)[-jobs:])
    if needed > (limit := memory_limit()):
        click.echo(
            f"samhw: this will need about {say_size(needed)} of memory, but there are "
            f"{say_size(limit)}; "
            "if it fails, give smaller data",
            err=True,
        )
    points = sum(effort.points for effort in found) * times
    each = [effort.seconds + (effort.rtl_seconds if rtl else 0) for effort in found]
    seconds = max([*each, sum(each) * times / jobs])
    if seconds > LONG_RUN:
        click.echo(
            f"samhw: about {points:,.0f} points to compute, which takes about "
            f"{max(2, round(seconds / 60)):,} minutes; with smaller data it is quicker",
            err=True,
        )


class _Listener(logging.Handler):
    """Passes on what is logged."""

    def __init__(self, level: int, show: Callable[[str], None]):
        super().__init__(level)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())


@contextmanager
def building(name: str) -> Iterator[None]:
    """Says what is built, if it has to be: on a terminal in a line with the time, which goes when the work is
    done; elsewhere in lines that stay.

    Args:
        name: what the line says at first.
    """
    console = _terminal()
    if console is None:
        listening = _listening(logging.INFO, lambda text: click.echo(f"samhw: {text}", err=True))
        with listening, _sentences(name):
            yield
        return
    with _timed(console) as progress:

        def show(text: str) -> None:
            for task in progress.task_ids:
                progress.remove_task(task)
            progress.add_task(text, total=None)

        show(name)
        with _listening(logging.DEBUG, show):
            yield


@contextmanager
def _listening(level: int, show: Callable[[str], None]) -> Iterator[None]:
    """Has every message of the builds and runs shown."""
    logger = logging.getLogger("samhw")
    listener, before = _Listener(level, show), (logger.level, logger.propagate)
    logger.addHandler(listener)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(listener)
        logger.setLevel(before[0])
        logger.propagate = before[1]
