"""What is expected of a design on data, with the area that it takes of FPGAs: the command line prints it, and
`design.estimate()` shows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from samhw.app.report.alike import alike_regions, grouped
from samhw.app.report.grids import Areas, device_grid, shown_areas
from samhw.compiler import Compiled, area_of
from samhw.cost import SHOWN_DEVICES, AreaEstimate, DesignEstimate, Device, RegionArea, RegionEstimate, Use
from samhw.words import html_scroll, html_section, html_table, html_text, in_columns

__all__ = ["EstimateReport"]

Table = tuple[str, list[list[str]]]
"""A title, and rows, the first of which has the headings."""


@dataclass(frozen=True, repr=False)
class EstimateReport(DesignEstimate):
    """The cycles, operations and bytes that are expected of a run, and of `compiled` the area.

    Attributes:
        devices: FPGAs; nodes and regions have what they take of the first one.
    """

    compiled: Compiled
    devices: Sequence[Device] = SHOWN_DEVICES

    @classmethod
    def of(
        cls, compiled: Compiled, found: DesignEstimate, devices: Sequence[Device] = SHOWN_DEVICES
    ) -> "EstimateReport":
        """What was found of a design."""
        return cls(found.regions, found.cycles, compiled, devices)

    @cached_property
    def areas(self) -> Areas:
        """By FPGA, what the design takes of its family."""
        return shown_areas(self.compiled, self.devices)

    @property
    def tables(self) -> Iterator[Table]:
        """A table of nodes for each region, of equal ones for the longest; and one of FPGAs."""
        pairs = zip(self.regions, self.areas[0][1].regions, strict=True)
        for group in grouped(pairs, alike_regions(self.compiled)):
            region, area = max(group.members, key=lambda pair: pair[0].cycles)
            yield _region_table(region, area, group.of_others)
            if region.lines:
                lines = [[name, f"{count:,.0f}"] for name, count in region.lines.items()]
                yield f"{region.name}, ports to off-chip memory", [["port", "lines"], *lines]
        yield "Expected before placing and routing", device_grid(self.areas)

    @property
    def notes(self) -> tuple[str, ...]:
        """What sharing and running side by side bring, and what is not known of the area."""
        first = self.areas[0][1]
        traded = "; ".join(_trade_words(self._trade, self, first))
        caveats = dict.fromkeys(area.caveat for _, area in self.areas if area.caveat)
        return tuple(filter(None, [traded, *caveats]))

    @cached_property
    def _trade(self) -> Mapping[str, float]:
        return _trade(self.compiled, self, self.areas[0][1])

    def to_json(self) -> dict[str, Any]:
        """What `samhw compile --estimate --json` writes."""
        pairs = zip(self.regions, self.areas[0][1].regions, strict=True)
        without = {name: round(figure) for name, figure in self._trade.items()}
        return {
            "cycles": round(self.cycles),
            "operations": round(self.operations),
            "bytes_read": round(self.bytes_read),
            "bytes_written": round(self.bytes_written),
            "regions": [_region(region, area) for region, area in pairs],
            "area": {device.name: _area(device, area) for device, area in self.areas},
            **({"without": without} if without else {}),
        }

    def __str__(self) -> str:
        return "\n\n".join([*(f"{title}\n{in_columns(rows)}" for title, rows in self.tables), *self.notes])

    def _repr_html_(self) -> str:
        parts = "".join(html_section(title, html_table(rows)) for title, rows in self.tables)
        notes = html_text("\n".join(self.notes)) if self.notes else ""
        return html_section(f"about {self.cycles:,.0f} cycles", html_scroll(parts + notes))


def _region_table(region: RegionEstimate, area: RegionArea, others: str) -> Table:
    """The nodes of a region, the busiest first; `others` are those that are equal."""
    rows = [["node", "operations", "busy cycles", "starts", "LUTs"]]
    for name, node in sorted(region.nodes.items(), key=lambda item: -item[1].busy):
        figures = node.operations, node.busy, node.start, area.nodes[name].luts
        rows.append([name, *(f"{figure:,.0f}" for figure in figures)])
    luts = f"the fabric of {area.fabric}" if area.fabric else f"{area.use.luts:,.0f} LUTs"
    title = (
        f"{region.name}{others}: about {region.cycles:,.0f} cycles, {region.operations:,.0f} operations, "
        f"{region.bytes_read:,.0f} bytes read, {region.bytes_written:,.0f} written, {luts}"
    )
    return title, rows


def _trade(compiled: Compiled, found: DesignEstimate, area: AreaEstimate) -> Mapping[str, float]:
    """The LUTs of a design with hardware for each of its regions, where some share it; and its cycles where
    its regions ran one after another, where some run side by side."""
    trade: dict[str, float] = {}
    if compiled.fabrics or compiled.shared_nodes:
        apart = replace(compiled, fabrics=(), shared_nodes=())
        trade["luts"] = area_of(apart, area.family).use.luts
    if compiled.design.is_parallel:
        trade["cycles"] = sum(region.cycles for region in found.regions) + len(found.regions) - 1
    return trade


def _trade_words(trade: Mapping[str, float], found: DesignEstimate, area: AreaEstimate) -> Iterator[str]:
    if "luts" in trade:
        apart = trade["luts"]
        yield f"shared hardware saves about {apart - area.use.luts:,.0f} of {apart:,.0f} LUTs"
    if "cycles" in trade:
        in_turn = trade["cycles"]
        yield f"regions side by side save about {in_turn - found.cycles:,.0f} of {in_turn:,.0f} cycles"


def _area(device: Device, area: AreaEstimate) -> dict[str, object]:
    """What a design takes of an FPGA, in JSON."""
    shares = {name: round(share, 4) for name, share in device.shares(area.use).items()}
    shared = {"memories": _use(area.memories), "control": _use(area.control)}
    if area.off_chip != Use():
        shared["off_chip"] = _use(area.off_chip)
    left_out = {"unmeasured": list(area.unmeasured), "guessed": list(area.guessed)}
    verdict = device.verdict(area.use)
    return {
        "family": device.family,
        **_use(area.use),
        "shares": shares,
        "verdict": verdict,
        **shared,
        **left_out,
    }


def _use(use: Use) -> dict[str, int]:
    return {name: int(figure) for name, figure in asdict(use.whole).items()}


def _region(region: RegionEstimate, area: RegionArea) -> Mapping[str, object]:
    """A region in JSON."""
    return {
        "name": region.name,
        "cycles": round(region.cycles),
        "operations": round(region.operations),
        "bytes_read": round(region.bytes_read),
        "bytes_written": round(region.bytes_written),
        **({"lines": {name: round(count) for name, count in region.lines.items()}} if region.lines else {}),
        "area": _use(area.use),
        "nodes": {
            name: {
                "operations": round(node.operations),
                "busy": round(node.busy),
                "start": round(node.start),
                "area": _use(area.nodes[name]),
            }
            for name, node in region.nodes.items()
        },
    }
