"""What a command shows of long work: a line on stderr, where that is a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["bar"]

Show = Callable[[float, float | None, str], None]
"""Is told what is done, of how much (None if nobody knows), and a note to stand behind it."""


@contextmanager
def bar(name: str, count: str = "") -> Iterator[Show]:
    """A line with a bar, the time so far and about the time left; it goes when the work is done.

    Args:
        count: how what is done is written, in the terms of rich's `TextColumn`.
    """
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(count),
        TimeElapsedColumn(),
        TextColumn("about"),
        TimeRemainingColumn(),
        TextColumn("left  {task.fields[note]}"),
    )
    # Every sample of the speed counts for a minute: work is seldom even.
    with Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=60,
    ) as progress:
        task = progress.add_task(name, total=None, note="")

        def show(done: float, total: float | None, note: str) -> None:
            progress.update(task, completed=done, total=total, note=note)

        yield show
