"""The pages of comparisons: of schedules, with bars of cycles and bytes and a row for each design; and of the
RTL's cycles with the simulator's."""

from collections.abc import Mapping
from typing import Any

from samhw.app.checking import Verdict
from samhw.app.report.comparison import Compared, Comparison
from samhw.app.report.grids import correlation_grid, furthest
from samhw.app.report.page import Axis, Bar, BarChart, Point, Results, ResultTable, ScatterChart, Stat
from samhw.app.report.time import say_time

__all__ = ["comparison_results", "correlation_results"]


def comparison_results(comparison: Comparison) -> Results:
    """What the page shows."""
    rows = comparison.rows
    bad = {n for n, row in enumerate(rows) if row.measure and row.measure.status == Verdict.WRONG}
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
        facts=(
            ("data", comparison.title),
            *((("every schedule", comparison.common),) if comparison.common else ()),
        ),
    )


def _stats(comparison: Comparison) -> tuple[Stat, ...]:
    measured = [(row.measure, row.name) for row in comparison.rows if row.measure]
    designs = Stat("designs", str(len(measured)), f"of {len(comparison.outcomes)} schedules")
    if not measured or comparison.first is None:
        return (designs,)
    right = [pair for pair in measured if pair[0].status != Verdict.WRONG] or measured
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
        bars.append(Bar(number, row.name, (cycles,), text, row.measure.status == Verdict.WRONG))
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
        return ("error", row.error), schedule
    measured = row.measure
    time = [] if comparison.period is None else [("time", say_time(measured.cycles, comparison.period))]
    return (
        ("cycles", f"{measured.cycles:,}"),
        *time,
        ("limited by", measured.bottleneck),
        ("bytes", f"{measured.bytes_read:,.0f} read, {measured.bytes_written:,.0f} written"),
        ("operations", f"{measured.operations:,}"),
        ("status", Verdict(measured.status).in_words(measured.unproved)),
        schedule,
    )


def correlation_results(report: Mapping[str, Any]) -> Results:
    """What the page shows; `report` is what `Correlation.to_json` gives."""
    rows = report["kernels"]
    pairs = [(row["model_cycles"], row["rtl_cycles"]) for row in rows]
    bad = frozenset(n for n, row in enumerate(rows) if furthest(row) or row["status"] == "wrong")
    cycles = [count for pair in pairs for count in pair]
    ends = ((min(cycles), min(cycles)), (max(cycles), max(cycles))) if cycles else ()
    equal = f"{report['exact']} of {report['total']}"
    wrong = sum(row["status"] == "wrong" for row in rows)
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
