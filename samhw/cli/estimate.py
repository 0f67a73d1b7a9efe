"""What `samhw compile --estimate` prints: operations, bytes and cycles that are expected, without a run."""

from rich.console import Console

from samhw.cli.output import print_json, print_table
from samhw.compiler import Compiled, estimate_compiled
from samhw.cost import RegionEstimate
from samhw.errors import InputError
from samhw.frontend import Program
from samhw.workload import Workload

__all__ = ["print_estimate"]


def print_estimate(compiled: Compiled, given: Workload | Program, json_target: str | None) -> None:
    """Prints a line for each region and a row for each of its nodes that does something with values, or
    writes all of that as JSON.

    Raises:
        InputError: without data.
    """
    if isinstance(given, Program):
        raise InputError("--estimate counts what data store; give --data.")
    found = estimate_compiled(compiled, given.statistics(schedule=compiled.schedule))
    if json_target:
        report = {
            "cycles": round(found.cycles),
            "operations": round(found.operations),
            "bytes_read": round(found.bytes_read),
            "bytes_written": round(found.bytes_written),
            "regions": [_region(region) for region in found.regions],
        }
        print_json(json_target, report)
    if json_target == "-":
        return
    console = Console()
    for region in found.regions:
        rows = [["node", "operations", "busy cycles", "starts"]]
        rows += [
            [name, f"{node.operations:,.0f}", f"{node.busy:,.0f}", f"{node.start:,.0f}"]
            for name, node in sorted(region.nodes.items(), key=lambda item: -item[1].busy)
        ]
        title = (
            f"{region.name}: about {region.cycles:,.0f} cycles, {region.operations:,.0f} operations, "
            f"{region.bytes_read:,.0f} bytes read, {region.bytes_written:,.0f} written"
        )
        print_table(console, rows, title=title)


def _region(region: RegionEstimate) -> dict[str, object]:
    """A region in JSON."""
    return {
        "name": region.name,
        "cycles": round(region.cycles),
        "operations": round(region.operations),
        "bytes_read": round(region.bytes_read),
        "bytes_written": round(region.bytes_written),
        "nodes": {
            name: {
                "operations": round(node.operations),
                "busy": round(node.busy),
                "start": round(node.start),
            }
            for name, node in region.nodes.items()
        },
    }
