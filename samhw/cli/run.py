"""`samhw run`."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from samhw.backends import MODEL, Backend, RegionRun, RunResult, find_backend, off_chip_tensors
from samhw.backends import run as execute
from samhw.checking import Check, check, weakest
from samhw.cli.backends import (
    BACKEND,
    CLOCK,
    REGIONS,
    REGIONS_HELP,
    board_options,
    check_settings,
    say_backends,
)
from samhw.cli.memory import memory_options, off_chip_memory
from samhw.cli.options import CompileOptions, compile_options, data_option
from samhw.cli.output import OUTPUT, OutputFile, print_json
from samhw.cli.progress import building, follow, phase, warn_before
from samhw.cli.statistics import print_statistics
from samhw.cli.time import beside, say_clock, say_time, time_report
from samhw.cli.tracing import recording, write_trace
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.report.memory import memory_line, memory_report
from samhw.sim import lane_loads
from samhw.tensors import write_tensor
from samhw.workload import SYNTHETIC, Workload

__all__ = ["run"]


@click.command()
@click.argument("program")
@compile_options
@data_option("karate, random:.., synthetic:NAME, a file, or NAME=FILE; auto: karate, or else random.")
@click.option(
    "--backend",
    "backend_name",
    type=BACKEND,
    default=MODEL.name,
    show_default=True,
    help="What runs it.",
)
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write the result as JSON.")
@click.option("--save", type=OutputFile(), help="Write the result tensor to a file (.mtx, .tns, .npz).")
@click.option("--stats", is_flag=True, help="Print where each node's cycles went.")
@click.option("--wave", type=OUTPUT, help="Record the RTL's signals (.fst, .vcd).")
@click.option(
    "--trace",
    type=OUTPUT,
    help="Record the simulator's tokens: .json for Perfetto or chrome://tracing, .vcd or .fst.",
)
@click.option("--window", metavar="A:B", help="Trace only the cycles from A to before B.")
@memory_options
@click.option(
    "--clock",
    type=CLOCK,
    metavar="NMHz|Nns",
    help="Say how long the cycles take; of a board its clock, by default the greatest that is reached.",
)
@click.option("--regions", type=click.Choice(REGIONS), help=REGIONS_HELP)
@board_options
def run(
    program: str,
    options: CompileOptions,
    data: Sequence[str],
    backend_name: str,
    json_target: str | None,
    save: str | None,
    stats: bool,
    wave: str | None,
    trace: str | None,
    window: str | None,
    memory: str | None,
    off_chip: str | None,
    clock: float | None,
    regions: str | None,
    board: dict[str, Any],
) -> None:
    """Run PROGRAM on data and check the result.

    The simulator always runs; with --backend verilator the generated RTL runs too, with --backend hls the C
    simulation of the HLS design, with --backend board:ulx3s a board, and both must agree. With --memory the
    simulator predicts the run with tensors off chip.
    """
    backend = find_backend(backend_name)
    _check_options(backend, wave, regions, memory, board)
    dram, schedule = off_chip_memory(memory, off_chip, options.schedule)
    dram, period = beside(dram, clock)
    options = replace(options, schedule=schedule)
    workload = options.workload(program, data)
    warn_before([workload], rtl=backend.cycle_by_cycle and not board.get("port"))
    compiled = options.compile(workload, backend.arch)
    recorded = recording(trace, window)
    with follow("simulator") as progress:
        model = execute(compiled, workload.tensors, MODEL, memory=dram, progress=progress, **recorded)
    if trace:
        write_trace(Path(trace), model)
    chosen, runs = model, [model]
    if backend is not MODEL:
        settings = _settings(backend, wave, regions, clock)
        with building():
            chosen = execute(compiled, workload.tensors, backend, **board, **settings)
        runs.append(chosen)
    period = 1e9 / chosen.clock if chosen.clock else period
    with phase("checking"):
        found = _worst([check(workload, compiled, result.outputs) for result in runs])
    same_cycles = all(
        ours.cycles == theirs.cycles for ours, theirs in zip(model.regions, chosen.regions, strict=True)
    )
    if save:
        _save(Path(save), workload, chosen)
    used = memory_report(model)
    if json_target:
        placed = off_chip_tensors(compiled) if dram else ()
        report = {
            "program": compiled.program.name,
            "data": workload.name,
            "backend": backend.name,
            "value": compiled.value,
            "fuse": schedule.to_json()["fuse"],
            "schedule": replace(compiled.schedule, off_chip=placed).to_json(),
            **_figures(compiled, model, chosen),
            **time_report(chosen.cycles, period),
            "result": str(found.verdict),
            "checked": found.verdict.is_proof and same_cycles,
            "max_abs_error": found.max_abs_error,
            "unproved": found.unproved,
            **({"sampled": found.sampled} if found.sampled else {}),
            "seconds": round(chosen.seconds, 4),
            "build_seconds": round(chosen.build_seconds, 2),
            **({"memory": used} if used else {}),
        }
        print_json(json_target, report)
    if json_target != "-":
        _print_run(workload, compiled, model, used)
        _print_backend(backend, chosen, period)
        if stats:
            print_statistics(model)
        _print_check(found)
    if not (found.good and same_cycles):
        sys.exit(1)


def _figures(compiled: Compiled, model: RunResult, chosen: RunResult) -> dict[str, Any]:
    """The cycles of both, of each region and of all."""
    return {
        "regions": [
            {
                "name": ours.name,
                "order": list(region.order),
                "cycles": theirs.cycles,
                "model_cycles": ours.cycles,
                **_lanes(ours),
            }
            for region, ours, theirs in zip(compiled.regions, model.regions, chosen.regions, strict=True)
        ],
        "cycles": chosen.cycles,
        "model_cycles": model.cycles,
    }


def _lanes(region: RegionRun) -> dict[str, Any]:
    """The loads of its lanes, if it has any."""
    loads = region.statistics and lane_loads(region.graph, region.statistics.nodes)
    if not loads:
        return {}
    return {"lanes": {"node": loads.node, "firings": loads.firings, "balance": round(loads.balance, 4)}}


def _worst(checks: Sequence[Check]) -> Check:
    """Several checks of the same results as one."""
    return Check(
        max(c.max_abs_error for c in checks),
        max(c.bound for c in checks),
        max(c.unproved for c in checks),
        {name: weakest(c.tensors[name] for c in checks) for name in checks[0].tensors},
        checks[0].sampled,
    )


def _print_check(found: Check) -> None:
    """What the comparison with NumPy has found."""
    difference = f"greatest difference from NumPy {found.max_abs_error:g}"
    click.echo(f"  result     {found.verdict.in_words(found.unproved)}: {difference}")
    for name, (rows, of) in found.sampled.items():
        click.echo(
            f"  sample     {rows:,} of the {of:,} rows of {name} were compared: more do not fit the memory"
        )
    if found.unproved:
        click.echo(
            f"  unproved   {found.unproved:,} of the elements: they are NaN, or differ within a bound of the "
            "value type that is infinite or larger than the values, so that the check proves nothing"
        )


def _check_options(
    backend: Backend, wave: str | None, regions: str | None, memory: str | None, board: dict[str, Any]
) -> None:
    """Raises `InputError` for an option that the backend has no use for."""
    check_settings(board, backend, "--backend")
    if memory and not backend.takes_memory:
        raise InputError(
            f"--memory is a prediction of the simulator, and --backend {backend.name} runs a design with its "
            "tensors on chip; leave out the one or the other."
        )
    if wave and not backend.records_waves:
        raise InputError(f"--wave records the RTL's signals; add {say_backends(lambda b: b.records_waves)}.")
    if regions and "one_top" not in backend.settings:
        able = say_backends(lambda b: "one_top" in b.settings)
        raise InputError(f"--regions says how the HLS design is built; add {able}.")


def _print_backend(backend: Backend, chosen: RunResult, period: float | None) -> None:
    """What the backend took, where it is another one than the simulator, and how long that is at a clock."""
    if backend is not MODEL:
        click.echo(f"  {backend.label:10} {backend.summary(chosen)}")
    if period is not None:
        click.echo(f"  time       {say_time(chosen.cycles, period)} at {say_clock(period)}")


def _settings(backend: Backend, wave: str | None, regions: str | None, clock: float | None) -> dict[str, Any]:
    """What the backend's run takes of the options that were given; a clock alone others go without."""
    chosen = {
        "wave": wave and Path(wave),
        "one_top": regions and regions == "top",
        "clock": clock if "clock" in backend.settings else None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _save(path: Path, workload: Workload, result: RunResult) -> None:
    outputs = [decl.name for decl in workload.program.outputs]
    if len(outputs) != 1:
        raise InputError(f"--save writes one result, but this has {', '.join(outputs)}.")
    write_tensor(path, result.outputs[outputs[0]])


def _print_run(
    workload: Workload,
    compiled: Compiled,
    model: RunResult,
    used: dict[str, Any] | None,
) -> None:
    """The program, its data, and what the simulator took."""
    for statement in compiled.program.statements:
        click.echo(f"{statement}")
    shapes = ", ".join(
        f"{n} {'x'.join(map(str, t.shape)) or 'scalar'} ({t.nnz} stored)" for n, t in workload.tensors.items()
    )
    click.echo(f"  data       {workload.name}: {shapes}")
    if SYNTHETIC in workload.name:
        click.echo("             synthetic: random data of that set's sizes, not the set itself")
    click.echo(f"  value      {compiled.value}")
    for region in compiled.regions:
        if region.note:
            click.echo(f"  region     {region.graph.name} {region.note}")
    click.echo(f"  simulator  {model.cycles:,} cycles in {model.seconds:.2f} s")
    if used:
        click.echo(f"  memory     {memory_line(used)}")
