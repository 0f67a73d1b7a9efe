"""The command line: `samhw kernels | compile | run | build | correlate`."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samhw import __version__
from samhw.compiler import Compiled, compile_program
from samhw.errors import InputError, SamhwError
from samhw.frontend import Program, kernel_description, kernel_names, load, load_kernel, load_object
from samhw.graph import dumps, to_dot, to_svg

if TYPE_CHECKING:
    from samhw.sim import Result
    from samhw.targets import Workload

__all__ = ["main"]

TARGETS = ("sim", "verilator")


def load_program(spec: str) -> Program:
    """PROGRAM as the command line takes it: a built-in name, a `.ein` file, or `file.py:object`."""
    if spec in kernel_names():
        return load_kernel(spec)
    if spec.endswith(".ein"):
        return load(Path(spec))
    if ".py:" in spec:
        return load_object(spec)
    raise InputError(
        f"There is no program '{spec}'; give a name from 'samhw kernels', a .ein file, or file.py:object."
    )


def _options(command: Any) -> Any:
    """What compile, run, build and correlate share."""
    for option in reversed(
        [
            click.option("--order", metavar="i,k,j", help="Order of the indices, outermost first."),
            click.option(
                "--value",
                default="i32",
                show_default=True,
                metavar="TYPE",
                help="Value type: i8, i16, i32 or fixed<W,F>.",
            ),
            click.option(
                "--iteration",
                type=click.Choice(["factored", "global"]),
                default="factored",
                show_default=True,
                help="Iteration spaces.",
            ),
        ]
    ):
        command = option(command)
    return command


def _compile_options(order: str | None, value: str, iteration: str) -> dict[str, Any]:
    chosen = tuple(i.strip() for i in order.split(",")) if order else None
    return {"order": chosen, "value": value, "factored": iteration == "factored"}


def _print_json(target: str, data: object) -> None:
    text = json.dumps(data, indent=2) + "\n"
    if target == "-":
        click.echo(text, nl=False)
        return
    _write(Path(target), text)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {path} ({error.strerror}); choose another place.") from None


class _Group(click.Group):
    """Turns samhw's errors into one sentence on stderr and their exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SamhwError as error:
            click.echo(f"samhw: {error}", err=True)
            sys.exit(error.exit_code)
        except BrokenPipeError:
            sys.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="samhw")
def main() -> None:
    """Sparse tensor programs to streaming hardware.

    PROGRAM is a built-in name (see 'samhw kernels'), a .ein file, or file.py:object.
    """


@main.command()
def kernels() -> None:
    """The built-in programs, a line each."""
    for name in kernel_names():
        click.echo(f"{name:12}  {kernel_description(name)}")


@main.command()
@click.argument("program")
@_options
@click.option(
    "--data", multiple=True, metavar="DATA", help="Data that fixes extents and capacities, as for run."
)
@click.option("--table", is_flag=True, help="Print the fusion table.")
@click.option("--channels", is_flag=True, help="Print the channels with latency and depth.")
@click.option(
    "--dot", type=click.Path(dir_okay=False), help="Write the graph in Graphviz's language; .svg draws it."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the graph as JSON.")
def compile(
    program: str,
    order: str | None,
    value: str,
    iteration: str,
    data: Sequence[str],
    table: bool,
    channels: bool,
    dot: str | None,
    output: str | None,
) -> None:
    """Compile PROGRAM to a SAMML graph."""
    from samhw.targets import make_workload

    workload = make_workload(load_program(program), data, value=value) if data else None
    compiled = _compile(program, workload, _compile_options(order, value, iteration))
    graph = compiled.graph
    console = Console()
    if table:
        _print_table(console, compiled.table.grid(), title=f"{graph.name}: {compiled.statement}")
    if channels:
        rows = [["channel", "stream", "latency", "depth"]]
        rows += [
            [c.name, f"{graph.stream(c).kind} depth {graph.stream(c).depth}", str(c.latency), str(c.depth)]
            for c in graph.channels
        ]
        _print_table(console, rows, title="channels")
    if dot:
        _write(Path(dot), to_svg(graph) if dot.endswith(".svg") else to_dot(graph))
    if output:
        _write(Path(output), dumps(graph))
    order_text = ",".join(compiled.order)
    click.echo(
        f"{graph.name}: order {order_text or '(none)'}, {len(graph.nodes)} nodes, {len(graph.channels)} "
        f"channels, {len(graph.memories)} memories"
    )


def _compile(program: str, workload: "Workload | None", options: dict[str, Any]) -> Compiled:
    """Compiles for the capacities of a workload, or for what the program's text says."""
    from samhw.targets import compile_workload

    if workload:
        return compile_workload(workload, **options)
    try:
        return compile_program(load_program(program), **options)
    except InputError as error:
        if "Nothing gives the extent" not in str(error):
            raise
        raise InputError(f"{error} ('--data karate' or '--data random' will do.)") from None


def _statistics(result: "Result") -> list[list[str]]:
    """A row for each node: its firings, and for which channel it waited longest, for a token and a slot."""
    rows = [["node", "firings", "busy", "waited for a token", "waited for a slot"]]
    for name, node in result.nodes.items():
        longest = []
        for kind in ("starved", "blocked"):
            waits = Counter({c: n for a in node.actors.values() for c, n in getattr(a, kind).items() if n})
            longest.append("".join(f"{n:,}: {channel}" for channel, n in waits.most_common(1)))
        rows.append([name, f"{node.firings:,}", f"{node.firings / result.cycles:.0%}", *longest])
    return rows


def _print_table(console: Console, rows: list[list[str]], title: str) -> None:
    table = Table(title=Text(title), title_justify="left", show_lines=False)
    for heading in rows[0]:
        table.add_column(Text(heading), overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    console.print(table)


@main.command()
@click.argument("program")
@_options
@click.option(
    "--data",
    multiple=True,
    default=("random",),
    show_default=True,
    metavar="DATA",
    help="karate, random:.., a file, or NAME=FILE.",
)
@click.option(
    "--backend",
    type=click.Choice(["sim", "verilator"]),
    default="sim",
    show_default=True,
    help="What runs it.",
)
@click.option("--json", "json_target", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--save", type=click.Path(), help="Write the result tensor to a file (.mtx, .tns, .npz).")
@click.option("--stats", is_flag=True, help="Print where each node's cycles went.")
@click.option("--wave", type=click.Path(dir_okay=False), help="Record the RTL's signals (.fst, .vcd).")
def run(
    program: str,
    order: str | None,
    value: str,
    iteration: str,
    data: Sequence[str],
    backend: str,
    json_target: str | None,
    save: str | None,
    stats: bool,
    wave: str | None,
) -> None:
    """Run PROGRAM on data and check the result.

    The simulator always runs; with --backend verilator the generated RTL runs too, and both must agree.
    """
    from samhw.targets import check, compile_workload, make_workload
    from samhw.targets import run as execute
    from samhw.tensors import write_tensor

    if wave and backend != "verilator":
        raise InputError("--wave records the RTL's signals; add '--backend verilator'.")
    options = _compile_options(order, value, iteration)
    workload = make_workload(load_program(program), data, value=value)
    compiled = compile_workload(workload, **options)
    model = execute(compiled, workload.tensors, "sim")
    chosen = model
    if backend != "sim":
        chosen = execute(compiled, workload.tensors, backend, wave=Path(wave) if wave else None)
    checks = [check(workload, compiled, r.outputs) for r in (model, chosen)]
    good = all(c.good for c in checks) and model.cycles == chosen.cycles
    report = {
        "program": compiled.graph.name,
        "data": workload.name,
        "backend": backend,
        "value": compiled.graph.value,
        "order": list(compiled.order),
        "cycles": chosen.cycles,
        "model_cycles": model.cycles,
        "checked": good,
        "max_abs_error": max(c.max_abs_error for c in checks),
        "seconds": round(chosen.seconds, 4),
        "build_seconds": round(chosen.build_seconds, 2),
    }
    if save:
        write_tensor(Path(save), chosen.outputs[workload.statement.lhs.tensor])
    if json_target:
        _print_json(json_target, report)
    if json_target != "-":
        click.echo(f"{compiled.statement}")
        shapes = ", ".join(
            f"{n} {'x'.join(map(str, t.shape)) or 'scalar'} ({t.nnz} stored)"
            for n, t in workload.tensors.items()
        )
        click.echo(f"  data       {workload.name}: {shapes}")
        click.echo(f"  simulator  {model.cycles:,} cycles in {model.seconds:.2f} s")
        if backend == "verilator":
            click.echo(
                f"  RTL        {chosen.cycles:,} cycles in {chosen.seconds:.2f} s (build "
                f"{chosen.build_seconds:.1f} s)"
            )
        if stats and model.statistics:
            _print_table(Console(), _statistics(model.statistics), title="simulator")
        result = "right" if all(c.good for c in checks) else "WRONG"
        click.echo(f"  result     {result}: greatest difference from NumPy {report['max_abs_error']:g}")
    if not good:
        sys.exit(1)


@main.command()
@click.argument("program")
@_options
@click.option(
    "--data", multiple=True, metavar="DATA", help="Data that fixes extents and capacities, as for run."
)
@click.option("--target", required=True, metavar="TARGET", help="sim or verilator.")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Directory to write.")
def build(
    program: str, order: str | None, value: str, iteration: str, data: Sequence[str], target: str, output: str
) -> None:
    """Write a build of PROGRAM to a directory."""
    from samhw.targets import build as write_build
    from samhw.targets import make_workload

    if target not in TARGETS:
        raise InputError(f"There is no target '{target}'; choose one of {', '.join(TARGETS)}.")
    options = _compile_options(order, value, iteration)
    workload = make_workload(load_program(program), data, value=value) if data else None
    compiled = _compile(program, workload, options)
    for path in write_build(compiled, target, Path(output), workload.tensors if workload else None):
        click.echo(path)


@main.command()
@click.argument("programs", nargs=-1)
@_options
@click.option(
    "--suite", type=click.Choice(["kernels"]), help="A set of built-in programs instead of PROGRAMS."
)
@click.option(
    "--data",
    multiple=True,
    default=("karate", "random"),
    show_default=True,
    metavar="DATA",
    help="Data sets, each run by itself.",
)
@click.option(
    "--report", type=click.Path(file_okay=False), help="Write JSON, plot and HTML page to a directory."
)
@click.option("--json", "json_target", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--jobs", type=int, help="Processes; by default one for each processor.")
def correlate(
    programs: Sequence[str],
    order: str | None,
    value: str,
    iteration: str,
    suite: str | None,
    data: Sequence[str],
    report: str | None,
    json_target: str | None,
    jobs: int | None,
) -> None:
    """Run programs by simulator and RTL and compare cycles and results."""
    from rich.progress import Progress

    from samhw.targets import correlate as run_all

    names = [*programs, *(kernel_names() if suite else ())]
    if not names:
        raise InputError("correlate needs programs; name some, or give '--suite kernels'.")
    loaded = [load_program(name) for name in names]
    options = _compile_options(order, value, iteration)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("correlate", total=len(loaded))
        result = run_all(loaded, data, jobs=jobs, progress=lambda _: progress.advance(task), **options)
    summary = result.to_json()
    if report:
        from samhw.report import write_report

        write_report(summary, Path(report))
    if json_target:
        _print_json(json_target, summary)
    if json_target != "-":
        rows = [["program", "data", "model cycles", "RTL cycles", "difference", "results"]]
        rows += [
            [
                r.name,
                r.data,
                f"{r.model_cycles:,}",
                f"{r.rtl_cycles:,}",
                str(r.rtl_cycles - r.model_cycles),
                "right" if r.checked else "WRONG",
            ]
            for r in result.rows
        ]
        _print_table(Console(), rows, title="simulator against RTL")
        click.echo(f"{result.exact} of {len(result.rows)} cycle counts equal, R² = {result.r2:.6g}")
    if not result.good:
        sys.exit(1)
