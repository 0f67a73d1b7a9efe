"""What plots have in common: their colours, their markers, and the files that they become; and the plots of
`samhw accuracy`, `correlate` and `tune`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

from samhw.app.checking.types_search import TunedTypes
from samhw.app.report.grids import furthest
from samhw.app.sweep.tuning import Tuned
from samhw.errors import InputError
from samhw.files import write_bytes

__all__ = [
    "COLOURS",
    "GREY",
    "MARKERS",
    "PLOTS",
    "correlation_files",
    "count_axis",
    "new_figure",
    "plot_accuracy",
    "plot_correlation",
    "plot_tuned",
    "plot_types",
    "style",
    "to_file",
    "write_figure",
]


def plot_tuned(tuned: Tuned) -> Figure:
    """A point for each schedule that was simulated, and the line of those that no other one beats."""
    figure = new_figure(6.4, 4.4)
    plot = figure.subplots()
    front = tuned.front
    others = [trial for trial in tuned.trials if trial not in front]
    for number, (name, trials) in enumerate(
        (("others", others), ("Pareto front", front), ("as written", [tuned.written]), ("best", [tuned.best]))
    ):
        # What lies between two points of a front is beaten by the cheaper one.
        line = {"linestyle": "-", "drawstyle": "steps-post"} if name == "Pareto front" else {"linestyle": ""}
        placed = sorted((tuned.price(trial), trial.cycles) for trial in trials)
        size = _marker(number)
        look = {**style(number), **line, "markersize": size, "fillstyle": "none" if number > 1 else "full"}
        plot.plot([price for price, _ in placed], [cycles for _, cycles in placed], label=name, **look)
    count_axis(plot, "x")
    count_axis(plot, "y")
    plot.set_xlabel(tuned.currency)
    plot.set_ylabel("cycles")
    plot.set_title(f"{tuned.bought} of {len(tuned.trials)} schedules on {tuned.on}")
    plot.legend()
    return figure


def plot_types(tuned: TunedTypes) -> Figure:
    """A point for each choice of types, and the line of those that no other one beats; errors of 0 lie at the
    left end."""
    figure = new_figure(6.4, 4.4)
    plot = figure.subplots()
    points = [point for point in tuned.points if point.error < float("inf")]
    others = [point for point in points if point not in tuned.front]
    for number, (name, held) in enumerate(
        (
            ("others", others),
            ("Pareto front", tuned.front),
            ("its own", [tuned.first]),
            ("best", [tuned.best]),
        )
    ):
        line = {"linestyle": "-", "drawstyle": "steps-post"} if name == "Pareto front" else {"linestyle": ""}
        look = {**style(number), **line, "markersize": _marker(number)}
        look["fillstyle"] = "none" if number > 1 else "full"
        placed = sorted(map(tuned.place, held))
        plot.plot([error for error, _ in placed], [price for _, price in placed], label=name, **look)
    plot.axvline(max(tuned.limit, tuned.least_shown), color=GREY, linewidth=0.8, zorder=0)
    plot.set_xscale("log")
    plot.xaxis.set_major_formatter(FuncFormatter(lambda error, _: f"{error:.0e}"))
    plot.xaxis.set_minor_formatter(NullFormatter())
    count_axis(plot, "y")
    plot.set_xlabel("relative error (norm)")
    plot.set_ylabel(tuned.currency)
    plot.set_title(f"types on {tuned.data}")
    plot.legend()
    return figure


def _marker(number: int) -> float:
    """The size of a group's marks: a point that is two things shows both."""
    size: float = matplotlib.rcParams["lines.markersize"]
    return size * (1.5 if number > 1 else 1)


_NAMES_IN_A_COLUMN = 30
"""Of the legend."""


def plot_correlation(rows: Sequence[Mapping[str, Any]], r2: float) -> Figure:
    """RTL over model cycles on logarithmic axes, with the parity line. `rows` as in the JSON report."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    columns = -(-len(names) // _NAMES_IN_A_COLUMN) or 1
    figure = new_figure(5.2 + 1.9 * columns, 4.8)
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel="simulator, cycles", ylabel="RTL, cycles")
    for number, name in enumerate(names):
        mine = [row for row in rows if row["name"] == name]
        axes.plot(
            [row["model_cycles"] for row in mine],
            [row["rtl_cycles"] for row in mine],
            linestyle="none",
            alpha=0.8,
            label=name,
            **style(number),
        )
    counts = [row[key] for row in rows for key in ("model_cycles", "rtl_cycles")]
    ends = [min(counts, default=1) * 0.8, max(counts, default=10) * 1.25]
    axes.plot(ends, ends, linestyle="--", linewidth=1, color=GREY, zorder=1, label="equal")
    count_axis(axes, "x")
    count_axis(axes, "y")
    equal = sum(furthest(row) == 0 for row in rows)
    axes.set_title(f"{equal} of {len(rows)} cycle counts equal, R² = {r2:.6g}")
    figure.legend(loc="outside right upper", fontsize="small", frameon=False, ncols=columns)
    return figure


def correlation_files(report: Mapping[str, Any]) -> dict[str, bytes]:
    """What lies beside the page: the numbers, and their plot."""

    def drawn() -> Figure:
        return plot_correlation(report["kernels"], report["r2"])

    return {
        "correlation.json": json.dumps(report, indent=2).encode() + b"\n",
        "correlation.svg": to_file(drawn, "svg"),
        "correlation.png": to_file(drawn, "png"),
    }


def plot_accuracy(title: str, points: Sequence[tuple[str, str, float]]) -> Figure:
    """A point for each input, beside each other for the results of a type; on the line below lie those
    without an error, which a logarithm has no place for.

    Args:
        points: value type, result, and relative error.
    """
    values = list(dict.fromkeys(value for value, _, _ in points))
    results = list(dict.fromkeys(result for _, result, _ in points))
    finite = [error for _, _, error in points if 0 < error < float("inf")]
    floor = min(finite, default=1e-7) / 10
    ceiling = max(finite, default=1e-7) * 10
    figure = new_figure(max(4.8, 1.2 * len(values) + 2), 3.8)
    plot = figure.subplots()
    for number, result in enumerate(results):
        beside = _beside(number, len(results))
        held = [(values.index(value) + beside, error) for value, of, error in points if of == result]
        ys = [min(max(error, floor), ceiling) for _, error in held]
        plot.plot([x for x, _ in held], ys, **style(number), linestyle="", alpha=0.7, label=result)
    plot.set_yscale("log")
    plot.yaxis.set_major_formatter(FuncFormatter(lambda error, _: f"{error:.0e}"))
    plot.set_xticks(range(len(values)), values)
    plot.set_xlim(-0.6, len(values) - 0.4)
    for error, line, word in ((0.0, floor, "exact"), (float("inf"), ceiling, "infinite")):
        if any(found == error for _, _, found in points):
            plot.axhline(line, color=GREY, linewidth=0.8, zorder=0)
            plot.annotate(word, (len(values) - 0.42, line), ha="right", va="bottom", color=GREY)
    plot.grid(axis="y", color="0.9", zorder=0)
    plot.set_axisbelow(True)
    plot.spines[["top", "right"]].set_visible(False)
    plot.set_ylabel("relative error (norm)")
    plot.set_title(title)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _beside(number: int, count: int) -> float:
    """Where the points of a result stand, of this many."""
    return (number - (count - 1) / 2) * min(0.2, 0.6 / count)


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
    "figure.titlesize": 10,
    "font.size": 9,
    "pdf.fonttype": 42,  # LaTeX and its publishers take no fonts of Type 3.
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "samhw",
    "text.parse_math": False,  # A file may have a dollar in its name.
}
_SCALED = ("axes.titlesize", "figure.titlesize", "font.size", "lines.markersize")
"""What becomes smaller in a narrow plot. Other sizes of texts are relative to these."""
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


def to_file(plot: Callable[[], Figure], form: str, width: float | None = None) -> bytes:
    """What `plot` draws, as a file in one of `PLOTS`; its width in inches is by default the plot's own."""
    output = BytesIO()
    with matplotlib.rc_context(_SETTINGS):
        figure = plot()
    own, height = figure.get_size_inches()
    letters = max(0.6, min(1.0, (width or own) / own))
    sizes = {name: _SETTINGS.get(name, 6) * letters for name in _SCALED}
    with matplotlib.rc_context(_SETTINGS | (sizes if letters < 1 else {})):
        if width is not None:
            figure = plot() if letters < 1 else figure
            figure.set_size_inches(width, max(height * width / own, min(height, 0.7 * width)))
        _fit(figure)
        figure.savefig(output, format=form, dpi=150 if width is None else 300, metadata=_METADATA[form])
    return output.getvalue()


_ROUNDS = 4
"""Of folding, each of which moves what stands in a figure."""


def _fit(figure: Figure) -> None:
    """Folds the titles, and the labels beneath axes, that would be cut or meet what stands beside them; thins
    or turns the numbers along axes that would meet each other."""
    written: dict[Text, list[str]] = {}
    for _ in range(_ROUNDS):
        figure.draw_without_rendering()  # Places everything.
        changed = [_apart(axes) for axes in figure.axes]
        changed += [_fold(text, room, written) for text, room in _rooms(figure)]
        if not any(changed):
            break


def _rooms(figure: Figure) -> Iterator[tuple[Text, tuple[float, float]]]:
    """The centred texts of a figure, and where the room of each begins and ends, in pixels."""
    if figure._suptitle is not None:  # type: ignore[attr-defined]
        yield figure._suptitle, (0, figure.bbox.width)  # type: ignore[attr-defined]
    beside = [one.get_window_extent() for one in (*figure.axes, *figure.legends)]
    for axes in figure.axes:
        own = axes.get_window_extent()
        row = [other for other in beside if other.y0 < own.y1 and own.y0 < other.y1]
        left = max([(other.x1 + own.x0) / 2 for other in row if other.x1 <= own.x0], default=0.0)
        right = min([(other.x0 + own.x1) / 2 for other in row if own.x1 <= other.x0], default=figure.bbox.x1)
        for text in (axes.title, axes.xaxis.label):
            yield text, (left, right)


def _fold(text: Text, room: tuple[float, float], written: dict[Text, list[str]]) -> bool:
    """Folds the lines of a text that leaves its room; says whether it did."""
    box = text.get_window_extent()
    middle = (box.x0 + box.x1) / 2
    width = 2 * min(middle - room[0], room[1] - middle) - 8
    if box.width <= width:
        return False
    longest = max(map(len, text.get_text().splitlines()))
    letters = max(8, min(longest - 1, int(width / box.width * longest)))
    lines = written.setdefault(text, text.get_text().splitlines())
    text.set_text("\n".join(fill(line, letters) for line in lines))
    return True


def _apart(axes: Axes) -> bool:
    """Thins the numbers of a logarithmic axis x that meet, and turns words that do; says whether it did."""
    low, high = axes.get_xlim()
    labels = [tick.label1 for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: float(box.x0))
    if all(one.x1 + 3 <= other.x0 for one, other in pairwise(boxes)):
        return False
    if axes.get_xscale() == "log":
        axes.xaxis.set_major_locator(LogLocator())
    else:
        for label in labels:
            label.set(rotation=45, ha="right", rotation_mode="anchor")
    return True


def write_figure(path: Path, plot: Callable[[], Figure], width: float | None = None) -> Path:
    """Writes what `plot` draws to a file, in the form of its suffix; returns its path. The width is in
    inches, by default the plot's own.

    Raises:
        InputError: for a suffix that is none of `PLOTS`, or a file that cannot be written.
    """
    form = path.suffix.lower()[1:]
    if form not in PLOTS:
        forms = " or ".join(f".{name}" for name in PLOTS)
        suffix = f"as {path.suffix}" if form else "without a suffix"
        raise InputError(f"{path}: nothing is drawn {suffix}; give {forms}.")
    write_bytes(path, [to_file(plot, form, width)])
    return path
