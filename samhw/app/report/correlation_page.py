"""The page of a correlation: the RTL's cycles against the simulator's, and a row for each run."""

from collections.abc import Mapping
from typing import Any

from samhw.app.report.correlated import correlation_grid, furthest
from samhw.app.report.results import Axis, Point, Results, ResultTable, ScatterChart, Stat

__all__ = ["correlation_results"]


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
