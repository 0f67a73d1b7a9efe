"""What `samhw compile --estimate` prints: the operations, bytes, cycles and area that are expected."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import click
from rich.console import Console

from samhw.app.cli.printed import print_json, print_table
from samhw.app.report.alike import alike_regions, grouped
from samhw.app.report.grids import device_grid, shown_areas
from samhw.compiler import Compiled, area_of, estimate_compiled
from samhw.cost import FITS, AreaEstimate, Budget, DesignEstimate, Device, RegionArea, RegionEstimate, Use
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError

__all__ = ["Verdicts", "print_estimate"]


@dataclass(frozen=True)
class Verdicts:
    """What --fits asks for.

    Attributes:
        said: whether a design fits, by the words of each budget.
    """

    said: Mapping[str, str]

    @classmethod
    def of(cls, compiled: Compiled, budgets: Mapping[str, Budget]) -> "Verdicts":
        """Those of a design."""
        uses = {
            family: area_of(compiled, family).use
            for family in dict.fromkeys(budget.family for budget in budgets.values())
        }
        return cls({words: budget.verdict(uses[budget.family]) for words, budget in budgets.items()})

    def to_json(self) -> dict[str, object]:
        """Them as a field of JSON, if there are any."""
        return {"fits": dict(self.said)} if self.said else {}

    def print(self) -> None:
        """A line each."""
        for words, said in self.said.items():
            click.echo(f"{words}: {said}, as expected before placing and routing")

    def exit(self) -> None:
        """Ends the command with exit code 1 if something does not fit."""
        if any(said != FITS for said in self.said.values()):
            sys.exit(1)


def print_estimate(
    compiled: Compiled,
    statistics: TensorStatistics | None,
    devices: Sequence[Device],
    json_target: str | None,
    verdicts: Verdicts,
) -> None:
    """Prints a line for each region and a row for each of its nodes, and what the design takes of FPGAs; or
    writes all of that as JSON.

    Args:
        devices: the FPGAs; nodes and regions have what they take of the first one.
        verdicts: what is said of others.

    Raises:
        InputError: where nothing is known of the inputs.
    """
    if statistics is None:
        raise InputError("--estimate counts what inputs store; give --data, or --density.")
    found = estimate_compiled(compiled, statistics)
    areas = shown_areas(compiled, devices)
    first = areas[0][1]
    trade = _trade(compiled, found, first)
    if json_target:
        pairs = zip(found.regions, first.regions, strict=True)
        report = {
            "cycles": round(found.cycles),
            "operations": round(found.operations),
            "bytes_read": round(found.bytes_read),
            "bytes_written": round(found.bytes_written),
            "regions": [_region(region, area) for region, area in pairs],
            "area": {device.name: _area(device, area) for device, area in areas},
            **({"without": {name: round(figure) for name, figure in trade.items()}} if trade else {}),
            **verdicts.to_json(),
        }
        print_json(json_target, report)
    if json_target == "-":
        return
    console = Console()
    pairs = zip(found.regions, first.regions, strict=True)
    for group in grouped(pairs, alike_regions(compiled)):
        region, area = max(group.members, key=lambda pair: pair[0].cycles)
        rows = [["node", "operations", "busy cycles", "starts", "LUTs"]]
        rows += [
            [
                name,
                f"{node.operations:,.0f}",
                f"{node.busy:,.0f}",
                f"{node.start:,.0f}",
                f"{area.nodes[name].luts:,.0f}",
            ]
            for name, node in sorted(region.nodes.items(), key=lambda item: -item[1].busy)
        ]
        title = (
            f"{region.name}{group.of_others}: about {region.cycles:,.0f} cycles, "
            f"{region.operations:,.0f} operations, "
            f"{region.bytes_read:,.0f} bytes read, {region.bytes_written:,.0f} written, "
            + (f"the fabric of {area.fabric}" if area.fabric else f"{area.use.luts:,.0f} LUTs")
        )
        print_table(console, rows, title=title)
        if region.lines:
            lines = [["port", "lines"], *([name, f"{count:,.0f}"] for name, count in region.lines.items())]
            print_table(console, lines, title=f"{region.name}, ports to off-chip memory")
    print_table(console, device_grid(areas), title="Expected before placing and routing")
    if trade:
        click.echo("; ".join(_trade_words(trade, found, first)))
    for caveat in dict.fromkeys(area.caveat for _, area in areas if area.caveat):
        console.print(caveat, soft_wrap=True)
    verdicts.print()


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
