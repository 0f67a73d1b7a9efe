"""What all plots have in common: their colours, their markers, and the files that they become."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from samhw.errors import InputError
from samhw.files import write_bytes

__all__ = [
    "COLOURS",
    "GREY",
    "MARKERS",
    "PLOTS",
    "count_axis",
    "new_figure",
    "style",
    "to_file",
    "write_figure",
]

PLOTS = ("png", "svg", "pdf")
"""The forms of a plot."""

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
"""Of Okabe and Ito, which differ to colour-blind eyes too. Yellow is left out, since white paper hides it."""
MARKERS = "osD^v<>Pp*X"
GREY = "0.45"
"""Of what is there to compare with: a parity line, a grid, a note."""

# The same plot is the same file; texts of an SVG stay texts.
_SETTINGS: dict[Any, Any] = {
    "axes.titlesize": 10,
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "samhw",
    "text.parse_math": False,  # A file may have a dollar in its name.
}
_METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def style(number: int) -> dict[str, Any]:
    """The colour and the marker of the group of that number: no two groups share both before the 77th."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, of a size in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def count_axis(axes: Axes, which: str) -> None:
    """Numbers along an axis, x or y, as 2k and 1.5M, and faint lines beneath the data; after its scale is
    set."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if axis.get_scale() == "log":
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(axis="x" if which == "x" else "y", color="0.9", zorder=0)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def to_file(plot: Callable[[], Figure], form: str) -> bytes:
    """What `plot` draws, as a file in one of `PLOTS`."""
    output = BytesIO()
    with matplotlib.rc_context(_SETTINGS):
        plot().savefig(output, format=form, dpi=150, metadata=_METADATA[form])
    return output.getvalue()


def write_figure(path: Path, plot: Callable[[], Figure]) -> Path:
    """Writes what `plot` draws to a file, in the form of its suffix; returns its path.

    Raises:
        InputError: for a suffix that is none of `PLOTS`, or a file that cannot be written.
    """
    form = path.suffix.lower()[1:]
    if form not in PLOTS:
        forms = " or ".join(f".{name}" for name in PLOTS)
        suffix = f"as {path.suffix}" if form else "without a suffix"
        raise InputError(f"{path}: nothing is drawn {suffix}; give {forms}.")
    write_bytes(path, [to_file(plot, form)])
    return path
