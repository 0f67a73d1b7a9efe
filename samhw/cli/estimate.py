"""What `samhw compile --estimate` prints: the operations, bytes, cycles and area that are expected."""

from collections.abc import Mapping
from dataclasses import asdict

from rich.console import Console

from samhw.cli.output import print_json, print_table
from samhw.compiler import Compiled, estimate_compiled
from samhw.cost import FAMILIES, AreaEstimate, RegionArea, RegionEstimate, Use, estimate_area
from samhw.errors import InputError
from samhw.statistics import TensorStatistics

__all__ = ["print_estimate"]

_FPGAS = {"ecp5": "ECP5", "xilinx": "Xilinx, 7 series"}


def print_estimate(compiled: Compiled, statistics: TensorStatistics | None, json_target: str | None) -> None:
    """Prints a line for each region and a row for each of its nodes, and what the design takes of FPGAs; or
    writes all of that as JSON.

    Raises:
        InputError: where nothing is known of the inputs.
    """
    if statistics is None:
        raise InputError("--estimate counts what inputs store; give --data, or --density.")
    found = estimate_compiled(compiled, statistics)
    areas = {family: estimate_area(compiled.design, compiled.arch, family) for family in FAMILIES}
    if json_target:
        pairs = zip(found.regions, areas[FAMILIES[0]].regions, strict=True)
        report = {
            "cycles": round(found.cycles),
            "operations": round(found.operations),
            "bytes_read": round(found.bytes_read),
            "bytes_written": round(found.bytes_written),
            "regions": [_region(region, area) for region, area in pairs],
            "area": {family: _area(area) for family, area in areas.items()},
        }
        print_json(json_target, report)
    if json_target == "-":
        return
    console = Console()
    for region, area in zip(found.regions, areas[FAMILIES[0]].regions, strict=True):
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
            f"{region.name}: about {region.cycles:,.0f} cycles, {region.operations:,.0f} operations, "
            f"{region.bytes_read:,.0f} bytes read, {region.bytes_written:,.0f} written, "
            f"{area.use.luts:,.0f} LUTs"
        )
        print_table(console, rows, title=title)
    for family, whole in areas.items():
        console.print(_line(_FPGAS[family], whole), soft_wrap=True)


def _line(fpga: str, area: AreaEstimate) -> str:
    """What the design takes, in words."""
    use = area.use
    line = (
        f"{fpga}: about {use.luts:,.0f} LUTs, {use.registers:,.0f} registers, {use.block_rams:,.0f} block "
        f"RAMs, {use.multipliers:,.0f} multipliers"
    )
    return f"{line}, {area.caveat}" if area.caveat else line


def _area(area: AreaEstimate) -> dict[str, object]:
    """What a design takes, in JSON."""
    shared = {"memories": _use(area.memories), "control": _use(area.control)}
    return {**_use(area.use), **shared, "unmeasured": list(area.unmeasured), "guessed": list(area.guessed)}


def _use(use: Use) -> dict[str, int]:
    return {name: round(figure) for name, figure in asdict(use).items()}


def _region(region: RegionEstimate, area: RegionArea) -> Mapping[str, object]:
    """A region in JSON."""
    return {
        "name": region.name,
        "cycles": round(region.cycles),
        "operations": round(region.operations),
        "bytes_read": round(region.bytes_read),
        "bytes_written": round(region.bytes_written),
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
