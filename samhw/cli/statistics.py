"""`samhw run --stats`."""

from collections import Counter

import click
from rich.console import Console

from samhw.backends import RunResult
from samhw.cli.output import print_table
from samhw.graph import Graph
from samhw.report.memory import port_rows
from samhw.sim import Result, bottleneck, lane_loads

__all__ = ["print_statistics"]


def print_statistics(model: RunResult) -> None:
    """Where each region's cycles went."""
    for region in model.regions:
        if region.statistics:
            rows = _statistics(region.graph, region.statistics)
            print_table(Console(), rows, title=f"{region.name}, simulator")
            if region.statistics.memory:
                ports = port_rows(region.statistics.memory)
                print_table(Console(), ports, title=f"{region.name}, ports to off-chip memory")
            if loads := lane_loads(region.graph, region.statistics.nodes):
                click.echo(f"  lanes      {loads}")
            click.echo(f"  bottleneck {bottleneck(region.graph, region.statistics)}")


def _statistics(graph: Graph, result: Result) -> list[list[str]]:
    """A row for each node: its firings, and for which channel it waited longest, for a token and a slot. Of
    copies in lanes, the busiest one has a row."""
    rows = [["node", "firings", "busy", "waited for a token", "waited for a slot"]]
    if result.memory:
        rows[0].append("waited for memory")
    copies: dict[str, list[str]] = {}
    for graph_node in graph.nodes:
        copies.setdefault(graph_node.copy_of or graph_node.name, []).append(graph_node.name)
    for base, names in copies.items():
        node = max((result.nodes[name] for name in names), key=lambda stats: stats.firings)
        name = f"{base} ({len(names)} lanes)" if len(names) > 1 else base
        longest = []
        for kind in ("starved", "blocked"):
            waits = Counter({c: n for a in node.actors.values() for c, n in getattr(a, kind).items() if n})
            longest.append("".join(f"{n:,}: {channel}" for channel, n in waits.most_common(1)))
        rows.append([name, f"{node.firings:,}", f"{node.firings / result.cycles:.0%}", *longest])
        if result.memory:
            waited = sum(actor.memory for actor in node.actors.values())
            rows[-1].append(f"{waited:,}" if waited else "")
    return rows
