"""`samhw compile`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import click
from rich.console import Console

from samhw.app.cli.after import text_after, write_mlir
from samhw.app.cli.analyses import print_cascades, print_orders, print_patterns
from samhw.app.cli.backends import memory_of, memory_option
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_programs
from samhw.app.cli.estimate import Verdicts, print_estimate
from samhw.app.cli.options import BUILD_DATA, CompileOptions, compile_options
from samhw.app.cli.printed import OUTPUT, print_json, print_table
from samhw.app.cli.progress import phase
from samhw.app.cli.schedules import note_idle, print_choice
from samhw.app.cli.stored_inputs import block_lines, blocks_json, part_lines, parts_json
from samhw.app.report.alike import alike_regions, grouped
from samhw.app.workload import Workload
from samhw.compiler import Compiled, CompiledRegion
from samhw.compiler.passes import apply_program_passes
from samhw.compiler.pipeline import Job, compile_job, settled
from samhw.compiler.placement import interleaved_lines, place_lines
from samhw.compiler.shared_hardware import fabric_lines, fabrics_json, nodes_in_common_json
from samhw.cost import DEVICES, SHOWN_DEVICES, find_device, parse_budget
from samhw.errors import InputError
from samhw.files import write_bytes, write_text
from samhw.graph import DRAWINGS, Design, draw, dumps, find_drawer, to_dot, unproved_circles
from samhw.lang import Program

__all__ = ["compile"]

_TEXT = ("", ".dot", ".gv")
"""The suffixes of files in Graphviz's language."""


@click.command(cls=Command)
@click.argument("program", shell_complete=complete_programs)
@compile_options
@BUILD_DATA
@click.option("--table", is_flag=True, help="Print the fusion table.")
@click.option("--html", type=OUTPUT, help="Write the fusion tables as a page.")
@click.option(
    "--channels",
    is_flag=True,
    help="Print the channels with latency and depth, and whether they are proved deep enough.",
)
@click.option(
    "--orders",
    "listed",
    type=click.IntRange(min=0),
    is_flag=False,
    flag_value=10,
    metavar="[N]",
    help="Compile nothing; count the orders of each region's indices, and print the first N (10).",
)
@click.option(
    "--patterns",
    is_flag=False,
    flag_value="",
    metavar="[FILE.py:NAME]",
    help="Compile nothing; list what patterns match, one's own before the built-in ones, and the schedule "
    "that they give.",
)
@click.option(
    "--cascades",
    is_flag=True,
    help="Compile nothing; say of each reduction that depends on another one whether both can be one pass.",
)
@click.option(
    "--estimate",
    is_flag=True,
    help="Print the operations, bytes, cycles and area that are expected, by region and node.",
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    metavar="NAME",
    help=f"Of --estimate: an FPGA, one of {', '.join(DEVICES)}; by default one of each family.",
)
@click.option(
    "--fits",
    multiple=True,
    metavar="PART",
    help="Say whether the design is expected to fit an FPGA, or limits as of --area; if not, exit with 1.",
)
@click.option(
    "--mlir",
    type=OUTPUT,
    metavar="FILE|-",
    help="Compile nothing; write the program as a function of linalg in MLIR.",
)
@memory_option
@click.option("--after", metavar="PASS", help="Compile nothing; print the program as a pass leaves it.")
@click.option(
    "--dot",
    type=OUTPUT,
    help="Draw the graph (.svg, .png, .pdf), or write it in Graphviz's language (.dot, or no suffix).",
)
@click.option("-o", "--output", type=OUTPUT, help="Write the graph as JSON.")
@click.option(
    "--json",
    "json_target",
    type=OUTPUT,
    metavar="FILE|-",
    help="Write as JSON what each region computes, how often each intermediate, and why.",
)
def compile(
    program: str,
    options: CompileOptions,
    data: Sequence[str],
    table: bool,
    html: str | None,
    channels: bool,
    listed: int | None,
    patterns: str | None,
    cascades: bool,
    estimate: bool,
    parts: Sequence[str],
    fits: Sequence[str],
    mlir: str | None,
    memory: str | None,
    ports: str | None,
    after: str | None,
    dot: str | None,
    output: str | None,
    json_target: str | None,
) -> None:
    """Compile PROGRAM to a SAMML graph.

    A drawing needs Graphviz.
    """
    if dot:
        _check_drawing(dot, estimate=estimate)
    devices = [find_device(name) for name in parts] or SHOWN_DEVICES
    placed = memory_of(memory, ports)
    budgets = {part: parse_budget(part) for part in fits}
    given = options.load(program, data, assume=True)
    shows = bool(table or html or channels or dot or output or fits)
    writes = shows or bool(json_target)
    if mlir:
        _refuse("--mlir", writes or listed is not None or after)
        write_mlir(given, options.value, mlir)
        return
    if patterns is not None:
        _refuse("--patterns", shows or listed is not None or after)
        print_patterns(given if isinstance(given, Program) else given.program, patterns, json_target)
        return
    if cascades:
        _refuse("--cascades", writes or listed is not None or after)
        print_cascades(settled(options.job(given, memory=placed)).lowerable())
        return
    if listed is not None or after is not None:
        copies = listed is not None and (options.schedule.permute or after)
        _refuse("--after" if listed is None else "--orders", writes or copies)
        _print_unlowered(settled(options.job(given, memory=placed)), listed, after)
        return
    job = options.job(given, memory=placed)
    with phase("compiling"):
        compiled = compile_job(job)
    note_idle(compiled)
    verdicts = Verdicts.of(compiled, budgets)
    if output:
        write_text(Path(output), dumps(compiled.design))
    if html:
        _write_tables(compiled, html)
    if "-" not in (json_target, dot) and (table or channels or not estimate):
        _print(compiled, given, table, channels)
    if estimate:
        print_estimate(compiled, job.statistics(compiled.schedule), devices, json_target, verdicts)
    else:
        _tell(verdicts, _report(compiled, given, channels), json_target, dot)
    if dot:
        _draw(compiled.design, dot)
    verdicts.exit()


def _tell(verdicts: Verdicts, report: dict[str, object], json_target: str | None, dot: str | None) -> None:
    """What fits, beside what was printed, and all as JSON, as asked for."""
    if json_target:
        print_json(json_target, report | verdicts.to_json())
    if "-" not in (json_target, dot):
        verdicts.print()


def _print_unlowered(job: Job, listed: int | None, after: str | None) -> None:
    """What --orders and --after ask for."""
    if listed is not None:
        print_orders(apply_program_passes(job.lowerable()).program, listed)
    if after is not None:
        click.echo(text_after(job, after), nl=False)


def _write_tables(compiled: Compiled, html: str) -> None:
    page = Console(record=True, file=StringIO(), width=10_000)
    for region in compiled.regions:
        print_table(page, region.table.grid(), title=_region_title(region))
    write_text(Path(html), page.export_html())


def _refuse(option: str, others: object) -> None:
    """Raises `InputError` where an option that compiles nothing stands beside some that show a graph."""
    if others:
        raise InputError(f"{option} compiles nothing; leave out the options that show or write a graph.")


def _check_drawing(dot: str, *, estimate: bool) -> None:
    """Raises `InputError` for a file of no form that --dot writes, where --estimate prints too, and where
    what draws is not installed."""
    if dot == "-" and estimate:
        raise InputError("--estimate prints, and '--dot -' too; name a file for one of them.")
    suffix = Path(dot).suffix.lower()
    if suffix not in _TEXT and suffix[1:] not in DRAWINGS:
        forms = " or ".join(f".{form}" for form in DRAWINGS)
        raise InputError(
            f"--dot {dot}: nothing is drawn as {suffix}; give {forms} for a drawing, or .dot for its text."
        )
    if suffix not in _TEXT:
        find_drawer(suffix[1:])


def _draw(design: Design, dot: str) -> None:
    """Writes a drawing, or its text, by the suffix."""
    suffix = Path(dot).suffix.lower()
    if dot == "-":
        click.echo(to_dot(design), nl=False)
    elif suffix in _TEXT:
        write_text(Path(dot), to_dot(design))
    else:
        write_bytes(Path(dot), [draw(design, suffix[1:])])


def _print(compiled: Compiled, given: Workload | Program, table: bool, channels: bool) -> None:
    """What was made, region by region, and the tables that are asked for."""
    console = Console()
    print_choice(compiled)
    for sentence in (*part_lines(compiled, given), *block_lines(compiled, given)):
        click.echo(sentence)
    for group in grouped(compiled.regions, alike_regions(compiled)):
        region = group.members[0]
        graph = region.graph
        if table:
            print_table(console, region.table.grid(), title=_region_title(region))
            if region.computations:
                print_table(console, _computations(region), title=f"{graph.name}: intermediates")
        if channels:
            print_table(console, _channels(region), title=f"{graph.name}: channels")
            click.echo(f"{graph.name}: {_liveness(region)}")
        click.echo(
            f"{graph.name}: order {','.join(region.order) or '(none)'}, {len(graph.nodes)} nodes, "
            f"{len(graph.channels)} channels, {len(graph.memories)} memories"
            + (f";{group.and_others}" if group.others else "")
        )
        for statement in region.region.statements:
            click.echo(f"  {replace(statement, order=None)}")  # The line above has the order.
        if region.copy:
            click.echo(f"  copy: {region.copy}")
        if region.note:
            click.echo(f"  {region.note}")
        if region.in_turns:
            click.echo(f"  {region.in_turns.cause}; they are dealt in turns here")
    for alias, source in compiled.aliases.items():
        click.echo(f"{alias} is {source} in another shape: the same memory, and no region")
    for name, parts in compiled.joined.items():
        click.echo(f"{name} has all entries of {', '.join(parts)}: the host puts it together")
    for line in compiled.order_lines:
        click.echo(line)
    for line in (*fabric_lines(compiled), *place_lines(compiled), *interleaved_lines(compiled)):
        click.echo(line)
    if any(node.copy_of for _, node in compiled.design.nodes):
        several = [f"{name} {count}" for name, count in compiled.design.copies.items() if count > 1]
        click.echo(f"words that are read at a time from memories on chip: {', '.join(several) or 'none'}")
        divided = [f"{t.name} {t.shards}" for t in compiled.design.tensors if t.shards > 1 and not t.rows]
        if divided:
            click.echo(f"results in shards, one from each lane: {', '.join(divided)}")
        for line in range_lines(compiled.design):
            click.echo(line)


def range_lines(design: Design) -> Iterator[str]:
    """What lies in ranges of rows, and what each bank has room for."""
    for tensor in design.tensors:
        if tensor.rows:
            banks = [
                memory for memory in design.memories if memory.tensor == tensor.name and not memory.shard
            ]
            held = ", ".join(f"{memory.array} {memory.words:,}" for memory in banks)
            most = design.extents[tensor.rows[0]]
            yield f"{tensor.name} in {len(tensor.rows)} ranges of up to {most:,} rows; a bank holds {held}"


def _channels(region: CompiledRegion) -> list[list[str]]:
    """A row for each channel."""
    graph = region.graph
    rows = [["channel", "stream", "latency", "depth", "why"]]
    rows += [
        [
            c.name,
            f"{graph.stream(c).kind} depth {graph.stream(c).depth}",
            str(c.latency),
            str(c.depth),
            region.reasons.get(c.name, ""),
        ]
        for c in graph.channels
    ]
    return rows


def _liveness(region: CompiledRegion) -> str:
    """Whether the channels are deep enough, and if that is not known, why."""
    circles = unproved_circles(region.graph, region.extent)
    if not circles:
        return "no circle of waits: these channels are deep enough for any data"
    return f"these channels may be deep enough, but that is not proved: {circles[0]}"


def _computations(region: CompiledRegion) -> list[list[str]]:
    """How often each intermediate is computed, and why."""
    rows = [["intermediate", "read by", "computed", "how", "why"]]
    for found in region.computations:
        times = "once" if found.is_once else f"{found.times:,.1f} times"
        rows.append([found.tensor, ", ".join(found.readers), times, found.how, found.why])
    return rows


def _report(compiled: Compiled, given: Workload | Program, channels: bool) -> dict[str, object]:
    """What --json writes."""
    return {
        "program": compiled.program.name,
        "schedule": compiled.schedule.to_json(),
        **({"why": list(compiled.why)} if compiled.why else {}),
        "regions": [
            {
                "name": region.graph.name,
                "results": list(region.region.written),
                "order": list(region.order),
                "nodes": len(region.graph.nodes),
                "expected_cycles": round(region.expected.cycles),
                "note": region.note,
                "intermediates": [found.to_json() for found in region.computations],
                **({"circles": _circles(region)} if channels else {}),
            }
            for region in compiled.regions
        ],
        **({"fabrics": fabrics_json(compiled)} if compiled.fabrics else {}),
        **({"nodes_in_common": common} if (common := nodes_in_common_json(compiled)) else {}),
        "aliases": dict(compiled.aliases),
        **({"joined": {n: list(parts) for n, parts in compiled.joined.items()}} if compiled.joined else {}),
        **({"split": parts_json(compiled, given)} if compiled.schedule.split else {}),
        **({"row_orders": lines} if (lines := compiled.order_lines) else {}),
        **({"blocks": stored} if (stored := blocks_json(compiled, given)) else {}),
    }


def _circles(region: CompiledRegion) -> list[dict[str, object]]:
    """The circles of waits that are not ruled out."""
    return [circle.to_json() for circle in unproved_circles(region.graph, region.extent)]


def _region_title(region: CompiledRegion) -> str:
    return f"{region.graph.name}: {'; '.join(map(str, region.region.statements))}"
