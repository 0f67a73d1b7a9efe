"""`samhw run --stats`."""

from collections.abc import Iterable, Mapping

import click
from rich.console import Console

from samhw.cli.output import print_table
from samhw.report.region_report import RegionReport
from samhw.sim import PortStats

__all__ = ["print_statistics"]


def print_statistics(regions: Iterable[RegionReport]) -> None:
    """Where each region's cycles went."""
    for region in regions:
        print_table(Console(), _nodes(region), title=f"{region.name}, simulator")
        if region.ports is not None:
            title = f"{region.name}, ports to off-chip memory"
            print_table(Console(), _ports(region.ports), title=title)
        if region.lanes:
            click.echo(f"  lanes      {region.lanes}")
        click.echo(f"  bottleneck {region.bottleneck}")


def _nodes(region: RegionReport) -> list[list[str]]:
    """A row for each node: its firings, and for which channel it waited longest, for a token and a slot."""
    rows = [["node", "firings", "busy", "waited for a token", "waited for a slot"]]
    if region.ports is not None:
        rows[0].append("waited for memory")
    for node in region.nodes:
        name = f"{node.name} ({node.copies} lanes)" if node.copies > 1 else node.name
        waits = [_longest(node.starved), _longest(node.blocked)]
        rows.append([name, f"{node.firings:,}", f"{node.busy:.0%}", *waits])
        if region.ports is not None:
            rows[-1].append(f"{node.memory:,}" if node.memory else "")
    return rows


def _longest(waits: Mapping[str, int]) -> str:
    """The longest of some waits, with its channel."""
    if not waits:
        return ""
    channel = max(waits, key=lambda name: waits[name])
    return f"{waits[channel]:,}: {channel}"


def _ports(ports: Mapping[str, PortStats]) -> list[list[str]]:
    """A row for each port to off-chip memory."""
    rows = [["port", "words", "lines", "ahead", "cycles each"]]
    for name, port in ports.items():
        words = f"{port.words:,} {'written' if port.write else 'read'}"
        rows.append([name, words, f"{port.requests:,}", f"{port.ahead:,}", f"{port.latency:.1f}"])
    return rows
