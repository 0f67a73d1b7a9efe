"""The report of a run as a page: one HTML file that needs nothing else."""

import json
from collections.abc import Sequence
from typing import Any

from samhw.app.report.grids import FAMILY_NAMES, Areas, device_grid, fit_words, shown_areas
from samhw.app.report.layered import Edge, layered
from samhw.app.report.page import page
from samhw.app.report.region_view import region_view
from samhw.app.report.run_report import RunReport
from samhw.app.report.run_statistics import port_grid
from samhw.app.report.time import seconds
from samhw.cost import FITS, GREATEST_CLOCK

__all__ = ["DEFAULT_PERIOD", "run_page", "run_view"]

DEFAULT_PERIOD = 10.0
"""Of the clock by which a page tells times, in ns, where none is given."""

_OPEN = 90
"""A run with no more nodes shows the graphs of all its regions at first; of another one regions are boxes."""
_LARGEST = 600
"""A region with more nodes is a box at first, even if it is the only one."""


def run_page(report: RunReport) -> str:
    """The page, as text."""
    areas = shown_areas(report.compiled)
    view = run_view(report, areas)
    period = report.period or DEFAULT_PERIOD
    fitting = sum(device.verdict(area.use) == FITS for device, area in areas)
    return page(
        "run.html.j2",
        title=f"{report.program} on {report.data}: {report.cycles:,} cycles",
        report=report,
        origin=report.origin,
        nodes=sum(len(region.compiled.graph.nodes) for region in report.regions),
        megahertz=1e3 / period,
        microseconds=seconds(report.cycles, period) * 1e6,
        ports=[(region.name, port_grid(region)) for region in report.regions if region.ports],
        areas=device_grid(areas),
        fits=fit_words(areas),
        fits_one=fitting > 0,
        fitting=fitting,
        greatest_clock=GREATEST_CLOCK,
        caveat=areas[0][1].caveat,
        luts=areas[0][1].use.luts,
        family=FAMILY_NAMES[areas[0][0].family],
        data=json.dumps(view, separators=(",", ":")),
    )


def run_view(report: RunReport, areas: Areas) -> dict[str, Any]:
    """What the page's script is given: what `samhw run --json` prints, and the regions as they are drawn.

    Args:
        areas: that of which nodes have their part is the first.
    """
    device, area = areas[0]
    nodes = {region.name: region.nodes for region in area.regions}
    views = [region_view(region, nodes[region.name]) for region in report.regions]
    passed = _passed(views)
    layout = layered([(240, 90)] * len(views), [Edge(a, b) for a, b, _ in passed])
    for view, (x, y) in zip(views, layout.places, strict=True):
        view |= {"column": round(x), "layer": round(y)}
    total = sum(len(view["nodes"]) for view in views)
    longest = report.regions.index(report.longest)
    opened = range(len(views)) if total <= _OPEN or len(views) == 1 else ()
    return {
        "run": report.to_json(),
        "regions": views,
        "passed": [{"from": a, "to": b, "tensors": names} for a, b, names in passed],
        "opened": [number for number in opened if len(views[number]["nodes"]) <= _LARGEST],
        "longest": longest,
        "area": FAMILY_NAMES[device.family],
        "greatest_clock": GREATEST_CLOCK,
    }


def _passed(views: Sequence[dict[str, Any]]) -> list[tuple[int, int, list[str]]]:
    """The tensors that pass between regions: from the last that wrote them, to each that reads them."""
    writers: dict[str, int] = {}
    found: dict[tuple[int, int], list[str]] = {}
    for number, view in enumerate(views):
        for tensor in view["reads"]:
            if tensor in writers:
                found.setdefault((writers[tensor], number), []).append(tensor)
        writers |= dict.fromkeys(view["writes"], number)
    return [(a, b, names) for (a, b), names in found.items()]
