"""The pages of comparisons: of schedules, with bars of cycles and bytes and a row for each design; and of the
RTL's cycles with the simulator's."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samhw.app.checking import Verdict
from samhw.app.report.comparison import Compared, Comparison
from samhw.app.report.grids import correlation_grid, furthest
from samhw.app.report.page import Axis, Bar, BarChart, Point, Results, ResultTable, ScatterChart, Stat
from samhw.app.report.plots import COLOURS, GREY, count_axis, new_figure
from samhw.app.report.time import say_time

__all__ = [
    "comparison_results",
    "correlation_results",
    "plot_comparison",
]


def comparison_results(comparison: Comparison) -> Results:
    """What the page shows."""
    rows = comparison.rows
    bad = {n for n, row in enumerate(rows) if row.measure and row.measure.result == Verdict.WRONG}
    return Results(
        title=comparison.program,
        about=f"on {comparison.data}, under {len(comparison.outcomes)} schedules",
        verdict="a result is wrong" if bad else "" if comparison.first is None else "no result is wrong",
        good=not bad,
        stats=_stats(comparison),
        charts=(_cycles(comparison), _bytes(rows)),
        tables=(ResultTable("Designs", comparison.grid(), frozenset(bad)),),
        details=tuple(_details(comparison, row) for row in rows),
        notes=tuple(f"refused {n}: {why}" for n, why in enumerate(comparison.refusals, 1)),
        facts=(("data", comparison.title),),
    )


def _stats(comparison: Comparison) -> tuple[Stat, ...]:
    measured = [(row.measure, row.name) for row in comparison.rows if row.measure]
    designs = Stat("designs", str(len(measured)), f"of {len(comparison.outcomes)} schedules")
    if not measured or comparison.first is None:
        return (designs,)
    right = [pair for pair in measured if pair[0].result != Verdict.WRONG] or measured
    fastest, name = min(right, key=lambda pair: pair[0].cycles)
    least, its = min(right, key=lambda pair: pair[0].bytes_read + pair[0].bytes_written)
    speedup = comparison.first.cycles / fastest.cycles
    found = [
        Stat("fewest cycles", f"{fastest.cycles:,}", name),
        Stat("speedup", f"{speedup:.2f}×", "over the first design"),
        Stat("fewest bytes", f"{least.bytes_read + least.bytes_written:,.0f}", its),
        designs,
    ]
    if comparison.period is not None:
        found.insert(1, Stat("time", say_time(fastest.cycles, comparison.period), "of the fastest"))
    return tuple(found)


def _cycles(comparison: Comparison) -> BarChart:
    bars = []
    for number, row in enumerate(comparison.rows):
        if row.measure is None or comparison.first is None:
            bars.append(Bar(number, row.name, (0.0,), "refused"))
            continue
        cycles = row.measure.cycles
        text = f"{cycles:,} ({comparison.first.cycles / cycles:.2f}×)"
        bars.append(Bar(number, row.name, (cycles,), text, row.measure.result == Verdict.WRONG))
    return BarChart("Cycles, and the speedup over the first design", ("cycles",), tuple(bars))


def _bytes(rows: tuple[Compared, ...]) -> BarChart:
    bars = (
        Bar(n, row.name, (m.bytes_read, m.bytes_written), f"{m.bytes_read + m.bytes_written:,.0f}")
        for n, row in enumerate(rows)
        if (m := row.measure)
    )
    return BarChart("Bytes between memories and graph", ("read", "written"), tuple(bars))


def _details(comparison: Comparison, row: Compared) -> tuple[tuple[str, str], ...]:
    schedule = ("schedule", row.schedules[0].dumps().strip())
    if row.measure is None:
        return ("refused", row.refusal), schedule
    measured = row.measure
    time = [] if comparison.period is None else [("time", say_time(measured.cycles, comparison.period))]
    return (
        ("cycles", f"{measured.cycles:,}"),
        *time,
        ("limited by", measured.bottleneck),
        ("bytes", f"{measured.bytes_read:,.0f} read, {measured.bytes_written:,.0f} written"),
        ("operations", f"{measured.operations:,}"),
        ("result", Verdict(measured.result).in_words(measured.unproved)),
        schedule,
    )


def correlation_results(report: Mapping[str, Any]) -> Results:
    """What the page shows; `report` is what `Correlation.to_json` gives."""
    rows = report["kernels"]
    pairs = [(row["model_cycles"], row["rtl_cycles"]) for row in rows]
    bad = frozenset(n for n, row in enumerate(rows) if furthest(row) or row["result"] == "wrong")
    cycles = [count for pair in pairs for count in pair]
    ends = ((min(cycles), min(cycles)), (max(cycles), max(cycles))) if cycles else ()
    equal = f"{report['exact']} of {report['total']}"
    wrong = sum(row["result"] == "wrong" for row in rows)
    return Results(
        title="Simulator against RTL",
        about=f"{report['total']} runs",
        verdict=f"{equal} cycle counts equal" + (f", {wrong} results wrong" if wrong else ""),
        good=not bad,
        stats=(
            Stat("equal cycle counts", equal, "the same number in simulator and RTL"),
            Stat("R²", f"{report['r2']:.6g}", "of the RTL's cycles by the simulator's"),
            Stat("cycles", f"{sum(row['rtl_cycles'] for row in rows):,}", "of the RTL, in all runs"),
        ),
        charts=(
            ScatterChart(
                "The RTL's cycles against the simulator's",
                Axis("simulator, cycles", log=True),
                Axis("RTL, cycles", log=True),
                tuple(
                    Point(n, row["model_cycles"], row["rtl_cycles"], row["name"])
                    for n, row in enumerate(rows)
                ),
                ends,
                "equal",
            ),
        ),
        tables=(ResultTable("Runs", correlation_grid(rows), bad),),
    )


# The plot of a comparison: bars of cycles, and of bytes, a row for each design.


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
    figure.suptitle(comparison.title, fontsize=10)
    _bars_of_cycles(cycles, comparison)
    _traffic(traffic, rows)
    cycles.set_yticks(range(len(rows)), names)
    cycles.set_ylim(len(rows) - 0.4, -0.6)
    traffic.tick_params(left=False)
    return figure


def _folded(name: str) -> str:
    """A schedule's name in lines, which end between its parts."""
    return fill(name.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", "), _WIDTH)


def _bars_of_cycles(axes: Axes, comparison: Comparison) -> None:
    first = comparison.first
    for place, row in enumerate(comparison.rows):
        if row.measure is None or first is None:
            axes.annotate("refused", (0, place), (4, 0), **_BESIDE, color=GREY, style="italic")
            continue
        cycles = row.measure.cycles
        wrong = row.measure.result == Verdict.WRONG
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
        axes.figure.legend(loc="outside upper right", ncols=2, frameon=False)


_BESIDE: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}
"""How a text stands beside a bar."""
