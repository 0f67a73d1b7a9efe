"""`samhw correlate`."""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import click
from rich.console import Console

from samhw.app.checking import correlate as run_all
from samhw.app.cli.backends import check_on_chip, memory_of, memory_option
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_programs
from samhw.app.cli.options import CompileOptions, compile_options, data_option
from samhw.app.cli.pages import plot_option, report_option, write_plot, write_results
from samhw.app.cli.printed import OUTPUT, print_json, print_table
from samhw.app.cli.progress import line, warn_before
from samhw.app.report.grids import correlation_grid
from samhw.app.workload import Workload
from samhw.choices.schedule import with_words
from samhw.errors import InputError
from samhw.lang import Program, kernel_names, model_names
from samhw.targets.backends import BACKENDS, RTL, Backend
from samhw.words import and_more, counted, did_you_mean

__all__ = ["correlate"]

_WIDE = {
    "spmv": ["i=4"],
    "spmm": ["i=2", "i=3", "i=8", "k=4", "i=4+k=2"],
    "sddmm": ["i=4", "j=3", "i=2+j=2"],
    "spmspm_ikj": ["i=4"],
    "mttkrp": ["k=4"],
    "ttm": ["i=2+j=2"],
    "innerprod": ["i=3"],
    "gcn": ["i=4", "i=2+f=2"],
    "bigbird_attention": ["i=4"],
}
"""The lanes that programs are run with."""
_SUITES: dict[str, Callable[[], Sequence[str]]] = {
    "kernels": kernel_names,
    "models": model_names,
    "wide": lambda: [name for name, lanes in _WIDE.items() for _ in lanes],
}

_SIMULATORS = {backend.name: backend for backend in BACKENDS if backend.simulates_rtl}


@click.command(cls=Command)
@click.argument("programs", nargs=-1, shell_complete=complete_programs)
@compile_options
@click.option(
    "--suite",
    type=click.Choice(list(_SUITES)),
    help="A set of built-in programs instead of PROGRAMS; wide: with lanes.",
)
@data_option("Data sets as for run, each run by itself.")
@click.option(
    "--backend",
    "backend_names",
    default=RTL.name,
    show_default=True,
    metavar="NAME[,NAME]",
    help=f"What simulates the RTL: {', '.join(_SIMULATORS)}; each beside the first has a column of its own.",
)
@memory_option
@report_option
@plot_option("Draw the RTL's cycles against the simulator's")
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write the result as JSON.")
@click.option("--jobs", type=int, help="Processes; by default one for each processor.")
def correlate(
    programs: Sequence[str],
    options: CompileOptions,
    suite: str | None,
    data: Sequence[str],
    backend_names: str,
    memory: str | None,
    ports: str | None,
    report: str | None,
    plot: str | None,
    json_target: str | None,
    jobs: int | None,
) -> None:
    """Run programs by simulator and RTL and compare cycles and results.

    With --memory, tensors lie off chip, for both.
    """
    if programs and suite:
        raise InputError(
            f"--suite {suite} stands for programs; leave out {' '.join(programs)}, or the option."
        )
    backends = [_simulator(name) for name in backend_names.split(",")]
    names = list(_SUITES[suite]() if suite else programs)
    if not names:
        raise InputError("correlate needs programs; name some, or give '--suite kernels'.")
    placed, schedule = memory_of(memory, ports), options.schedule
    if placed is None:
        check_on_chip(schedule, "a correlation")
    for backend in backends:
        backend.check_run(memory=placed)
    schedules = [schedule] * len(names)
    if suite == "wide":
        if schedule.lanes:
            raise InputError("--suite wide has lanes of its own; leave out --lanes, or name programs.")
        schedules = [with_words(schedule, {"lanes": text}) for lanes in _WIDE.values() for text in lanes]
    workloads = _told_apart([[options.workload(name, [spec]) for spec in data] for name in names])
    at_once = min(jobs or os.cpu_count() or 1, len(names))
    warn_before([w for of_program in workloads for w in of_program], jobs=max(1, at_once), rtl=True)
    what = f"{counted(len(workloads), 'program')} for {and_more([b.name for b in backends])}"
    begin = f"building {what}, some seconds for each that is not cached"
    with line("correlate", "{task.completed:.0f} of {task.total} programs", begin=begin) as shown:
        shown.show(0, len(workloads))
        done = count(1)

        def progress(name: str) -> None:
            shown.show(next(done), len(workloads), name)

        given = {**options.compiler(), "memory": placed}
        result = run_all(workloads, schedules, backends=backends, jobs=jobs, progress=progress, **given)
    summary = result.to_json()
    if plot:
        from samhw.app.report.plots import plot_correlation

        write_plot(plot, lambda: plot_correlation(summary["kernels"], summary["r2"]))
    if json_target:
        print_json(json_target, summary)
    if json_target != "-":
        print_table(Console(), correlation_grid(summary["kernels"]), title="simulator against RTL")
        click.echo(f"{result.exact} of {len(result.rows)} cycle counts equal, R² = {result.r2:.6g}")
    if report:
        from samhw.app.report.comparison_page import correlation_results
        from samhw.app.report.plots import correlation_files

        beside = correlation_files(summary)
        write_results(report, lambda: correlation_results(summary), beside=beside)
    if not result.good:
        sys.exit(1)


def _told_apart(programs: Sequence[Sequence[Workload]]) -> list[list[Workload]]:
    """Programs of which those that differ have names that differ: two texts are text1 and text2."""
    known: dict[str, list[Program]] = defaultdict(list)
    for first, *_ in programs:
        if first.program not in known[first.program.name]:
            known[first.program.name].append(first.program)
    found = []
    for workloads in programs:
        name = workloads[0].program.name
        if len(known[name]) > 1:
            name += str(1 + known[name].index(workloads[0].program))
        found.append([replace(w, program=replace(w.program, name=name)) for w in workloads])
    return found


def _simulator(name: str) -> Backend:
    if name not in _SIMULATORS:
        raise InputError(
            f"'{name}' does not simulate the RTL{did_you_mean(name, _SIMULATORS)}; choose among "
            f"{', '.join(_SIMULATORS)}."
        )
    return _SIMULATORS[name]
