"""`samhw run --stats`."""

from collections.abc import Iterable, Mapping

import click
from rich.console import Console

from samhw.app.cli.output import print_table
from samhw.app.report.region_report import RegionReport
from samhw.app.report.statistics import node_grid
from samhw.sim import PortStats

__all__ = ["print_statistics"]


def print_statistics(regions: Iterable[RegionReport]) -> None:
    """Where each region's cycles went."""
    for region in regions:
        print_table(Console(), node_grid(region), title=f"{region.name}, simulator")
        if region.ports is not None:
            title = f"{region.name}, ports to off-chip memory"
            print_table(Console(), _ports(region.ports), title=title)
        if region.lanes:
            click.echo(f"  lanes      {region.lanes}")
        click.echo(f"  bottleneck {region.bottleneck}")


def _ports(ports: Mapping[str, PortStats]) -> list[list[str]]:
    """A row for each port to off-chip memory."""
    rows = [["port", "words", "lines", "ahead", "cycles each"]]
    for name, port in ports.items():
        words = f"{port.words:,} {'written' if port.write else 'read'}"
        rows.append([name, words, f"{port.requests:,}", f"{port.ahead:,}", f"{port.latency:.1f}"])
    return rows
