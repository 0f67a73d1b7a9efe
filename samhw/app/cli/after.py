"""Programs and graphs as text, for `samhw compile`: what a pass leaves (`--after`), and MLIR (`--mlir`)."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from samhw.app.workload import Workload
from samhw.compiler import Compiled, CompiledRegion, choose_value
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
from samhw.files import write_text
from samhw.graph import Endpoint, Memory, Node
from samhw.graph.numerics import ValueType
from samhw.importers.mlir import write_function
from samhw.lang import Program, dumps
from samhw.words import did_you_mean

__all__ = ["graph_text", "program_after", "program_text", "text_after", "write_mlir"]


def text_after(job: Job, last: str) -> str:
    """What a pass leaves: the program's text, or, of a pass of graphs, every region's graph.

    Args:
        job: under a schedule that is not to be chosen any more.

    Raises:
        InputError: for a pass that there is not; and for a program that cannot be lowered, unless the pass
            comes before that is known.
    """
    names = (*PROGRAM_PASSES, *REGION_PASSES, *GRAPH_PASSES)
    if last not in names:
        raise InputError(
            f"There is no pass '{last}'{did_you_mean(last, names)}; the passes are, in their order, "
            f"{', '.join(names)}."
        )
    if last in GRAPH_PASSES:
        return graph_text(compile_job(job, last))
    return program_text(program_after(job, last))


def program_after(job: Job, last: str) -> Lowerable:
    """What a pass of programs leaves; raises as `text_after` does."""
    if last in REGION_PASSES:
        decision = plan(job)
        return apply_region_passes(decision.given.decided(decision.regions), last)
    first = job.lowerable()
    if first.schedule.split:
        with suppress(InputError):  # What no decision makes possible is shown as it is written.
            stored = plan(job).given.schedule.partial_sums
            first = replace(first, schedule=replace(first.schedule, partial_sums=stored))
    return apply_program_passes(first, last)


def program_text(left: Lowerable) -> str:
    """The text of a program, below comments that say what passes have added, and what a schedule gives to
    whole regions and to indices."""
    return "".join(f"# {line}\n" for line in _remarks(left)) + dumps(left.program)


def _remarks(left: Lowerable) -> Iterator[str]:
    """What belongs to a program and does not stand in its text."""
    for name, recipe in left.recipes.items():
        yield f"{name}: {recipe}"
    yield from map(str, left.copies.values())
    for alias, source in left.aliases.items():
        yield f"{alias} is {source} in another shape: the same memory"
    for copy, why in left.copied_shapes.items():
        yield f"{copy} is copied to its shape: {why}"
    for name, parts in left.joined.items():
        yield f"{name} has all entries of {', '.join(parts)}: the host puts it together"
    yield from left.row_orders.lines()
    for region in left.program.regions:
        if region.order is not None:
            yield f"{region.label} is computed in the order {', '.join(region.order)}"
    if left.schedule.lanes:
        yield f"lanes: {', '.join(f'{index} {count}' for index, count in left.schedule.lanes.items())}"


def graph_text(compiled: Compiled) -> str:
    """The graphs of all regions."""
    return "".join(f"{line}\n" for region in compiled.regions for line in _graph_lines(region))


def _graph_lines(region: CompiledRegion) -> Iterator[str]:
    """A line for the region, one for each node, and one for each memory."""
    graph = region.graph
    yield f"{graph.name}: order {','.join(region.order) or '(none)'}, {len(graph.nodes)} nodes"
    for node in graph.nodes:
        yield f"  {_node_line(region, node)}"
    for memory in graph.memories:
        yield f"  {_memory_line(memory)}"


def _node_line(region: CompiledRegion, node: Node) -> str:
    """The name of a node, its kind and parameters, the index that it works on, and for each input what feeds
    it, with the depth of the channel, and why it is deeper than full rate needs."""
    what = ", ".join(f"{name}={value}" for name, value in node.params.items())
    words = [f"{node.name}:", f"{node.kind}({what})", node.index and f"[{node.index}]"]
    for port in node.inputs:
        channel = region.graph.fanin[Endpoint(node.name, port.name)]
        why = region.reasons.get(channel.name)
        room = f"{channel.depth}: {why}" if why else channel.depth
        words.append(f"{port.name} <- {channel.source} ({room})")
    return "  ".join(filter(None, words))


def _memory_line(memory: Memory) -> str:
    """The name of a memory, and its size."""
    block = " x ".join(map(str, memory.block))
    return f"{memory.name}: {memory.capacity:,} {f'blocks of {block}' if block else 'words'}"


def write_mlir(given: Workload | Program, value: ValueType | None, target: str) -> None:
    """Writes a program as MLIR into a file, or to stdout for `-`.

    Raises:
        InputError: for a statement or a value type that linalg has no form for.
    """
    program = given if isinstance(given, Program) else given.program
    if any(extent is None for decl in program.tensors.values() for extent in decl.shape):
        raise InputError(f"The types of MLIR hold all extents of '{program.name}'; give data, or --extents.")
    text = write_function(program, choose_value(value, program))
    if target == "-":
        click.echo(text, nl=False)
    else:
        write_text(Path(target), text)
