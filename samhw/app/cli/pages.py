"""What commands draw, as options: reports as pages, plots, and drawings of graphs."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samhw.app.cli.printed import OutputFile, command_line, note_written
from samhw.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from samhw.app.report.page import Results

__all__ = ["plot_option", "plot_width", "report_option", "write_plot", "write_report", "write_results"]


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
    directory: str, page: Callable[[], str], *, beside: Mapping[str, bytes] | None = None
) -> None:
    """Writes what `page` makes, and the files that lie beside it."""
    from samhw.app.report.page import write_page  # Jinja takes its time to be imported.

    note_written(write_page(Path(directory), page(), beside))


def write_results(
    directory: str,
    results: "Callable[[], Results]",
    *,
    beside: Mapping[str, bytes] | None = None,
) -> None:
    """Writes results as a page, as `write_report` does."""
    from samhw.app.report.page import results_page
    from samhw.app.report.run_report import origin

    def page() -> str:
        return results_page(results(), origin(command_line()))

    write_report(directory, page, beside=beside)


_PLOTS = ("png", "svg", "pdf")


class PictureFile(OutputFile):
    """A file whose suffix is the form of a picture; another is refused before the command does anything.

    Args:
        forms: suffixes without their dots.
        text: a form that has no suffix of its own: it also goes to stdout, as `-`.
    """

    def __init__(self, forms: Sequence[str], text: str | None = None) -> None:
        super().__init__(dir_okay=False, allow_dash=text is not None)
        self.forms = forms
        self.text = text

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        name = str(super().convert(value, param, ctx))
        suffix = Path(name).suffix
        if form_of(name) not in self.forms and not (self.text and not suffix):
            option = f"{param.opts[-1]} " if param else ""
            raise InputError(
                f"{option}{name}: nothing is drawn {f'as {suffix}' if suffix else 'without a suffix'}; "
                f"give {' or '.join(f'.{form}' for form in self.forms)}."
            )
        return name


def form_of(name: str) -> str:
    """The form that a file's suffix names; empty for none."""
    return Path(name).suffix.lower()[1:]


def plot_option(what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command `plot`, for `write_plot`, which is as wide as --width says."""

    def given(command: Callable[..., None]) -> Callable[..., None]:
        width = click.option(
            "--width",
            metavar="N[in|cm|mm|pt]",
            expose_value=False,
            callback=_keep_width,
            help="Of the plot, such as 3.3in for a column of a paper.",
        )
        plot = click.option(
            "--plot", type=PictureFile(_PLOTS), metavar="FILE", help=f"{what} (.png, .svg, .pdf)."
        )
        return plot(width(command))

    return given


_WIDTH = "samhw.width"
"""In the context of a command, the width of its plot in inches."""
_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}


def _keep_width(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(in|cm|mm|pt)", value)
    inches = float(found[1]) * _INCHES[found[2]] if found else 0
    if not 1 <= inches <= 40:
        raise InputError(f"--width {value}: give 1 to 40 inches, as in 3.3in or 8.4cm.")
    ctx.meta[_WIDTH] = inches


def write_plot(name: str, plot: "Callable[[], Figure]") -> None:
    """Writes what `plot` draws to a file, in the form of its suffix."""
    from samhw.app.report.plots import write_figure  # Matplotlib takes half a second to be imported.

    write_figure(Path(name), plot, plot_width())


def plot_width() -> float | None:
    """What --width says, in inches."""
    width: float | None = click.get_current_context().meta.get(_WIDTH)
    return width
