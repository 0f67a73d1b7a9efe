"""The command line: `samhw kernels | compile | run | compare | build | correlate | sweep`."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from itertools import count, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samhw import __version__
from samhw.cli_sweep import sweep
from samhw.compiler import Compiled, CompiledRegion, OrderSpace, compile_program, order_spaces
from samhw.errors import InputError, SamhwError, ScheduleError
from samhw.frontend import (
    FUSION_LEVELS,
    FusionLevel,
    Program,
    kernel_description,
    kernel_names,
    load_program,
    model_description,
    model_names,
)
from samhw.graph import Arch, Dram, OffChip, dumps, to_dot, to_svg
from samhw.terminal import follow, line

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


def _memory_options(command: Any) -> Any:
    """What run and compare share: tensors off chip."""
    command = click.option(
        "--off-chip", metavar="A,B", help="The tensors that lie there, by default all; needs --memory."
    )(command)
    return click.option(
        "--memory", metavar="hbm2|ddr4|FILE.json", help="Simulate with tensors in off-chip memory."
    )(command)


def _off_chip(memory: str | None, tensors: str | None) -> OffChip | None:
    """What --memory and --off-chip ask for."""
    if memory is None:
        if tensors is not None:
            raise InputError("--off-chip says what lies in a memory; add '--memory ddr4'.")
        return None
    names = None if tensors is None else tuple(name.strip() for name in tensors.split(","))
    return OffChip(Dram.load(memory), names)


def _workload(spec: str, data: Sequence[str], value: str, fuse: FusionLevel) -> "Workload":
    """PROGRAM bound to data, with the regions asked for."""
    from samhw.targets import bind_program

    workload = bind_program(spec, data, value=value)
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


main.add_command(sweep)


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
    "--orders",
    "listed",
    type=click.IntRange(min=0),
    is_flag=False,
    flag_value=10,
    metavar="[N]",
    help="Compile nothing; count the orders of each region's indices, and print the first N (10).",
)
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
    listed: int | None,
    dot: str | None,
    output: str | None,
) -> None:
    """Compile PROGRAM to a SAMML graph."""
    workload = _workload(program, data, value, fuse) if data else None
    if listed is not None:
        if table or html or channels or dot or output or permute:
            raise InputError("--orders compiles nothing; leave out the options that show or write a graph.")
        _print_orders(workload.program if workload else load_program(program).with_fusion(fuse), listed)
        return
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


_SHARING = {"REDUCED": "indices, where they can", "EQUAL": "equal uses", "NOTHING": "nothing"}
"""What uses of an intermediate share, by the name of the compiler's choice."""


def _print_orders(program: Program, most: int) -> None:
    """The number of orders of each region's indices, and the first ones."""
    console = Console()
    for region in program.regions:
        spaces = order_spaces(program, region)
        rows = [["intermediates share", "indices", "any order", "storage kept", "and statements' orders"]]
        rows += [
            [
                _SHARING[space.region.sharing.name],
                str(len(space.indices)),
                *(_count(space, part) for part in ("any_order", "kept_storage", "kept_all")),
            ]
            for space in spaces
        ]
        _print_table(console, rows, title=", ".join(s.lhs.tensor for s in region.statements))
        try:
            for order in islice(spaces[0].orders(), most):
                click.echo(f"  {','.join(order) or '(no indices)'}")
        except ScheduleError as error:
            click.echo(f"  none: {error}")


def _count(space: OrderSpace, part: str) -> str:
    try:
        number: int = getattr(space, part)
    except ScheduleError:
        return "too many to count"
    return f"{number:,}" if number < 10**12 else f"{number:.2e}"


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
    if result.memory:
        rows[0].append("waited for memory")
    for name, node in result.nodes.items():
        longest = []
        for kind in ("starved", "blocked"):
            waits = Counter({c: n for a in node.actors.values() for c, n in getattr(a, kind).items() if n})
            longest.append("".join(f"{n:,}: {channel}" for channel, n in waits.most_common(1)))
        rows.append([name, f"{node.firings:,}", f"{node.firings / result.cycles:.0%}", *longest])
        if result.memory:
            waited = sum(actor.memory for actor in node.actors.values())
            rows[-1].append(f"{waited:,}" if waited else "")
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
    help="Record the simulator's tokens: .json for Perfetto or chrome://tracing, .vcd or .fst.",
)
@click.option("--window", metavar="A:B", help="Trace only the cycles from A to before B.")
@_memory_options
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
    memory: str | None,
    off_chip: str | None,
    regions: str | None,
) -> None:
    """Run PROGRAM on data and check the result.

    The simulator always runs; with --backend verilator the generated RTL runs too, with --backend hls the C
    simulation of the HLS design, and both must agree. With --memory the simulator predicts the run with
    tensors off chip.
    """
    from samhw.hls import Options
    from samhw.sim import bottleneck
    from samhw.targets import check, compile_workload, memory_line, memory_report, port_rows
    from samhw.targets import run as execute
    from samhw.tensors import write_tensor

    if wave and backend != "verilator":
        raise InputError("--wave records the RTL's signals; add '--backend verilator'.")
    if regions and backend != "hls":
        raise InputError("--regions says how the HLS design is built; add '--backend hls'.")
    placement = _off_chip(memory, off_chip)
    if placement and backend != "sim":
        raise InputError(
            f"--memory is a prediction of the simulator, and --backend {backend} runs a design with its "
            "tensors on chip; leave out the one or the other."
        )
    options = _compile_options(
        order, value, iteration, permute, arch, "vitis" if backend == "hls" else "samhw"
    )
    workload = _workload(program, data, value, fuse)
    compiled = compile_workload(workload, **options)
    recording = _recording(compiled, trace, window)
    with follow("simulator") as progress:
        model = execute(compiled, workload.tensors, "sim", memory=placement, progress=progress, **recording)
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
    if used := memory_report(model):
        report["memory"] = used
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
        if used:
            click.echo(f"  memory     {memory_line(used)}")
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
                if region.statistics.memory:
                    ports = port_rows(region.statistics.memory)
                    _print_table(Console(), ports, title=f"{region.name}, ports to off-chip memory")
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
    if Path(trace).suffix not in (".json", ".vcd", ".fst"):
        raise InputError(f"{trace} is no trace file; give it the suffix .json, .vcd or .fst.")
    if len(compiled.regions) > 1:
        raise InputError(f"A trace takes one region, and this has {len(compiled.regions)}; try --fuse full.")
    if window is None:
        return {"trace": True}
    first, _, behind = window.partition(":")
    if not (first.isdigit() and behind.isdigit()):
        raise InputError(f"--window {window}: give two cycles, such as 100:200.")
    return {"trace": True, "window": (int(first), int(behind))}


def _write_trace(path: Path, model: "RunResult") -> None:
    from samhw.sim import write_chrome_trace, write_fst, write_vcd

    (region,) = model.regions
    assert region.statistics is not None
    write = {".json": write_chrome_trace, ".vcd": write_vcd, ".fst": write_fst}[path.suffix]
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
    "--order",
    "orders",
    multiple=True,
    metavar="i,k,j",
    help="Orders of the indices, for the levels that are one region.",
)
@click.option("--permute", is_flag=True, help="Copy what is stored against an order, as for run.")
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
@_memory_options
def compare(
    program: str,
    fuse: str,
    iteration: str,
    orders: Sequence[str],
    permute: bool,
    value: str,
    data: Sequence[str],
    arch: str | None,
    json_target: str | None,
    memory: str | None,
    off_chip: str | None,
) -> None:
    """Simulate PROGRAM under every combination of schedules and compare cost.

    A level of fusion with several regions is measured once, with the orders of its own statements.
    """
    from samhw.targets import Choice
    from samhw.targets import compare as compare_all

    levels = [_one_of(level, FUSION_LEVELS, "--fuse") for level in fuse.split(",")]
    spaces = [_one_of(space, ("factored", "global"), "--iteration") for space in iteration.split(",")]
    workload = _workload(program, data, value, "partial")
    placement = _off_chip(memory, off_chip)
    chosen = [tuple(i.strip() for i in order.split(",")) for order in orders]
    choices = []
    for level, space in product(levels, spaces):
        several = len(workload.program.with_fusion(cast(FusionLevel, level)).regions) > 1
        for order in [None] if several or not chosen else chosen:
            choices.append(Choice(cast(FusionLevel, level), space == "factored", order, permute))
    if chosen and not any(choice.order for choice in choices):
        raise InputError(
            f"--order is for one region, but '{program}' has several at {fuse}; add '--fuse full', "
            "or write the orders into the program."
        )
    options: dict[str, Any] = {
        "value": value,
        "arch": _load_arch(arch or "samhw"),
        "memory": placement,
    }
    outcomes: list[Outcome] = []
    for number, choice in enumerate(choices, 1):
        with follow(f"{choice} ({number} of {len(choices)})") as progress:
            outcomes += compare_all(workload, [choice], progress=progress, **options)
    if json_target:
        _print_json(json_target, {"program": program, "outcomes": [o.to_json() for o in outcomes]})
    if json_target != "-":
        title = f"{program} on {workload.name}, {value}"
        if placement:
            title += f", {off_chip or 'all tensors'} in {placement.dram.name}"
        _print_table(Console(), _comparison(outcomes), title=title)
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
    off_chip = any(o.measure and o.measure.bytes_moved is not None for o in outcomes)
    if off_chip:
        rows[0].insert(-1, "moved off chip")
    first = next((o.measure for o in outcomes if o.measure), None)
    for outcome in outcomes:
        m = outcome.measure
        if m is None or first is None:
            rows.append([str(outcome.choice), *[""] * (len(rows[0]) - 2), f"refused: {outcome.refusal}"])
            continue
        numbers = [m.firings, m.operations, int(m.bytes_read), int(m.bytes_written)]
        if off_chip:
            numbers.append(m.bytes_moved or 0)
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
    from samhw.targets import correlate as run_all

    names = [*programs, *_SUITES[suite]()] if suite else list(programs)
    if not names:
        raise InputError("correlate needs programs; name some, or give '--suite kernels'.")
    workloads = [
        [_workload(name, [spec], value, fuse) for spec in data or _DATA[name in model_names()]]
        for name in names
    ]
    options = _compile_options(order, value, iteration, permute, arch)
    with line("correlate", "{task.completed:.0f} of {task.total} programs") as shown:
        done = count(1)
        progress = (lambda name: shown.show(next(done), len(workloads), name)) if shown else None
        if shown:
            shown.show(0, len(workloads))
        result = run_all(workloads, jobs=jobs, progress=progress, **options)
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
