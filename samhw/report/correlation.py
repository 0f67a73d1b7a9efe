"""The correlation report: a plot of model against RTL cycles, and an HTML page around it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from matplotlib.figure import Figure

from samhw.errors import InputError
from samhw.files import reason, replacing

__all__ = ["plot", "write_report"]


def plot(rows: Sequence[Mapping[str, Any]], r2: float) -> Figure:
    """RTL over model cycles on logarithmic axes, with the parity line. `rows` as in the JSON report."""
    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    axes = figure.add_subplot(
        xscale="log", yscale="log", xlabel="simulator, cycles", ylabel="RTL under Verilator, cycles"
    )
    names = list(dict.fromkeys(row["name"] for row in rows))
    markers = "osD^v<>Pxd*+"
    for n, name in enumerate(names):
        mine = [row for row in rows if row["name"] == name]
        axes.plot(
            [row["model_cycles"] for row in mine],
            [row["rtl_cycles"] for row in mine],
            linestyle="none",
            marker=markers[n % len(markers)],
            markersize=5,
            color=f"C{n % 10}",
            label=name,
        )
    counts = [row[key] for row in rows for key in ("model_cycles", "rtl_cycles")]
    ends = [min(counts, default=1) * 0.8, max(counts, default=10) * 1.25]
    axes.plot(ends, ends, linestyle="--", linewidth=1, color="0.5", zorder=0)
    axes.set_title(f"{len(rows)} runs, R² = {r2:.6g}", fontsize=10)
    axes.legend(fontsize=6, ncols=2)
    return figure


def write_report(report: Mapping[str, Any], directory: Path) -> Path:
    """Writes `correlation.json`, `correlation.svg`, `correlation.png` and `index.html`; returns the page.

    Args:
        report: what `Correlation.to_json` gives.
    """
    figure = plot(report["kernels"], report["r2"])
    svg, png = StringIO(), BytesIO()
    figure.savefig(svg, format="svg")
    figure.savefig(png, format="png", dpi=150)
    template = Environment(
        loader=PackageLoader("samhw.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    page = template.get_template("correlation.html.j2").render(report=report, svg=svg.getvalue())
    files = {
        "correlation.json": json.dumps(report, indent=2).encode() + b"\n",
        "correlation.svg": svg.getvalue().encode(),
        "correlation.png": png.getvalue(),
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
