"""Reports as pages, as an option."""

import os
from collections.abc import Callable
from pathlib import Path

import click

from samhw.errors import InputError
from samhw.workload import Workload, predict_effort

__all__ = ["is_short", "report_option", "write_report"]

_RECORDED = 100_000
"""The points of a run up to which a report records every token, and so shows channels and nodes over time."""


class _Directory(click.Path):
    """A directory to write into; neither it nor those around it need be there."""

    name = "directory"

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        value = os.fspath(value)
        try:
            taken = value == "-" or (os.path.lexists(value) and not os.path.isdir(value))
        except ValueError:
            taken = True  # No file can have such a name.
        if taken:
            raise InputError(f"--report {value}: a report is a directory; name one, which may be new.")
        return value


report_option = click.option(
    "--report", type=_Directory(), metavar="DIR", help="Write a report to look at: a page, DIR/index.html."
)
"""Gives a command `report`, for `write_report`."""


def is_short(workload: Workload) -> bool:
    """Whether a run on that data is so short that a report can record every token."""
    return predict_effort(workload.program, workload.tensors).points <= _RECORDED


def write_report(directory: str, page: Callable[[], str], *, quiet: bool) -> None:
    """Writes what `page` makes, and says where unless `quiet`."""
    from samhw.report.page import write_page  # Jinja takes its time to be imported.

    path = write_page(Path(directory), page())
    if not quiet:
        click.echo(f"  report     {path}")
