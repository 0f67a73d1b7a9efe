"""What the plot and the page of a sweep draw: for each program and data, cycles against what they are bought
with, or against an axis of the sweep."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samhw.app.checking.measure import pareto_front
from samhw.errors import InputError
from samhw.words import did_you_mean

__all__ = ["COSTS", "Panel", "Row", "SweepView", "check_plot", "sweep_view", "word"]

COSTS = {
    "bytes": "bytes between memories and graph",
    "bytes_moved": "bytes moved by off-chip memory",
    "operations": "operations",
    "firings": "firings of all nodes",
    "energy_pj": "picojoules of an ASIC, by estimate",
}
"""What cycles are drawn against, in words. Fewer are better, so a panel has a Pareto front."""

_PANEL = ("program", "data")
_MOST_PANELS = 60

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
        raise InputError(
            f"--against {against}{did_you_mean(against, (*COSTS, *axes))}: there is no such column; name "
            f"{', '.join((*COSTS, *axes))}."
        )
    if panels > _MOST_PANELS:
        raise InputError(
            f"A plot has a panel for each program and data, and {panels} are too many; sweep at most "
            f"{_MOST_PANELS} at once, or leave the plot out."
        )


@dataclass(frozen=True)
class Panel:
    """The configurations of one program and data that have a result."""

    name: str
    rows: tuple[Row, ...]
    xs: tuple[float, ...]
    words: tuple[str, ...]
    """What stands at 0, 1, 2, ... along x; empty where that axis has numbers."""
    front: tuple[tuple[float, float], ...]
    """The places of the Pareto front, the cheapest first; empty for one configuration, or against an axis."""

    @property
    def points(self) -> list[tuple[float, float]]:
        """The places of the rows."""
        return [(x, float(row["cycles"])) for x, row in zip(self.xs, self.rows, strict=True)]


@dataclass(frozen=True)
class SweepView:
    """What there is to draw of a sweep."""

    panels: tuple[Panel, ...]
    against: str
    """What cycles are drawn against: one of `COSTS`, or an axis."""
    told: tuple[str, ...]
    """The axes that vary, but for that."""
    title: str
    """How many configurations there are, and which are left out."""


def sweep_view(rows: Sequence[Row], axes: Sequence[str], against: str | None = None) -> SweepView:
    """Args:
    rows: of the sweep's table.
    axes: its names among their columns.
    against: one of `COSTS` or of `axes`; by default the bytes, or where those are all alike, the first axis
        that varies.
    """
    drawn = [row for row in rows if row["status"] not in ("wrong", "refused", "failed", "crashed")]
    panels: dict[tuple[str, ...], list[Row]] = {}
    for row in drawn:
        panels.setdefault(tuple(str(row[name]) for name in _PANEL), []).append(row)
    varying = [name for name in axes if name not in _PANEL and any(_varies(p, name) for p in panels.values())]
    if against is None:
        same = not any(len({_x(row, "bytes") for row in panel}) > 1 for panel in panels.values())
        against = varying[0] if same and varying else "bytes"
    return SweepView(
        tuple(_panel(" on ".join(names), panel, against) for names, panel in panels.items()),
        against,
        tuple(name for name in varying if name != against),
        _title(rows, drawn),
    )


def _panel(name: str, rows: Sequence[Row], against: str) -> Panel:
    found = [_x(row, against) for row in rows]
    words: list[str] = []
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in found):
        words = list(dict.fromkeys(map(word, found)))
        found = [words.index(word(x)) for x in found]
    panel = Panel(name, tuple(rows), tuple(map(float, found)), tuple(words), ())
    if against not in COSTS or len(rows) < 2:
        return panel
    return Panel(name, panel.rows, panel.xs, (), tuple(pareto_front(panel.points, lambda point: point)))


def _x(row: Row, against: str) -> Any:
    if against == "bytes":
        return row["bytes_read"] + row["bytes_written"]
    if against in COSTS:
        return row.get(against) or 0
    return row.get(against)


def _varies(rows: Sequence[Row], name: str) -> bool:
    return len({word(row.get(name)) for row in rows}) > 1


def word(value: Any) -> str:
    """A value of an axis; what has none is left to the compiler."""
    return "auto" if value is None or value == "" else str(value)


def _title(rows: Sequence[Row], drawn: Sequence[Row]) -> str:
    left = Counter(row["status"] for row in rows) - Counter(row["status"] for row in drawn)
    missing = ", ".join(f"{number} {status}" for status, number in left.items())
    missing = f" ({missing} left out)" if missing else ""
    return f"{len(drawn)} configurations{missing}; those that are alike stand side by side"
