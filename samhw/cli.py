"""The command line: `samhw kernels | compile | run | compare | build | correlate`."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samhw import __version__
from samhw.compiler import Compiled, CompiledRegion, compile_program
from samhw.errors import InputError, SamhwError
from samhw.frontend import (
    FUSION_LEVELS,
    FusionLevel,
    Program,
    kernel_description,
    kernel_names,
    load,
    load_kernel,
    load_model,
    load_object,
    model_description,
    model_names,
)
from samhw.graph import Arch, dumps, to_dot, to_svg

if TYPE_CHECKING:
    from samhw.sim import Result
    from samhw.targets import Outcome, RunResult, Workload

__all__ = ["main"]

TARGETS = ("sim", "verilator", "vitis-hls")

_REGIONS = ("kernels", "top")
_REGIONS_HELP = "HLS: a kernel for each region (the default), or one top function that runs all."

_SUITES = {"kernels": kernel_names, "models": model_names}
_DATA = {False: ("karate", "random"), True: ("karate",)}
"""What correlate runs a program on unless told: kernels, and models."""


def load_program(spec: str) -> Program:
    """PROGRAM as the command line takes it: a built-in name, a `.ein` file, or `file.py:object`."""
    if spec in kernel_names():
        return load_kernel(spec)
    if spec in model_names():
        return load_model(spec)
    if spec.endswith(".ein"):
        return load(Path(spec))
    if ".py:" in spec:
        return load_object(spec)
    raise InputError(
        f"There is no program '{spec}'; give a name from 'samhw kernels', a .ein file, or file.py:object."
    )


_ARCH = click.option(
    "--arch",
    metavar="samhw|vitis|FILE",
    help="Latencies: those of our RTL, those predicted for HLS (what HLS has by default), or an arch.json.",
)


def _options(command: Any) -> Any:
    """What compile, run, build and correlate share."""
    for option in reversed(
        [
            click.option("--order", metavar="i,k,j", help="Order of the indices, outermost first."),
            click.option(
                "--fuse",
                type=click.Choice(FUSION_LEVELS),
                default="partial",
                show_default=True,
                help="Regions: one for each statement, as the program says, or all in one.",
            ),
            click.option(
                "--value",
                default="i32",
                show_default=True,
                metavar="TYPE",
                help="Value type: i8, i16, i32, fixed<W,F>, bf16 or f32.",
            ),
            click.option(
                "--iteration",
                type=click.Choice(["factored", "global"]),
                default="factored",
                show_default=True,
                help="Iteration spaces.",
            ),
            click.option(
                "--permute",
                is_flag=True,
                help="Where storage orders conflict, copy a tensor into another mode order first.",
            ),
            _ARCH,
        ]
    ):
        command = option(command)
    return command


def _workload(spec: str, data: Sequence[str], value: str, fuse: FusionLevel) -> "Workload":
    """PROGRAM bound to data, with the regions asked for."""
    from samhw.targets import make_model_workload, make_workload

    if spec in model_names():
        workload = make_model_workload(spec, data)
    else:
        workload = make_workload(load_program(spec), data, value=value)
    return replace(workload, program=workload.program.with_fusion(fuse))


def _compile_options(
    order: str | None, value: str, iteration: str, permute: bool, arch: str | None, default: str = "samhw"
) -> dict[str, Any]:
    return {
        "order": tuple(i.strip() for i in order.split(",")) if order else None,
        "value": value,
        "factored": iteration == "factored",
        "permute": permute,
        "arch": _load_arch(arch or default),
    }


def _load_arch(name: str) -> Arch:
    """--arch: a profile by its name, or what a build has written."""
    profiles = {"samhw": Arch, "vitis": Arch.vitis}
    if name in profiles:
        return profiles[name]()
    try:
        return Arch.from_json(json.loads(Path(name).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError):
        raise InputError(
            f"--arch {name}: give samhw, vitis, or a file like the arch.json of a build."
        ) from None


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
    """The built-in programs, a line each: kernels, then models."""
    for name in kernel_names():
        click.echo(f"{name:18}  {kernel_description(name)}")
    for name in model_names():
        click.echo(f"{name:18}  {model_description(name)}")


@main.command()
@click.argument("program")
@_options
@click.option(
    "--data", multiple=True, metavar="DATA", help="Data that fixes extents and capacities, as for run."
)
@click.option("--table", is_flag=True, help="Print the fusion table.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write the fusion tables as a page.")
@click.option("--channels", is_flag=True, help="Print the channels with latency and depth.")
@click.option(
    "--dot", type=click.Path(dir_okay=False), help="Write the graph in Graphviz's language; .svg draws it."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the graph as JSON.")
def compile(
    program: str,
    order: str | None,
    fuse: FusionLevel,
    value: str,
    iteration: str,
    permute: bool,
    arch: str | None,
    data: Sequence[str],
    table: bool,
    html: str | None,
    channels: bool,
    dot: str | None,
    output: str | None,
) -> None:
    """Compile PROGRAM to a SAMML graph."""
    workload = _workload(program, data, value, fuse) if data else None
    compiled = _compile(program, workload, fuse, _compile_options(order, value, iteration, permute, arch))
    if dot:
        _write(Path(dot), to_svg(compiled.graph) if dot.endswith(".svg") else to_dot(compiled.graph))
    if output:
        _write(Path(output), dumps(compiled.graph))
    if html:
        page = Console(record=True, file=StringIO(), width=10_000)
        for region in compiled.regions:
            _print_table(page, region.table.grid(), title=_region_title(region))
        _write(Path(html), page.export_html())
    console = Console()
    for region in compiled.regions:
        graph = region.graph
        if table:
            _print_table(console, region.table.grid(), title=_region_title(region))
        if channels:
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
            _print_table(console, rows, title=f"{graph.name}: channels")
        click.echo(
            f"{graph.name}: order {','.join(region.order) or '(none)'}, {len(graph.nodes)} nodes, "
            f"{len(graph.channels)} channels, {len(graph.memories)} memories"
        )
        if region.copy:
            click.echo(f"  copy: {region.copy}")


def _region_title(region: CompiledRegion) -> str:
    return f"{region.graph.name}: {'; '.join(map(str, region.region.statements))}"


def _compile(
    program: str, workload: "Workload | None", fuse: FusionLevel, options: dict[str, Any]
) -> Compiled:
    """Compiles for the capacities of a workload, or for what the program's text says."""
    from samhw.targets import compile_workload

    if workload:
        return compile_workload(workload, **options)
    try:
        return compile_program(load_program(program).with_fusion(fuse), **options)
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
    type=click.Choice(["sim", "verilator", "hls"]),
    default="sim",
    show_default=True,
    help="What runs it.",
)
@click.option("--json", "json_target", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--save", type=click.Path(), help="Write the result tensor to a file (.mtx, .tns, .npz).")
@click.option("--stats", is_flag=True, help="Print where each node's cycles went.")
@click.option("--wave", type=click.Path(dir_okay=False), help="Record the RTL's signals (.fst, .vcd).")
@click.option(
    "--trace",
    type=click.Path(dir_okay=False),
    help="Record the simulator's tokens: .json for Perfetto or chrome://tracing, or .vcd.",
)
@click.option("--window", metavar="A:B", help="Trace only the cycles from A to before B.")
@click.option("--regions", type=click.Choice(_REGIONS), help=_REGIONS_HELP)
def run(
    program: str,
    order: str | None,
    fuse: FusionLevel,
    value: str,
    iteration: str,
    permute: bool,
    arch: str | None,
    data: Sequence[str],
    backend: str,
    json_target: str | None,
    save: str | None,
    stats: bool,
    wave: str | None,
    trace: str | None,
    window: str | None,
    regions: str | None,
) -> None:
    """Run PROGRAM on data and check the result.

    The simulator always runs; with --backend verilator the generated RTL runs too, with --backend hls the C
    simulation of the HLS design, and both must agree.
    """
    from samhw.hls import Options
    from samhw.sim import bottleneck
    from samhw.targets import check, compile_workload
    from samhw.targets import run as execute
    from samhw.tensors import write_tensor

    if wave and backend != "verilator":
        raise InputError("--wave records the RTL's signals; add '--backend verilator'.")
    if regions and backend != "hls":
        raise InputError("--regions says how the HLS design is built; add '--backend hls'.")
    options = _compile_options(
        order, value, iteration, permute, arch, "vitis" if backend == "hls" else "samhw"
    )
    workload = _workload(program, data, value, fuse)
    compiled = compile_workload(workload, **options)
    model = execute(compiled, workload.tensors, "sim", **_recording(compiled, trace, window))
    if trace:
        _write_trace(Path(trace), model)
    chosen = model
    if backend != "sim":
        chosen = execute(
            compiled,
            workload.tensors,
            backend,
            wave=Path(wave) if wave else None,
            hls=Options(one_top=regions == "top"),
        )
    checks = [check(workload, compiled, r.outputs) for r in (model, chosen)]
    good = all(c.good for c in checks) and all(
        ours.cycles == theirs.cycles for ours, theirs in zip(model.regions, chosen.regions, strict=True)
    )
    report = {
        "program": compiled.program.name,
        "data": workload.name,
        "backend": backend,
        "value": compiled.value,
        "fuse": fuse,
        "regions": [
            {
                "name": ours.name,
                "order": list(region.order),
                "cycles": theirs.cycles,
                "model_cycles": ours.cycles,
            }
            for region, ours, theirs in zip(compiled.regions, model.regions, chosen.regions, strict=True)
        ],
        "cycles": chosen.cycles,
        "model_cycles": model.cycles,
        "checked": good,
        "max_abs_error": max(c.max_abs_error for c in checks),
        "seconds": round(chosen.seconds, 4),
        "build_seconds": round(chosen.build_seconds, 2),
    }
    if save:
        outputs = [decl.name for decl in workload.program.outputs]
        if len(outputs) != 1:
            raise InputError(f"--save writes one result, but this has {', '.join(outputs)}.")
        write_tensor(Path(save), chosen.outputs[outputs[0]])
    if json_target:
        _print_json(json_target, report)
    if json_target != "-":
        for statement in compiled.program.statements:
            click.echo(f"{statement}")
        shapes = ", ".join(
            f"{n} {'x'.join(map(str, t.shape)) or 'scalar'} ({t.nnz} stored)"
            for n, t in workload.tensors.items()
        )
        click.echo(f"  data       {workload.name}: {shapes}")
        click.echo(f"  simulator  {model.cycles:,} cycles in {model.seconds:.2f} s")
        if backend == "hls":
            click.echo(
                f"  HLS        the same tokens in C simulation, {chosen.seconds:.2f} s (build "
                f"{chosen.build_seconds:.1f} s)"
            )
        if backend == "verilator":
            click.echo(
                f"  RTL        {chosen.cycles:,} cycles in {chosen.seconds:.2f} s (build "
                f"{chosen.build_seconds:.1f} s)"
            )
        for region in model.regions if stats else ():
            if region.statistics:
                _print_table(Console(), _statistics(region.statistics), title=f"{region.name}, simulator")
                click.echo(f"  bottleneck {bottleneck(region.graph, region.statistics)}")
        result = "right" if all(c.good for c in checks) else "WRONG"
        click.echo(f"  result     {result}: greatest difference from NumPy {report['max_abs_error']:g}")
    if not good:
        sys.exit(1)


def _recording(compiled: Compiled, trace: str | None, window: str | None) -> dict[str, Any]:
    """The simulator's options for a trace."""
    if trace is None:
        if window is not None:
            raise InputError("--window is a part of a trace; add '--trace run.json'.")
        return {}
    if Path(trace).suffix not in (".json", ".vcd"):
        raise InputError(f"{trace} is no trace file; give it the suffix .json or .vcd.")
    if len(compiled.regions) > 1:
        raise InputError(f"A trace takes one region, and this has {len(compiled.regions)}; try --fuse full.")
    if window is None:
        return {"trace": True}
    first, _, behind = window.partition(":")
    if not (first.isdigit() and behind.isdigit()):
        raise InputError(f"--window {window}: give two cycles, such as 100:200.")
    return {"trace": True, "window": (int(first), int(behind))}


def _write_trace(path: Path, model: "RunResult") -> None:
    from samhw.sim import write_chrome_trace, write_vcd

    (region,) = model.regions
    assert region.statistics is not None
    write = write_vcd if path.suffix == ".vcd" else write_chrome_trace
    write(path, region.graph, region.statistics)


@main.command()
@click.argument("program")
@_options
@click.option(
    "--data", multiple=True, metavar="DATA", help="Data that fixes extents and capacities, as for run."
)
@click.option("--target", required=True, metavar="TARGET", help="sim, verilator or vitis-hls.")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Directory to write.")
@click.option("--part", help="The device of a vitis-hls project; by default AWS F1's VU9P.")
@click.option("--clock", type=float, help="Its clock period in ns; by default 4.")
@click.option(
    "--memories", type=click.Choice(["on-chip", "m_axi"]), help="Where its tensors lie; by default on-chip."
)
@click.option("--regions", type=click.Choice(_REGIONS), help=_REGIONS_HELP)
def build(
    program: str,
    order: str | None,
    fuse: FusionLevel,
    value: str,
    iteration: str,
    permute: bool,
    arch: str | None,
    data: Sequence[str],
    target: str,
    output: str,
    part: str | None,
    clock: float | None,
    memories: str | None,
    regions: str | None,
) -> None:
    """Write a build of PROGRAM to a directory."""
    from samhw.hls import Options
    from samhw.targets import build as write_build

    if target not in TARGETS:
        raise InputError(f"There is no target '{target}'; choose one of {', '.join(TARGETS)}.")
    chosen: dict[str, Any] = {
        "part": part,
        "clock": clock,
        "on_chip": memories and memories == "on-chip",
        "one_top": regions and regions == "top",
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if chosen and target != "vitis-hls":
        raise InputError(
            "--part, --clock, --memories and --regions belong to '--target vitis-hls'; leave them out."
        )
    options = _compile_options(
        order, value, iteration, permute, arch, "vitis" if target == "vitis-hls" else "samhw"
    )
    workload = _workload(program, data, value, fuse) if data else None
    compiled = _compile(program, workload, fuse, options)
    tensors = workload.tensors if workload else None
    for path in write_build(compiled, target, Path(output), tensors, Options(**chosen)):
        click.echo(path)


@main.command()
@click.argument("program")
@click.option("--fuse", default="none,partial,full", show_default=True, help="Levels of fusion.")
@click.option("--iteration", default="factored", show_default=True, help="factored, global, or both.")
@click.option(
    "--order", "orders", multiple=True, metavar="i,k,j", help="Orders of the indices, for one region."
)
@click.option("--value", default="f32", show_default=True, metavar="TYPE", help="Value type.")
@click.option(
    "--data",
    multiple=True,
    default=("karate",),
    show_default=True,
    metavar="DATA",
    help="As for run.",
)
@_ARCH
@click.option("--json", "json_target", metavar="FILE|-", help="Write the result as JSON.")
def compare(
    program: str,
    fuse: str,
    iteration: str,
    orders: Sequence[str],
    value: str,
    data: Sequence[str],
    arch: str | None,
    json_target: str | None,
) -> None:
    """Simulate PROGRAM under every combination of schedules and compare cost."""
    from samhw.targets import Choice
    from samhw.targets import compare as compare_all

    levels = [_one_of(level, FUSION_LEVELS, "--fuse") for level in fuse.split(",")]
    spaces = [_one_of(space, ("factored", "global"), "--iteration") for space in iteration.split(",")]
    chosen: list[tuple[str, ...] | None] = [tuple(order.split(",")) for order in orders] or [None]
    choices = [
        Choice(cast(FusionLevel, level), space == "factored", order)
        for level, space, order in product(levels, spaces, chosen)
    ]
    workload = _workload(program, data, value, "partial")
    outcomes = list(compare_all(workload, choices, value=value, arch=_load_arch(arch or "samhw")))
    if json_target:
        _print_json(json_target, {"program": program, "outcomes": [o.to_json() for o in outcomes]})
    if json_target != "-":
        _print_table(Console(), _comparison(outcomes), title=f"{program} on {workload.name}, {value}")
    if not all(o.measure.checked for o in outcomes if o.measure):
        sys.exit(1)


def _one_of(text: str, names: Sequence[str], option: str) -> str:
    if text not in names:
        raise InputError(f"{option} {text}: there is no such choice; name some of {', '.join(names)}.")
    return text


def _comparison(outcomes: "Sequence[Outcome]") -> list[list[str]]:
    """A row for each outcome; the speedup is over the first one that could be measured."""
    rows = [
        [
            "schedule",
            "regions",
            "cycles",
            "speedup",
            "firings",
            "operations",
            "bytes read",
            "written",
            "result",
        ]
    ]
    first = next((o.measure for o in outcomes if o.measure), None)
    for outcome in outcomes:
        m = outcome.measure
        if m is None or first is None:
            rows.append([str(outcome.choice), *[""] * 7, f"refused: {outcome.refusal}"])
            continue
        numbers = [m.firings, m.operations, int(m.bytes_read), int(m.bytes_written)]
        rows.append(
            [
                str(outcome.choice),
                str(m.regions),
                f"{m.cycles:,}",
                f"{first.cycles / m.cycles:.2f}",
                *(f"{n:,}" for n in numbers),
                "right" if m.checked else "WRONG",
            ]
        )
    return rows


@main.command()
@click.argument("programs", nargs=-1)
@_options
@click.option(
    "--suite",
    type=click.Choice(["kernels", "models"]),
    help="A set of built-in programs instead of PROGRAMS.",
)
@click.option(
    "--data",
    multiple=True,
    metavar="DATA",
    help="Data sets, each run by itself; by default karate and random, for models karate.",
)
@click.option(
    "--report", type=click.Path(file_okay=False), help="Write JSON, plot and HTML page to a directory."
)
@click.option("--json", "json_target", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--jobs", type=int, help="Processes; by default one for each processor.")
def correlate(
    programs: Sequence[str],
    order: str | None,
    fuse: FusionLevel,
    value: str,
    iteration: str,
    permute: bool,
    arch: str | None,
    suite: str | None,
    data: Sequence[str],
    report: str | None,
    json_target: str | None,
    jobs: int | None,
) -> None:
    """Run programs by simulator and RTL and compare cycles and results."""
    from rich.progress import Progress

    from samhw.targets import correlate as run_all

    names = [*programs, *_SUITES[suite]()] if suite else list(programs)
    if not names:
        raise InputError("correlate needs programs; name some, or give '--suite kernels'.")
    workloads = [
        [_workload(name, [spec], value, fuse) for spec in data or _DATA[name in model_names()]]
        for name in names
    ]
    options = _compile_options(order, value, iteration, permute, arch)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("correlate", total=len(workloads))
        result = run_all(workloads, jobs=jobs, progress=lambda _: progress.advance(task), **options)
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
