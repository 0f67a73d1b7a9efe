"""The pages of papers: a page with all that was measured, and a plot beside each figure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot
from matplotlib.ticker import FuncFormatter

from samhw.app.papers.figure import Cell, PaperColumn
from samhw.app.papers.run_papers import Measured, file_name, summary
from samhw.app.report.page import ResultTable, page, write_page
from samhw.app.report.plots import COLOURS, GREY, MARKERS, count_axis, new_figure, to_file
from samhw.app.report.run_report import Origin
from samhw.errors import InputError
from samhw.files import write_text

__all__ = ["write_papers"]

_BARS = 40
"""Of more, a mark stands for each."""


def write_papers(
    directory: Path, found: Sequence[Measured], origin: Origin, words: Sequence[str] = ()
) -> Path:
    """Writes `index.html` with all figures, their plots, and `results` with their numbers.

    Args:
        words: as for `run_figures`.

    Raises:
        InputError: if they cannot be written.
    """
    plots = {file_name(one.paper, one.figure): _plotted(one) for one in found}
    try:
        (directory / "results").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write to {directory} ({error.strerror}); choose another place.") from None
    for one in found:
        write_text(directory / "results" / f"{file_name(one.paper, one.figure)}.json", str(one.result))
    papers = {one.paper.name: one.paper for one in found}
    for name, paper in papers.items():
        own = [one for one in found if one.paper is paper]
        # Of some of its figures there is no summary of the paper.
        if len(own) == len(paper.figures) and (result := summary(own, words)):
            write_text(directory / "results" / f"{name}.json", str(result))
    text = page(
        "papers.html.j2",
        title="Figures of papers",
        papers=[
            {"paper": paper, "figures": [_shown(one, plots) for one in found if one.paper is paper]}
            for paper in papers.values()
        ],
        origin=origin,
        data='{"charts": [], "details": []}',
    )
    beside = {f"{name}.svg": plot for name, plot in plots.items() if plot}
    return write_page(directory, text, beside)


def _shown(one: Measured, plots: Mapping[str, bytes]) -> dict[str, Any]:
    """What the template says of a figure."""
    name = file_name(one.paper, one.figure)
    rows = one.result.rows
    cells = [[_text(cell) for cell in row.values()] for row in rows]
    kept = [n for n, head in enumerate(rows[0]) if head == "row" or any(line[n] for line in cells)]
    grid = [[list(rows[0])[n] for n in kept], *([line[n] for n in kept] for line in cells)]
    bad = frozenset(n for n, row in enumerate(rows) if row["result"] in ("wrong", "failed", "crashed"))
    stand_ins = [spec for spec in one.data if spec.startswith("synthetic:")]
    svg = plots[name].decode()
    return {
        "name": name,
        "figure": one.figure,
        "table": ResultTable("", grid, bad),
        "plot": Markup(svg[svg.index("<svg") :]) if svg else "",
        "data": one.data,
        "stand_ins": stand_ins,
        "refused": [n for n, row in enumerate(rows) if row["result"] == "refused"],
    }


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}" if abs(cell) < 10**12 else f"{cell:.2e}"
        case float():
            return f"{cell:,.{2 if abs(cell) < 1000 else 0}f}" if abs(cell) < 10**12 else f"{cell:.2e}"
    return str(cell)


def _plotted(one: Measured) -> bytes:
    """The plot of the column that the paper has too, as SVG; empty where there is none."""
    column = one.figure.ratio
    if column is None:
        column = next((c for c in one.figure.columns if c.name in ("RTL", "cycles")), None)
    rows = [row for row in one.result.rows if column and isinstance(row[column.name], int | float)]
    if column is None or len(rows) < 2:
        return b""
    return to_file(lambda: _drawn(column, rows), "svg")


def _drawn(shown: PaperColumn, rows: Sequence[Mapping[str, Any]]) -> Plot:
    """Bars, or where there are many a mark for each; the paper's numbers are hollow."""
    column = shown.name
    names = list(dict.fromkeys(row["row"] for row in rows))
    ways = list(dict.fromkeys(row["way"] for row in rows))
    many = len(rows) > _BARS
    plot = new_figure(9.0, 3.6)
    axes = plot.subplots()
    alone = len(names) == 1  # Then its ways are the places.
    for number, way in enumerate([""] if alone else ways):
        own = [row for row in rows if alone or row["way"] == way]
        beside = 0.0 if many or alone else 0.8 * ((number + 0.5) / len(ways) - 0.5)
        xs = [beside + (ways.index(row["way"]) if alone else names.index(row["row"])) for row in own]
        look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "label": way or column}
        if many:
            mark = MARKERS[number % len(MARKERS)]
            axes.plot(xs, [row[column] for row in own], linestyle="", marker=mark, markersize=4, **look)
        else:
            axes.bar(xs, [row[column] for row in own], 0.8 / (1 if alone else len(ways)), **look)
        _papers(axes, xs, own)
    places = ways if alone else names
    axes.set_xticks(range(len(places)), places)
    plot = _finished(plot, axes, column, rows)
    if shown.is_ratio:
        axes.axhline(1, color=GREY, linewidth=0.8, zorder=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    return plot


def _papers(axes: Axes, xs: Sequence[float], rows: Sequence[Mapping[str, Any]]) -> None:
    """The paper's numbers."""
    pairs = [(x, row["the paper's"]) for x, row in zip(xs, rows, strict=True) if row.get("the paper's")]
    if pairs:
        named = any(line.get_label() == "the paper's" for line in axes.get_lines())
        label = "_nolegend_" if named else "the paper's"
        axes.plot(
            *zip(*pairs, strict=True), "D", markerfacecolor="white", color="black", markersize=5, label=label
        )


def _finished(plot: Plot, axes: Axes, column: str, rows: Sequence[Mapping[str, Any]]) -> Plot:
    numbers = [row[column] for row in rows if row[column] > 0]
    if numbers and max(numbers) > 20 * min(numbers):
        axes.set_yscale("log")
    count_axis(axes, "y")
    axes.set_ylabel(column)
    axes.tick_params(axis="x", labelrotation=45, labelsize=7)
    for label in axes.get_xticklabels():
        label.set_horizontalalignment("right")
    if axes.get_legend_handles_labels()[1]:
        plot.legend(loc="outside right upper", fontsize=8, frameon=False)
    return plot
