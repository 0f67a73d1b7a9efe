"""The plot of a comparison: bars of cycles, and of bytes, a row for each design."""

from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samhw.app.checking import Verdict
from samhw.app.report.comparison import Compared, Comparison
from samhw.app.report.plots import COLOURS, GREY, count_axis, new_figure
from samhw.app.report.time import say_time

__all__ = ["plot_comparison"]

_WIDTH = 34
"""Of a schedule's name, in letters; longer ones fold."""


def plot_comparison(comparison: Comparison) -> Figure:
    """Designs from top to bottom: their cycles with speedups, and the bytes that memories and graph exchange,
    read and written."""
    rows = comparison.rows
    names = [_folded(row.name) for row in rows]
    lines = sum(1 + 0.6 * name.count("\n") for name in names)
    figure = new_figure(9.5, 1.5 + 0.42 * lines)
    cycles, traffic = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    common = f"every schedule: {comparison.common}" if comparison.common else ""
    figure.suptitle("\n".join(filter(None, [comparison.title, fill(common, 60)])))
    _cycles(cycles, comparison)
    _traffic(traffic, rows)
    cycles.set_yticks(range(len(rows)), names)
    cycles.set_ylim(len(rows) - 0.4, -0.6)
    traffic.tick_params(left=False)
    return figure


def _folded(name: str) -> str:
    """A schedule's name in lines, which end between its parts."""
    return fill(name.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", "), _WIDTH)


def _cycles(axes: Axes, comparison: Comparison) -> None:
    first = comparison.first
    for place, row in enumerate(comparison.rows):
        if row.measure is None or first is None:
            axes.annotate("refused", (0, place), (4, 0), **_BESIDE, color=GREY, style="italic")
            continue
        cycles = row.measure.cycles
        wrong = row.measure.status == Verdict.WRONG
        axes.barh(place, cycles, 0.6, color=COLOURS[0], hatch="///" if wrong else None, edgecolor="white")
        words = [f"{cycles:,} ({first.cycles / cycles:.2f}×)"]
        if comparison.period is not None:
            words.append(say_time(cycles, comparison.period))
        axes.annotate(", ".join(words + ["WRONG"] * wrong), (cycles, place), (4, 0), **_BESIDE)
    axes.set_xlabel("cycles (and the speedup over the first design)")
    axes.margins(x=0.35 if comparison.period is None else 0.6)
    axes.set_xlim(left=0)
    count_axis(axes, "x")


def _traffic(axes: Axes, rows: tuple[Compared, ...]) -> None:
    """Bytes read and written, one after the other."""
    measured = [(place, row.measure) for place, row in enumerate(rows) if row.measure]
    places = [place for place, _ in measured]
    read = [m.bytes_read for _, m in measured]
    written = [m.bytes_written for _, m in measured]
    axes.barh(places, read, 0.6, color=COLOURS[4], label="read")
    axes.barh(places, written, 0.6, left=read, color=COLOURS[1], label="written")
    axes.set_xlabel("bytes between memories and graph")
    axes.set_xlim(left=0)
    count_axis(axes, "x")
    if measured:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)


_BESIDE: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
"""How a text stands beside a bar."""
