"""`samhw tune`."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import click
from rich.console import Console

from samhw.app.checking import Verdict
from samhw.app.checking.types_search import PRICES, Price, TunedTypes, tune_types
from samhw.app.cli.backends import MEMORIES, MEMORY_WORDS, check_on_chip, memory_of
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_files, complete_programs
from samhw.app.cli.options import (
    AREA,
    TYPES,
    VALUE,
    data_option,
    load_schedule,
    say_notes,
)
from samhw.app.cli.pages import plot_option, report_option, write_plot, write_results
from samhw.app.cli.printed import OUTPUT, command_line, note_written, print_json, print_table
from samhw.app.cli.progress import Line, line
from samhw.app.cli.schedules import growing_options
from samhw.app.sweep import Configuration, sweep
from samhw.app.sweep.tuning import (
    OBJECTIVES,
    Objective,
    Trial,
    Tuned,
    search,
)
from samhw.app.workload import Workload, bind_program
from samhw.choices.schedule import Schedule
from samhw.compiler import asked_type, asked_types, types_text
from samhw.compiler.search.explore import Explored
from samhw.errors import InputError, RunError
from samhw.files import write_text
from samhw.graph.numerics import ValueType
from samhw.lang import Program, titled
from samhw.words import and_more, counted

__all__ = ["tune"]


@click.command(cls=Command)
@click.argument("program", shell_complete=complete_programs)
@data_option("As for run.")
@VALUE
@TYPES
@click.option(
    "--schedule",
    "file",
    metavar="FILE",
    shell_complete=complete_files(),
    help="A schedule whose fields stay as they are.",
)
@click.option("--budget", type=float, default=60.0, show_default=True, help="Seconds that it may take.")
@click.option(
    "--objective",
    type=click.Choice(tuple(dict.fromkeys((*OBJECTIVES, *PRICES)))),
    default="cycles",
    show_default=True,
    help="What is to become small: cycles, cycles times LUTs, energy, or energy times cycles, in a search of "
    "the same schedules; with --error LUTs (area), cycles, or bytes between memories and graph.",
)
@click.option(
    "--error",
    type=click.FloatRange(0),
    metavar="E",
    help="Search types of tensors instead, in which results are off by so much at most, relative to float64.",
)
@click.option(
    "--memory",
    metavar=MEMORIES,
    shell_complete=complete_files(*MEMORY_WORDS),
    help="Search and simulate with tensors in off-chip memory.",
)
@AREA
@growing_options
@click.option(
    "--confirm",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    metavar="N",
    help="How many of the best by estimate are simulated.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; by default one for each processor.")
@click.option("--scheduler", metavar="ADDRESS", help="Simulate on the cluster of a Dask scheduler.")
@click.option("-o", "--output", type=OUTPUT, required=True, metavar="FILE", help="The schedule's file.")
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write the result as JSON.")
@plot_option("Draw cycles against LUTs, or energy where that is the objective, with their Pareto front")
@report_option
def tune(
    program: str,
    data: Sequence[str],
    value: str,
    types: str | None,
    file: str | None,
    budget: float,
    objective: Objective | Price,
    error: float | None,
    memory: str | None,
    area: str | None,
    confirm: int,
    jobs: int | None,
    scheduler: str | None,
    output: str,
    json_target: str | None,
    plot: str | None,
    report: str | None,
    **grown: str | None,
) -> None:
    """Search a schedule for PROGRAM on data, and write it.

    Schedules are compared by estimate, and the best are simulated. What was simulated stays in a table beside
    the schedule and in the table's journal: the same command goes on from there. With --error, search the
    types of tensors, and write the program in them.
    """
    if not 0 < budget < float("inf"):
        raise InputError(f"--budget {budget:g}: a search takes some seconds; give more than 0.")
    if output == "-":
        raise InputError("-o names the schedule's file, beside which a table is kept; give a file.")
    end = monotonic() + budget
    asked = asked_type(value)
    workload = bind_program(program, data, value=asked, types=asked_types(types))
    say_notes(workload)
    views = _Views(titled(program), output, json_target, plot, report, _untried(grown))
    if error is not None:
        price = _price(objective, memory or area or scheduler or jobs or any(grown.values()))
        typed = _typed(workload, load_schedule(file), asked, error, price, budget)
        _write_types(typed, workload.program, views)
        return
    if objective not in OBJECTIVES:
        raise InputError(f"--objective {objective} is for a search of types; add '--error 1e-3'.")
    given = load_schedule(file)
    placed = memory_of(memory, None)
    if placed is None:
        check_on_chip(given, "a search")
    with line("tune", "{task.completed:.0f} schedules") as shown:
        found, looked = search(
            workload,
            given,
            budget,
            objective,
            grown=[name for name, word in grown.items() if word],
            area=area,
            confirm=confirm,
            value=asked,
            memory=placed,
            progress=lambda count, least: _show(shown, count, f"best {least:,.0f} cycles"),
        )
        listed = {
            one: Configuration(
                program, "+".join(data), asked, one.schedule, memory=memory or "chip", types=types or ""
            )
            for one in found
        }
        table = Path(output).with_suffix(".csv")
        trials = _trials(listed, table, end, jobs, scheduler, shown)
        note_written(table)
    tuned = Tuned(workload.name, tuple(trials), looked, objective, types_text(workload.types))
    _write(tuned, views)


class _Views(NamedTuple):
    """Where a search is shown."""

    program: str
    output: str
    json_target: str | None
    plot: str | None
    report: str | None
    untried: Sequence[str] = ()
    """The options by which it would have looked at more."""


def _untried(grown: Mapping[str, str | None]) -> list[str]:
    return [f"--{name} auto" for name, word in grown.items() if not word]


def _write(tuned: Tuned, views: _Views) -> None:
    """Writes the best schedule, and shows the search."""
    program, output, json_target, plot, report, _ = views
    write_text(Path(output), tuned.dumps(command_line()))
    if json_target:
        print_json(json_target, tuned.to_json())
    if json_target != "-":
        _say(tuned, views)
    if plot:
        from samhw.app.report.plots import plot_tuned

        write_plot(plot, lambda: plot_tuned(tuned))
    if report:
        from samhw.app.report.tune_page import tune_results

        write_results(report, lambda: tune_results(program, tuned))


def _price(objective: str, others: object) -> Price:
    """What a search of types makes small. Raises `InputError` for what it does not take."""
    price = next((one for one in PRICES if one == objective), None)
    if price is None:
        raise InputError(f"--objective {objective} is for schedules; with --error give {', '.join(PRICES)}.")
    if others:
        raise InputError(
            "--error searches types on this machine, under one schedule, with all tensors on chip; leave out "
            "--memory, --area, --jobs, --scheduler and choices that are auto."
        )
    return price


def _typed(
    workload: Workload,
    schedule: Schedule,
    value: ValueType | None,
    limit: float,
    price: Price,
    seconds: float,
) -> TunedTypes:
    """What a search of types finds."""
    with line("tune", "{task.completed:.0f} types") as shown:
        return tune_types(
            workload,
            schedule,
            value=value,
            limit=limit,
            objective=price,
            seconds=seconds,
            progress=partial(_show, shown),
        )


def _write_types(tuned: TunedTypes, program: Program, views: _Views) -> None:
    """Writes the program in the best types, and shows the search."""
    best = tuned.best
    write_text(Path(views.output), tuned.program(program).unbound.text)
    if views.json_target:
        print_json(views.json_target, tuned.to_json())
    if views.json_target != "-":
        print_table(Console(), tuned.grid(), title=f"{views.program} on {tuned.data}: {tuned.about}")
        types = f"with --types '{best.text}'" if best.types else "in the program's own types"
        click.echo(f"{views.output}: {best.words}, {types}; {tuned.counts}")
    if views.plot:
        from samhw.app.report.plots import plot_types

        write_plot(views.plot, lambda: plot_types(tuned))
    if views.report:
        from samhw.app.report.tune_page import types_results

        write_results(views.report, lambda: types_results(views.program, tuned))


def _say(tuned: Tuned, views: _Views) -> None:
    """The trials, and what was written."""
    output = views.output
    print_table(Console(), tuned.grid(), title=f"{views.program} on {tuned.on}: {tuned.bought}")
    best, written = tuned.best, tuned.written
    energy = (
        f", {best.energy / 1e3:,.1f} nJ instead of {written.energy / 1e3:,.1f}" if tuned.by_energy else ""
    )
    click.echo(
        f"{output}: {best.cycles:,} cycles, {written.cycles / best.cycles:.2f} times as fast as "
        f"written{energy}; {counted(tuned.looked, 'design')} estimated, {len(tuned.trials)} simulated"
    )
    if tuned.looked == 1 and views.untried:
        click.echo(
            f"samhw: note: there was nothing to choose; there is more with {and_more(views.untried)}.",
            err=True,
        )


def _show(shown: Line, count: int, note: str) -> None:
    shown.show(count, None, note)


def _trials(
    listed: dict[Explored, Configuration],
    table: Path,
    end: float,
    jobs: int | None,
    scheduler: str | None,
    shown: Line,
) -> list[Trial]:
    """What simulations say of the schedules, as many as the budget allows, but two at least."""
    configurations = list(listed.values())
    step = jobs or os.cpu_count() or 1
    done = 0
    while done < len(configurations) and (done < 2 or monotonic() < end):
        done = min(done + max(2, step), len(configurations))
        _show(shown, done, f"of {len(configurations)} to simulate")
        rows = sweep(configurations[:done], table, jobs=jobs, scheduler=scheduler)
    found = [
        Trial(one, row["cycles"], Verdict(row["status"]), row["unproved"], float(row["energy_pj"] or 0))
        for one, row in zip(listed, rows, strict=False)
        if "cycles" in row
    ]
    if not found:
        raise RunError(f"No schedule ran to its end: {rows[0].get('error', 'the table says why')}")
    return found
