"""The correlation report: a plot of model against RTL cycles, and an HTML page around it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from matplotlib.figure import Figure

from samhw.errors import InputError
from samhw.files import reason, replacing
from samhw.report.figure import GREY, count_axis, new_figure, style, to_file

__all__ = ["plot", "write_report"]

_NAMES_IN_A_COLUMN = 30
"""Of the legend."""


def plot(rows: Sequence[Mapping[str, Any]], r2: float) -> Figure:
    """RTL over model cycles on logarithmic axes, with the parity line. `rows` as in the JSON report."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    columns = -(-len(names) // _NAMES_IN_A_COLUMN) or 1
    figure = new_figure(5.2 + 1.9 * columns, 4.8)
    axes = figure.add_subplot(
        xscale="log", yscale="log", xlabel="simulator, cycles", ylabel="RTL under Verilator, cycles"
    )
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
    equal = sum(row["model_cycles"] == row["rtl_cycles"] for row in rows)
    axes.set_title(f"{equal} of {len(rows)} cycle counts equal, R² = {r2:.6g}")
    figure.legend(loc="outside right upper", fontsize=7, frameon=False, ncols=columns)
    return figure


def write_report(report: Mapping[str, Any], directory: Path) -> Path:
    """Writes `correlation.json`, `correlation.svg`, `correlation.png` and `index.html`; returns the page.

    Args:
        report: what `Correlation.to_json` gives.
    """

    def drawn() -> Figure:
        return plot(report["kernels"], report["r2"])

    svg = to_file(drawn, "svg")
    template = Environment(
        loader=PackageLoader("samhw.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    page = template.get_template("correlation.html.j2").render(report=report, svg=svg.decode())
    files = {
        "correlation.json": json.dumps(report, indent=2).encode() + b"\n",
        "correlation.svg": svg,
        "correlation.png": to_file(drawn, "png"),
        "index.html": page.encode(),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with ExitStack() as whole:  # They take their places together, once all are written.
            opened = [whole.enter_context(replacing(directory / name)) for name in files]
            for file, content in zip(opened, files.values(), strict=True):
                file.write(content)
                file.flush()
    except (OSError, ValueError) as error:
        raise InputError(
            f"Cannot write the report to {directory} ({reason(error)}); choose another directory."
        ) from None
    return directory / "index.html"
