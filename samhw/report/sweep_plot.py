"""The plot of a sweep: cycles against what they are bought with, or against an axis of the sweep."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import shorten
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from samhw.errors import InputError
from samhw.report.figure import COLOURS, GREY, MARKERS, count_axis, new_figure
from samhw.sweep.pareto import pareto_front

__all__ = ["COSTS", "check_plot", "plot_sweep"]

COSTS = {
    "bytes": "bytes between memories and graph",
    "bytes_moved": "bytes moved by off-chip memory",
    "operations": "operations",
    "firings": "firings of all nodes",
}
"""What cycles are drawn against, in words. Fewer are better, so a panel has a Pareto front."""

_PANEL = ("program", "data")
_MOST_PANELS = 60
_LISTED = 8
"""Points of a front that are listed beneath a panel."""
_WIDE = 20
"""An axis whose numbers differ by more than that factor is logarithmic."""

Row = Mapping[str, Any]


def check_plot(panels: int, axes: Sequence[str], against: str | None) -> None:
    """Refuses a plot that would fail once everything is measured.

    Args:
        panels: pairs of program and data.
        axes: of the sweep.
        against: what is asked for, of `COSTS` or of the axes.

    Raises:
        InputError: for too many panels, and what there is not.
    """
    if against is not None and against not in COSTS and against not in axes:
        raise InputError(f"--against {against}: there is no such column; name {', '.join((*COSTS, *axes))}.")
    if panels > _MOST_PANELS:
        raise InputError(
            f"--plot has a panel for each program and data, and {panels} are too many; sweep at most "
            f"{_MOST_PANELS} at once, or leave --plot out."
        )


def plot_sweep(rows: Sequence[Row], axes: Sequence[str], against: str | None = None) -> Figure:
    """A panel for each program and data, with a point for each configuration that has a result.

    Args:
        rows: of the sweep's table.
        axes: its names among their columns.
        against: one of `COSTS` or of `axes`; by default the bytes, or where those are all alike, the first
            axis that varies.
    """
    drawn = [row for row in rows if row["status"] not in ("wrong", "refused", "failed", "crashed")]
    panels: dict[tuple[str, ...], list[Row]] = {}
    for row in drawn:
        panels.setdefault(tuple(str(row[name]) for name in _PANEL), []).append(row)
    varying = [name for name in axes if name not in _PANEL and any(_varies(p, name) for p in panels.values())]
    if against is None:
        same = not any(len({_x(row, "bytes") for row in panel}) > 1 for panel in panels.values())
        against = varying[0] if same and varying else "bytes"
    shown = [name for name in varying if name != against]
    styles = _Styles(drawn, shown)

    columns = min(3, max(1, len(panels)))
    lines = ceil(len(panels) / columns) or 1
    figure = new_figure(1.5 + 4.2 * columns, 0.8 + 4.2 * lines)
    for place, (names, panel) in enumerate(panels.items(), 1):
        left = (place - 1) % columns == 0
        plot = figure.add_subplot(lines, columns, place, ylabel="cycles" if left else "")
        plot.set_title(" on ".join(names))
        _panel(plot, panel, against, shown, styles)
    figure.suptitle(_title(rows, drawn), fontsize=9, color=GREY)
    if handles := styles.legend():
        figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=8)
    return figure


class _Styles:
    """The colour of a row is the value of one axis that varies, its marker that of another one."""

    def __init__(self, rows: Sequence[Row], varying: Sequence[str]) -> None:
        self.values = {name: list(dict.fromkeys(_word(row.get(name)) for row in rows)) for name in varying}
        told = [name for name in varying if len(self.values[name]) <= len(COLOURS)]
        self.colour, self.marker = [*told, None, None][:2]

    def of(self, row: Row) -> dict[str, Any]:
        colour = self._place(row, self.colour)
        return {"color": COLOURS[colour], "marker": MARKERS[self._place(row, self.marker)]}

    def _place(self, row: Row, name: str | None) -> int:
        return 0 if name is None else self.values[name].index(_word(row.get(name)))

    def legend(self) -> list[Line2D]:
        """The colours under the name of their axis, then the markers."""
        handles = []
        for name in (self.colour, self.marker):
            if name is None:
                continue
            handles.append(Line2D([], [], linestyle="none", label=name))
            for number, value in enumerate(self.values[name]):
                look: dict[str, Any] = {"color": COLOURS[number], "marker": "o"}
                if name == self.marker:
                    look = {"color": GREY, "marker": MARKERS[number]}
                handles.append(Line2D([], [], linestyle="none", label=f"  {value}", **look))
        return handles


def _panel(plot: Axes, rows: Sequence[Row], against: str, shown: Sequence[str], styles: _Styles) -> None:
    xs, numeric = _places(rows, against)
    for x, row in zip(xs, rows, strict=True):
        look = styles.of(row)
        plot.plot(x, row["cycles"], linestyle="none", alpha=0.75, markersize=6, **look)
    if _is_wide([row["cycles"] for row in rows]):
        plot.set_yscale("log")
    count_axis(plot, "y")
    label = COSTS.get(against, against)
    if not numeric:
        words = list(dict.fromkeys(_word(row.get(against)) for row in rows))
        plot.set_xticks(range(len(words)), words)
        plot.margins(x=0.2)
    else:
        if _is_wide(xs):
            plot.set_xscale("log")
        count_axis(plot, "x")
    if against in COSTS and len(rows) > 1:
        label = "\n".join([label, *_draw_front(plot, xs, rows, shown)])
    plot.set_xlabel(label, multialignment="left")


def _draw_front(plot: Axes, xs: Sequence[float], rows: Sequence[Row], shown: Sequence[str]) -> list[str]:
    """Draws the Pareto front, numbers its points, and says a line of each."""
    points = [(x, float(row["cycles"])) for x, row in zip(xs, rows, strict=True)]
    best = pareto_front(points, lambda point: point)
    plot.plot(*zip(*best, strict=True), drawstyle="steps-post", color=GREY, linewidth=1, zorder=1)
    lines = ["Pareto front:"]
    for number, point in enumerate(best, 1):
        plot.annotate(str(number), point, (5, 3), textcoords="offset points")
        alike = [row for row, other in zip(rows, points, strict=True) if other == point]
        words = shorten(", ".join(f"{name} {_word(alike[0].get(name))}" for name in shown), 60)
        others = f" (and {len(alike) - 1} alike)" if len(alike) > 1 else ""
        lines.append(f"{number}  {int(point[1]):,} cycles: {words or 'all alike'}{others}")
    if len(best) > _LISTED:
        lines[_LISTED + 1 :] = [f"and {len(best) - _LISTED} more"]
    return lines


def _places(rows: Sequence[Row], against: str) -> tuple[list[float], bool]:
    """Where rows stand along x, and whether that is by numbers; other values stand side by side."""
    found = [_x(row, against) for row in rows]
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in found):
        return [float(x) for x in found], True
    words = list(dict.fromkeys(map(_word, found)))
    return [float(words.index(_word(x))) for x in found], False


def _x(row: Row, against: str) -> Any:
    if against == "bytes":
        return row["bytes_read"] + row["bytes_written"]
    if against in COSTS:
        return row.get(against) or 0
    return row.get(against)


def _varies(rows: Sequence[Row], name: str) -> bool:
    return len({_word(row.get(name)) for row in rows}) > 1


def _word(value: Any) -> str:
    """A value of an axis; what has none is left to the compiler."""
    return "auto" if value is None or value == "" else str(value)


def _is_wide(numbers: Sequence[float]) -> bool:
    return min(numbers) > 0 and max(numbers) > _WIDE * min(numbers)


def _title(rows: Sequence[Row], drawn: Sequence[Row]) -> str:
    left = Counter(row["status"] for row in rows) - Counter(row["status"] for row in drawn)
    missing = ", ".join(f"{number} {status}" for status, number in left.items())
    missing = f" ({missing} left out)" if missing else ""
    return f"{len(drawn)} configurations{missing}; those that are alike cover each other"
