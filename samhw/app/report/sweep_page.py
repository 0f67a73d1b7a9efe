"""The page of a sweep: a chart for each program and data, and a row for each configuration."""

from collections.abc import Mapping, Sequence
from typing import Any

from samhw.app.report.page import Axis, Point, Results, ResultTable, ScatterChart, Stat, axis
from samhw.app.report.sweep_view import COSTS, Panel, Row, SweepView, sweep_view, word

__all__ = ["sweep_results"]

_FIGURES = ("cycles", "bytes_read", "bytes_written", "bytes_moved", "operations", "firings", "energy_pj")


def sweep_results(rows: Sequence[Row], axes: Sequence[str], against: str | None = None) -> Results:
    """What the page shows; arguments as for `sweep_view`."""
    view = sweep_view(rows, axes, against)
    numbers = {id(row): number for number, row in enumerate(rows)}
    bad = frozenset(n for n, row in enumerate(rows) if row["status"] in ("wrong", "crashed"))
    return Results(
        title="Sweep",
        about=f"of {', '.join(dict.fromkeys(str(row['program']) for row in rows))}",
        verdict=f"{len(bad)} wrong or crashed" if bad else "no result is wrong",
        good=not bad,
        stats=_stats(rows, view),
        charts=tuple(_chart(panel, view, numbers) for panel in view.panels),
        tables=(_table(rows, axes, bad),),
        details=tuple(_details(row, axes) for row in rows),
        facts=(("drawn", view.title),),
    )


def _stats(rows: Sequence[Row], view: SweepView) -> tuple[Stat, ...]:
    found = [Stat("configurations", f"{len(rows):,}", view.title.partition(";")[0].partition(" (")[2][:-1])]
    for panel in view.panels[:4]:
        cycles = [row["cycles"] for row in panel.rows]
        best = panel.rows[cycles.index(min(cycles))]
        chosen = ", ".join(f"{name} {word(best.get(name))}" for name in view.told)
        found.append(Stat(f"fewest cycles of {panel.name}", f"{min(cycles):,}", chosen))
    return tuple(found)


def _chart(panel: Panel, view: SweepView, numbers: Mapping[int, int]) -> ScatterChart:
    """A chart whose colours are the values of the first axis that varies, shapes those of the second, and
    fillings those of the third."""
    values = {name: list(dict.fromkeys(word(row.get(name)) for row in panel.rows)) for name in view.told}
    label = COSTS.get(view.against, view.against)
    cycles = [row["cycles"] for row in panel.rows]
    return ScatterChart(
        f"{panel.name}: cycles against {label}",
        Axis(label, words=panel.words) if panel.words else axis(label, panel.xs),
        axis("cycles", cycles),
        tuple(
            Point(
                numbers[id(row)],
                x,
                y,
                ", ".join(f"{name} {word(row.get(name))}" for name in view.told),
                tuple(values[name].index(word(row.get(name))) for name in view.told[:3]),
            )
            for (x, y), row in zip(panel.points, panel.rows, strict=True)
        ),
        panel.front,
        "Pareto front" if panel.front else "",
        stepped=True,
    )


def _table(rows: Sequence[Row], axes: Sequence[str], bad: frozenset[int]) -> ResultTable:
    """The columns in which rows differ, and what they took."""
    shown = [name for name in axes if len({word(row.get(name)) for row in rows}) > 1]
    shown = list(dict.fromkeys(["program", "data", *shown]))
    figures = [name for name in _FIGURES if any(row.get(name) for row in rows)]
    grid = [[*shown, *(name.replace("_", " ") for name in figures), "status"]]
    for row in rows:
        held = [_number(row.get(name)) for name in figures]
        grid.append([*(word(row.get(name)) for name in shown), *held, str(row["status"])])
    return ResultTable("Configurations", grid, bad)


def _details(row: Row, axes: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """All that is said of a configuration."""
    chosen = [(name, word(row.get(name))) for name in axes if row.get(name) not in (None, "")]
    figures = [(name.replace("_", " "), _number(row.get(name))) for name in _FIGURES]
    words = [("limited by", str(row.get("bottleneck") or "")), ("error", str(row.get("error") or ""))]
    return tuple(pair for pair in [*chosen, *figures, ("status", str(row["status"])), *words] if pair[1])


def _number(value: Any) -> str:
    return "" if value is None or value == "" else f"{value:,.0f}"
