"""`samhw run`."""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.core import ParameterSource

from samhw.app.checking import Check, check
from samhw.app.checking.advice import Advised
from samhw.app.checking.advice import advise as find_advice
from samhw.app.checking.check_run import UNPROVED
from samhw.app.checking.energy import Energy, EnergyTable, energy_of, load_energy
from samhw.app.cli.backends import (
    BACKEND,
    CLOCK,
    HOST,
    REGIONS,
    REGIONS_HELP,
    board_options,
    check_settings,
    memory_of,
    memory_option,
    say_backends,
)
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_files, complete_programs
from samhw.app.cli.options import CompileOptions, compile_options, data_option
from samhw.app.cli.pages import report_option, write_report
from samhw.app.cli.printed import (
    OUTPUT,
    OutputFile,
    TraceFile,
    advised_command,
    command_line,
    print_json,
    print_table,
)
from samhw.app.cli.progress import building, follow, phase, warn_before
from samhw.app.cli.schedules import note_better, print_choice
from samhw.app.report.alike import grouped, starred
from samhw.app.report.recorded import check_trace, is_short, write_trace
from samhw.app.report.region_report import RegionReport
from samhw.app.report.run_report import BesideCpu, InputReport, RunReport, run_report
from samhw.app.report.run_statistics import longest, node_grid, port_grid, title, told
from samhw.app.report.time import beside, say_clock, say_time
from samhw.app.workload import JUDGES, Workload
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.cost import BEYOND_CLOCKS, MEASURED_ARCH, reached_clock
from samhw.errors import InputError
from samhw.graph import Arch, OffChipMemory, RecordedMemory, SdramMemory
from samhw.graph.off_chip_memory import SDRAM
from samhw.lang import Program
from samhw.targets.backends import MODEL, Backend, RunResult, check_places, find_backend
from samhw.targets.backends import run as execute
from samhw.tensors import check_form, write_tensor, write_tensors

__all__ = ["run"]


def print_statistics(regions: Sequence[RegionReport]) -> None:
    """Where each region's cycles went; of equal layers, those of the longest."""
    for group in told(regions):
        region = longest(group)
        print_table(None, node_grid(region), title=f"{title(group)}, simulator")
        if region.ports is not None:
            print_table(None, port_grid(region), title=f"{title(group)}, ports to off-chip memory")
        if region.lanes:
            click.echo(f"  lanes      {region.lanes}")
        click.echo(f"  bottleneck {region.bottleneck}")


def recording(trace: str | None, window: str | None) -> dict[str, Any]:
    """The simulator's options for a trace."""
    if trace is None:
        return {}
    check_trace(Path(trace))
    if window is None:
        return {"trace": True}
    found = re.fullmatch(r"([0-9]{1,18}):([0-9]{1,18})", window)
    if not found or int(found[1]) >= int(found[2]):
        raise InputError(f"--window {window}: give two cycles, the later one last, such as 100:200.")
    return {"trace": True, "window": (int(found[1]), int(found[2]))}


@click.command(cls=Command)
@click.argument("program", shell_complete=complete_programs)
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
@click.option(
    "--json",
    "json_target",
    type=OUTPUT,
    metavar="FILE|-",
    help="Write the result as JSON; with --stats, node by node.",
)
@click.option("--save", type=OutputFile(), help="Write the result tensor to a file (.mtx, .tns, .npz, .npy).")
@click.option("--stats", is_flag=True, help="Print where each node's cycles went.")
@click.option("--advise", is_flag=True, help="Try what would take fewer cycles, and print the commands.")
@click.option(
    "--energy",
    metavar="[45nm|hwcomponents|FILE]",
    is_flag=False,
    flag_value="45nm",
    shell_complete=complete_files("45nm", "hwcomponents"),
    help="Estimate the energy of an ASIC by samhw's own table, integers of hwcomponents, or a TOML file.",
)
@click.option(
    "--compare",
    type=click.Choice(["cpu"]),
    help="cpu: time the same program by SciPy and NumPy on this machine.",
)
@report_option
@click.option(
    "--wave",
    type=OUTPUT,
    help="Record the RTL's signals under Verilator (.vcd; .fst needs lz4 and zlib).",
)
@click.option(
    "--trace",
    type=TraceFile(dir_okay=False, allow_dash=True),
    help="Record the simulator's tokens: .json or .pftrace for Perfetto; .vcd or .fst; .gtkw for GTKWave "
    "or .sucl for Surfer, with a .vcd beside it.",
)
@click.option("--window", metavar="A:B", help="Trace only the cycles from A to before B.")
@click.option(
    "--check",
    "judge",
    type=click.Choice(JUDGES),
    is_flag=False,
    flag_value=JUDGES[0],
    default=JUDGES[0],
    show_default=True,
    help="What a network in ONNX is compared with besides NumPy.",
)
@click.option(
    "--no-check",
    "unchecked",
    is_flag=True,
    help="Compare the results with nothing: that may take longer than the run.",
)
@memory_option
@click.option("--memory-log", type=OUTPUT, help="Write when the memory accepted and answered requests.")
@click.option(
    "--clock",
    type=CLOCK,
    metavar="NMHz|Nns",
    help="Say how long the cycles take; of a board its clock, by default the greatest that is reached.",
)
@click.option("--regions", type=click.Choice(REGIONS), help=REGIONS_HELP)
@HOST
@board_options
def run(
    program: str,
    options: CompileOptions,
    data: Sequence[str],
    backend_name: str,
    json_target: str | None,
    save: str | None,
    stats: bool,
    advise: bool,
    energy: str | None,
    compare: str | None,
    report: str | None,
    wave: str | None,
    trace: str | None,
    window: str | None,
    memory: str | None,
    ports: str | None,
    memory_log: str | None,
    clock: float | None,
    regions: str | None,
    host: str | None,
    judge: str,
    unchecked: bool,
    board: dict[str, object],
) -> None:
    """Run PROGRAM on data and check the result.

    The simulator always runs; with --backend verilator the generated RTL runs too, with --backend hls the C
    simulation of the HLS design, with --backend board:ulx3s a board, and both must agree. With --memory,
    tensors lie off chip, for the simulator and for the RTL.
    """
    backend = find_backend(backend_name)
    _check_options(backend, wave, regions, memory, board | ({"host": host} if host else {}))
    placed, period = beside(memory_of(memory, ports), clock)
    table = load_energy(energy) if energy else None
    recorded = recording(trace, window)
    settings = board | _settings(backend, wave, regions, clock, host)
    backend.check_run(memory=placed, **settings)
    if advise and isinstance(placed, SdramMemory | RecordedMemory):
        raise InputError(
            "--advise runs other schedules, of whose requests no log says when they are answered; leave it "
            "out, or name a memory such as ddr4."
        )
    workload = options.workload(program, data).judged_by(judge)
    _check_save(save, workload.program)
    warn_before([workload], rtl=backend.cycle_by_cycle and not board.get("port"))
    with phase("compiling"):
        job = options.job(workload, backend.arch, placed)
        compiled = compile_job(job)
    check_places(compiled, backend, placed)
    if json_target != "-":
        print_choice(compiled)
        note_better(job, compiled)
    if report and not recorded and is_short(workload):
        recorded = {"trace": True}
    runs = _runs(compiled, workload, backend, placed, memory_log, settings, recorded)
    if trace:
        write_trace(Path(trace), runs[0])
    checks = []
    if not unchecked:
        with phase("checking"):
            checks = [check(workload, compiled, result.outputs) for result in runs]
    asked, typed = options.schedule, command_line()
    told = run_report(workload, compiled, backend, runs, checks, asked=asked, period=period, command=typed)
    told = _further(told, job, workload, runs[0], table, advise=advise, compare=bool(compare))
    if save:
        _save(Path(save), workload.program, runs[-1])
    _tell(told, report, json_target, stats)
    if not told.good:
        sys.exit(1)


def _runs(
    compiled: Compiled,
    workload: Workload,
    backend: Backend,
    memory: OffChipMemory | None,
    log: str | None,
    settings: dict[str, object],
    recorded: dict[str, Any],
) -> list[RunResult]:
    """The run of the simulator, and that of another backend with its settings. Where only hardware knows when
    the memory answers, the simulator is given its log."""

    def model(memory: OffChipMemory | None, log: Path | None = None) -> RunResult:
        with follow("simulator") as progress:
            options = {"memory": memory, "memory_log": log, "progress": progress}
            return execute(compiled, workload.tensors, MODEL, **options, **recorded)

    def other(**options: object) -> RunResult:
        with building(f"preparing {backend.name}"):
            return execute(compiled, workload.tensors, backend, **settings, **options)

    if isinstance(memory, SdramMemory):
        with TemporaryDirectory() as folder:
            path = Path(log or Path(folder) / "log")
            hardware = other(memory=memory, memory_log=path)
            return [model(RecordedMemory(str(path), memory.ports, memory)), hardware]
    runs = [model(memory, Path(log) if log else None)]
    if backend is not MODEL:
        runs.append(other(**({"memory": memory} if memory else {})))
    return runs


def _tell(told: RunReport, report: str | None, json_target: str | None, stats: bool) -> None:
    """On a page, as JSON and in the terminal, as asked for."""
    if report:
        from samhw.app.report.run_page import run_page

        write_report(report, lambda: run_page(told))
    if json_target:
        print_json(json_target, told.to_json(details=stats))
    if json_target != "-":
        _print_report(told, stats)


def _print_report(report: RunReport, stats: bool) -> None:
    """The report in words."""
    for statement in report.statements:
        click.echo(statement)
    click.echo(f"  data       {report.data}: {_said_inputs(report.inputs)}")
    if report.is_synthetic:
        click.echo("             synthetic: random data of that set's sizes, not the set itself")
    click.echo(f"  value      {report.compiled.types_in_words}")
    for group in told(report.regions):
        if note := longest(group).note:
            click.echo(f"  region     {title(group)} {note}")
    click.echo(f"  simulator  {report.model_cycles:,} cycles in {report.model_seconds:.2f} s")
    for region in report.regions:
        if why := region.result.uncompiled:
            click.echo(f"  engine     {region.name} without machine code, slower: it has none for {why}")
    if report.memory:
        click.echo(f"  memory     {report.memory}")
        click.echo(f"  off chip   {report.off_chip}")
    if report.took:
        click.echo(f"  {report.label:10} {report.took}")
    if report.period is not None:
        click.echo(f"  time       {say_time(report.cycles, report.period)} at {say_clock(report.period)}")
        if report.beyond_measured_clocks:
            click.echo(f"  clock      {BEYOND_CLOCKS}")
    if stats:
        print_statistics(report.regions)
    if stats or report.advised:
        for number, limit in enumerate(report.limits, 1):
            click.echo(f"  {'limits' if number == 1 else '':10} {number}. {limit.text}")
    if report.energy:
        _print_energy(report.energy, stats)
    for number, line in enumerate(report.beside.lines() if report.beside else []):
        click.echo(f"  {'' if number else 'cpu':10} {line}")
    if report.advised:
        _print_advice(report.advised, report.model_cycles)
    _print_check(report.check)


def _said_inputs(inputs: Sequence[InputReport]) -> str:
    """Names, shapes and what is stored; of equal layers once: `12 layers_*_q 64x64 (4096 stored each)`."""
    alike = starred({given.name: (given.shape, given.stored) for given in inputs})
    words = []
    for group in grouped(inputs, (alike[given.name] for given in inputs)):
        given = group.members[0]
        shape = "x".join(map(str, given.shape)) or "scalar"
        times, each = (f"{len(group.members)} ", " each") if group.others else ("", "")
        words.append(f"{times}{group.name} {shape} ({given.stored} stored{each})")
    return ", ".join(words)


def _further(
    told: RunReport,
    job: Job,
    workload: Workload,
    model: RunResult,
    table: EnergyTable | None,
    *,
    advise: bool,
    compare: bool,
) -> RunReport:
    """The report with what was asked for beside: advice, energy, and the time on this machine."""
    if advise:
        with phase("trying what helps"):
            advised = find_advice(job, workload, told.compiled, model.cycles, job.memory)
        told = replace(told, advised=advised)
    if table:
        told = replace(told, energy=energy_of(told.compiled, model, table))
    if compare:
        with phase("timing the processor"):
            told = replace(told, beside=_beside(job, workload, told))
    return told


def _print_energy(energy: Energy, stats: bool) -> None:
    """The estimate, and with --stats what took most of it and where the figures come from."""
    click.echo(f"  energy     {energy}")
    if not stats:
        return
    for kind, parts in (("nodes", energy.nodes), ("memories", energy.memories)):
        most = ", ".join(f"{name} {pj / 1e3:,.2f} nJ" for name, pj in list(parts.items())[:5] if pj)
        click.echo(f"             {kind}: {most or 'none'}")
    for source in energy.sources:
        click.echo(f"             {source}")


def _beside(job: Job, workload: Workload, told: RunReport) -> BesideCpu:
    """The run beside the same program on this machine, at the clock that was asked for, or that designs of
    the value type reach: with the latencies by which they do, if the run had others."""
    from samhw.app.checking.cpu import as_fast, cpu_run  # SciPy takes its time to be imported.

    cpu = cpu_run(workload)
    compiled, cycles, model_cycles = told.compiled, told.cycles, told.model_cycles
    period, said = told.period, "as asked for"
    if period is None:
        period = 1e3 / reached_clock(compiled.value)
        said = "which designs for an ECP5 reach"
        measured = Arch.load(MEASURED_ARCH)
        if compiled.arch != measured and not isinstance(job.memory, RecordedMemory):
            schedule = compiled.schedule if job.schedule.is_open else job.schedule
            job = replace(job, arch=measured, schedule=schedule)
            compiled = compile_job(job)
            options = {"memory": job.memory} if job.memory else {}
            cycles = model_cycles = execute(compiled, workload.tensors, MODEL, **options).cycles
            said += f" with --arch {MEASURED_ARCH}, in {cycles:,} cycles"
    beside = BesideCpu(cpu, cycles, period, said, None)
    if beside.ratio >= 1:
        return beside
    return replace(beside, wide=as_fast(job, compiled, model_cycles, model_cycles * beside.ratio))


def _print_advice(advised: Advised, cycles: int) -> None:
    """The commands that take fewer cycles than the run, as they were tried."""
    for one in advised.found:
        gain = f"{one.cycles:,} cycles instead of {cycles:,}, {cycles / one.cycles:.2f} times as fast"
        area = f"about {one.luts:,.0f} LUTs of an ECP5 instead of {advised.luts:,.0f}"
        click.echo(f"  advice     {gain}, with {area}:\n             {advised_command(one)}")
    tried = f"{advised.estimated} schedules were estimated, {advised.simulated} simulated"
    click.echo(f"  advice     {tried}" if advised.found else f"  advice     none helps: {tried}")


def _print_check(found: Check | None) -> None:
    """What the comparison with NumPy has found."""
    if found is None:
        click.echo("  result     not checked (--no-check)")
        return
    difference = f"greatest difference from NumPy {found.max_abs_error:g}"
    click.echo(f"  result     {found.verdict.in_words(found.unproved)}: {difference}")
    if not found.compared:
        click.echo("  source     the program was not compared with its file, which would take too long")
    if found.is_wider:
        click.echo(
            f"  bound      {found.bound:.1e}: wider than the {found.plain_bound:.1e} of the cascades as they "
            "are written"
        )
    for name, (rows, of) in found.sampled.items():
        click.echo(
            f"  sample     {rows:,} of the {of:,} rows of {name} were compared: more do not fit the memory"
        )
    if found.unproved:
        click.echo(f"  unproved   {found.unproved:,} of the elements: {UNPROVED}")


def _check_options(
    backend: Backend, wave: str | None, regions: str | None, memory: str | None, own: dict[str, object]
) -> None:
    """Raises `InputError` for an option that the backend, or another option, has no use for; `own` are those
    of its settings."""
    check_settings(own, backend, "--backend")
    typed = click.get_current_context()
    if typed.params["unchecked"] and typed.get_parameter_source("judge") is not ParameterSource.DEFAULT:
        raise InputError("--check compares the results, --no-check leaves that out; give one of them.")
    if memory and not backend.takes_memory:
        raise InputError(
            f"--backend {backend.name} runs a design with its tensors on chip; leave out --memory, or add "
            f"{say_backends(lambda b: b.takes_memory)}."
        )
    if memory == SDRAM and not backend.has_sdram:
        raise InputError(
            "Only hardware knows when an SDRAM answers, and the simulator takes its log; add '--backend "
            "verilator', or a board with one, as in '--backend board:ulx3s --emulate'."
        )
    if wave and not backend.records_waves:
        able = say_backends(lambda b: b.records_waves)
        raise InputError(
            f"--wave records the RTL's signals, which --backend {backend.name} lacks; give {able}."
        )
    if regions and "one_top" not in backend.settings:
        able = say_backends(lambda b: "one_top" in b.settings)
        raise InputError(f"--regions says how the HLS design is built; add {able}.")


def _settings(
    backend: Backend, wave: str | None, regions: str | None, clock: float | None, host: str | None
) -> dict[str, object]:
    """What the backend's run takes of the options that were given; a clock alone others go without."""
    chosen = {
        "wave": wave and Path(wave),
        "one_top": regions and regions == "top",
        "host": host,
        "clock": clock if "clock" in backend.settings else None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _check_save(save: str | None, program: Program) -> None:
    """Raises `InputError` for a file that cannot hold the results."""
    if save is None:
        return
    outputs, path = program.outputs, Path(save)
    if len(outputs) > 1 and path.suffix != ".npz":
        names = ", ".join(decl.name for decl in outputs)
        raise InputError(f"--save {path}: the results are {names}; give a .npz file, which has room for all.")
    check_form(path, outputs[0].rank)


def _save(path: Path, program: Program, result: RunResult) -> None:
    outputs = {decl.name: result.outputs[decl.name] for decl in program.outputs}
    if len(outputs) > 1:
        write_tensors(path, outputs)
    else:
        write_tensor(path, *outputs.values())
