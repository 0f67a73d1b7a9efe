"""The plot of a sweep: a panel for each program and data."""

from collections import Counter
from collections.abc import Sequence
from math import ceil
from textwrap import shorten
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import offset_copy

from samhw.app.report.page import WIDE
from samhw.app.report.plots import COLOURS, GREY, MARKERS, count_axis, new_figure
from samhw.app.report.sweep_view import COSTS, Panel, Row, sweep_view, word

__all__ = ["plot_sweep"]

_FILLS = ("full", "none", "left", "top")
_BESIDE = 8
"""Points between the middles of marks for one place."""
_LISTED = 8
"""Points of a front that are listed beneath a panel."""


def plot_sweep(rows: Sequence[Row], axes: Sequence[str], against: str | None = None) -> Figure:
    """A panel for each program and data, with a point for each configuration that has a result; arguments as
    for `sweep_view`."""
    view = sweep_view(rows, axes, against)
    styles = _Styles([row for panel in view.panels for row in panel.rows], view.told)
    columns = min(3, max(1, len(view.panels)))
    lines = ceil(len(view.panels) / columns) or 1
    figure = new_figure(1.5 + 4.2 * columns, 0.8 + 4.2 * lines)
    for place, panel in enumerate(view.panels, 1):
        left = (place - 1) % columns == 0
        plot = figure.add_subplot(lines, columns, place, ylabel="cycles" if left else "")
        plot.set_title(panel.name)
        _draw_panel(plot, panel, view.against, view.told, styles)
    figure.suptitle(view.title, fontsize="medium", color=GREY)
    if handles := styles.legend():
        figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize="small")
    return figure


class _Styles:
    """The colour of a row is the value of one axis that varies, its marker that of another one, and how it is
    filled that of a third."""

    def __init__(self, rows: Sequence[Row], varying: Sequence[str]) -> None:
        self.values = {name: list(dict.fromkeys(word(row.get(name)) for row in rows)) for name in varying}
        told = [name for name in varying if len(self.values[name]) <= len(COLOURS)]
        self.colour, self.marker = [*told, None, None][:2]
        self.fill = next((name for name in told[2:] if len(self.values[name]) <= len(_FILLS)), None)

    def of(self, row: Row) -> dict[str, Any]:
        colour, marker = COLOURS[self._place(row, self.colour)], MARKERS[self._place(row, self.marker)]
        return {"color": colour, "marker": marker, "fillstyle": _FILLS[self._place(row, self.fill)]}

    def _place(self, row: Row, name: str | None) -> int:
        return 0 if name is None else self.values[name].index(word(row.get(name)))

    def legend(self) -> list[Line2D]:
        """The colours under the name of their axis, then the markers."""
        handles = []
        for name in (self.colour, self.marker, self.fill):
            if name is None:
                continue
            handles.append(Line2D([], [], linestyle="none", label=name))
            for number, value in enumerate(self.values[name]):
                look: dict[str, Any] = {"color": COLOURS[number], "marker": "o"}
                if name == self.marker:
                    look = {"color": GREY, "marker": MARKERS[number]}
                if name == self.fill:
                    look = {"color": GREY, "marker": "o", "fillstyle": _FILLS[number]}
                handles.append(Line2D([], [], linestyle="none", label=f"  {value}", **look))
        return handles


def _draw_panel(plot: Axes, panel: Panel, against: str, told: Sequence[str], styles: _Styles) -> None:
    plot.update_datalim(panel.points)  # Marks that are moved do not count for the limits of axes.
    there: Counter[tuple[float, float]] = Counter()
    for (x, y), row in zip(panel.points, panel.rows, strict=True):
        beside = offset_copy(
            plot.transData, plot.get_figure(root=True), x=_BESIDE * there[x, y], units="points"
        )
        there[x, y] += 1
        plot.plot(
            x,
            y,
            linestyle="none",
            alpha=0.75,
            transform=beside,
            clip_on=False,
            **styles.of(row),
        )
    plot.autoscale_view()
    if _is_wide([row["cycles"] for row in panel.rows]):
        plot.set_yscale("log")
    count_axis(plot, "y")
    if panel.words:
        plot.set_xticks(range(len(panel.words)), panel.words)
        plot.margins(x=0.2)
    else:
        if _is_wide(panel.xs):
            plot.set_xscale("log")
        count_axis(plot, "x")
    label = COSTS.get(against, against)
    if panel.front:
        label = "\n".join([label, *_draw_front(plot, panel, told)])
    plot.set_xlabel(label, multialignment="left")


def _draw_front(plot: Axes, panel: Panel, told: Sequence[str]) -> list[str]:
    """Draws the Pareto front, numbers its points, and says a line of each."""
    best, points = panel.front, panel.points
    plot.plot(*zip(*best, strict=True), drawstyle="steps-post", color=GREY, linewidth=1, zorder=1)
    lines = ["Pareto front:"]
    for number, point in enumerate(best, 1):
        plot.annotate(str(number), point, (5, 3), textcoords="offset points")
        alike = [row for row, other in zip(panel.rows, points, strict=True) if other == point]
        words = shorten(", ".join(f"{name} {word(alike[0].get(name))}" for name in told), 60)
        others = f" (and {len(alike) - 1} alike)" if len(alike) > 1 else ""
        lines.append(f"{number}  {int(point[1]):,} cycles: {words or 'all alike'}{others}")
    if len(best) > _LISTED:
        lines[_LISTED + 1 :] = [f"and {len(best) - _LISTED} more"]
    return lines


def _is_wide(numbers: Sequence[float]) -> bool:
    return min(numbers) > 0 and max(numbers) > WIDE * min(numbers)
