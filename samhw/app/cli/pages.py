"""Reports as pages, as an option."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samhw.app.cli.output import command_line
from samhw.errors import InputError

if TYPE_CHECKING:
    from samhw.app.report.results import Results

__all__ = ["report_option", "write_report", "write_results"]


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
"""Gives a command `report`, for `write_report` or `write_results`."""


def write_report(
    directory: str, page: Callable[[], str], *, quiet: bool, beside: Mapping[str, bytes] | None = None
) -> None:
    """Writes what `page` makes, and the files that lie beside it; says where unless `quiet`."""
    from samhw.app.report.page import write_page  # Jinja takes its time to be imported.

    path = write_page(Path(directory), page(), beside)
    if not quiet:
        click.echo(f"  report     {path}")


def write_results(
    directory: str,
    results: "Callable[[], Results]",
    *,
    quiet: bool,
    beside: Mapping[str, bytes] | None = None,
) -> None:
    """Writes results as a page, as `write_report` does."""
    from samhw.app.report.origin import origin
    from samhw.app.report.results import results_page

    def page() -> str:
        return results_page(results(), origin(command_line()))

    write_report(directory, page, quiet=quiet, beside=beside)
