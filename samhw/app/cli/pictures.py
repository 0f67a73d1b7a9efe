"""Files with pictures, as options: plots, and drawings of graphs."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samhw.app.cli.output import OutputFile
from samhw.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PictureFile", "form_of", "plot_option", "write_plot"]

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
    """Gives a command `plot`, for `write_plot`."""
    return click.option(
        "--plot", type=PictureFile(_PLOTS), metavar="FILE", help=f"{what} (.png, .svg, .pdf)."
    )


def write_plot(name: str, plot: "Callable[[], Figure]") -> None:
    """Writes what `plot` draws to a file, in the form of its suffix."""
    from samhw.app.report.figure import write_figure  # Matplotlib takes half a second to be imported.

    write_figure(Path(name), plot)
