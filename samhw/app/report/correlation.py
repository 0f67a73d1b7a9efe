"""The plot of a correlation: the RTL's cycles against the simulator's."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from samhw.app.report.correlated import furthest
from samhw.app.report.figure import GREY, count_axis, new_figure, style, to_file

__all__ = ["correlation_files", "plot"]

_NAMES_IN_A_COLUMN = 30
"""Of the legend."""


def plot(rows: Sequence[Mapping[str, Any]], r2: float) -> Figure:
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
            markersize=6,
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
    figure.legend(loc="outside right upper", fontsize=7, frameon=False, ncols=columns)
    return figure


def correlation_files(report: Mapping[str, Any]) -> dict[str, bytes]:
    """What lies beside the page: the numbers, and their plot."""

    def drawn() -> Figure:
        return plot(report["kernels"], report["r2"])

    return {
        "correlation.json": json.dumps(report, indent=2).encode() + b"\n",
        "correlation.svg": to_file(drawn, "svg"),
        "correlation.png": to_file(drawn, "png"),
    }
