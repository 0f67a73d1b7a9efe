"""`samhw compile --after`."""

from contextlib import suppress
from dataclasses import replace

import click

from samhw.compiler import LoweredRegion
from samhw.compiler.graph_passes import GRAPH_PASSES
from samhw.compiler.passes import (
    PROGRAM_PASSES,
    REGION_PASSES,
    Lowerable,
    apply_program_passes,
    apply_region_passes,
)
from samhw.compiler.pipeline import compile_job, plan
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import Endpoint, Graph
from samhw.lang import dumps

__all__ = ["print_after"]


def print_after(job: Job, last: str) -> None:
    """What a pass leaves: the program's text, or, of a pass of graphs, every region's graph.

    Args:
        job: under a schedule that is not to be chosen any more.

    Raises:
        InputError: for a pass that there is not; and for a program that cannot be lowered, unless the pass
            comes before that is known.
    """
    names = (*PROGRAM_PASSES, *REGION_PASSES, *GRAPH_PASSES)
    if last not in names:
        raise InputError(f"There is no pass '{last}'; the passes are, in their order, {', '.join(names)}.")
    if last in PROGRAM_PASSES:
        first = job.lowerable()
        if first.schedule.split:
            with suppress(InputError):  # What no decision makes possible is shown as it is written.
                stored = plan(job).given.schedule.partial_sums
                first = replace(first, schedule=replace(first.schedule, partial_sums=stored))
        _print_program(apply_program_passes(first, last))
        return
    if last in REGION_PASSES:
        decision = plan(job)
        _print_program(apply_region_passes(decision.given.decided(decision.regions), last))
        return
    for region in compile_job(job, last).regions:
        _print_graph(region)


def _print_program(left: Lowerable) -> None:
    """The text of a program, below comments that say what passes have added, and the orders that a schedule
    gives to whole regions."""
    for name, recipe in left.recipes.items():
        click.echo(f"# {name}: {recipe}")
    for copy in left.copies.values():
        click.echo(f"# {copy}")
    for alias, source in left.aliases.items():
        click.echo(f"# {alias} is {source} in another shape: the same memory")
    for name, parts in left.joined.items():
        click.echo(f"# {name} has all entries of {', '.join(parts)}: the host puts it together")
    for line in left.row_orders.lines():
        click.echo(f"# {line}")
    for region in left.program.regions:
        if region.order is not None:
            click.echo(f"# {region.label} is computed in the order {', '.join(region.order)}")
    click.echo(dumps(left.program), nl=False)


def _print_graph(region: LoweredRegion) -> None:
    """A line for each node: its name, the index that it works on, and for each input what feeds it, with the
    depth of the channel."""
    graph: Graph = region.graph
    click.echo(f"{graph.name}: order {','.join(region.order) or '(none)'}, {len(graph.nodes)} nodes")
    for node in graph.nodes:
        inputs = [(port.name, graph.fanin[Endpoint(node.name, port.name)]) for port in node.inputs]
        fed = "  ".join(f"{port} <- {channel.source} ({channel.depth})" for port, channel in inputs)
        click.echo("  ".join(filter(None, (f"  {node.name}", node.index and f"[{node.index}]", fed))))
