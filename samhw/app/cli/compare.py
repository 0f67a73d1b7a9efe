"""`samhw compare`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from samhw.app.checking import Known, Outcome
from samhw.app.checking import compare as compare_all
from samhw.app.cli.backends import CLOCK, memory_of, memory_option
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_files, complete_programs
from samhw.app.cli.numbers import load_arch
from samhw.app.cli.options import (
    ARCH,
    TYPES,
    VALUE,
    data_option,
    load_schedule,
    say_notes,
)
from samhw.app.cli.pages import plot_option, report_option, write_plot, write_results
from samhw.app.cli.printed import OUTPUT, print_json, print_table
from samhw.app.cli.progress import follow, warn_before
from samhw.app.cli.schedules import compared, comparing_options
from samhw.app.report.comparison import Comparison
from samhw.app.report.time import beside
from samhw.app.workload import Workload, bind_program
from samhw.choices.choice import choice
from samhw.choices.fuse import FUSION_LEVELS, MODULE
from samhw.choices.fuse.asked_regions import regions_of
from samhw.choices.schedule import Schedule, every, with_words
from samhw.compiler import AUTO, asked_type, asked_types, types_text
from samhw.compiler.search import in_modules
from samhw.errors import InputError
from samhw.files import write_text
from samhw.lang import Region, titled
from samhw.lang.brackets import apply_brackets

__all__ = ["compare"]


@click.command(cls=Command)
@click.argument("program", shell_complete=complete_programs)
@click.option(
    "--schedule",
    "files",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files(),
    help="Schedules to compare; the following options override them.",
)
@comparing_options
@VALUE
@TYPES
@data_option("As for run.")
@ARCH
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write the result as JSON.")
@memory_option
@click.option("--clock", type=CLOCK, metavar="NMHz|Nns", help="Say how long the cycles take, as for run.")
@click.option("--csv", "csv_target", type=OUTPUT, metavar="FILE|-", help="Write a row for each as CSV.")
@click.option("--energy", is_flag=True, help="Tell the energy of an ASIC, by estimate, as for run.")
@plot_option("Draw cycles and bytes as bars")
@report_option
def compare(
    program: str,
    files: Sequence[str],
    value: str,
    types: str | None,
    data: Sequence[str],
    arch: str | None,
    json_target: str | None,
    memory: str | None,
    ports: str | None,
    clock: float | None,
    csv_target: str | None,
    energy: bool,
    plot: str | None,
    report: str | None,
    **choices: Any,
) -> None:
    """Simulate PROGRAM under every combination of schedules and compare cost.

    Without --schedule the levels of fusion are none, partial and full by default; of a module of PyTorch
    none, module and full. A level of fusion with several regions is measured once, with the orders of its own
    statements; one that fuses nothing, with one way to share. Schedules that are compiled to the same design
    have one row.
    """
    axes = compared(choices)
    bases = [load_schedule(file) for file in files or (None,)]
    placed, period = beside(memory_of(memory, ports), clock)
    asked = asked_type(value)
    workload = bind_program(program, data, value=asked, types=asked_types(types))
    say_notes(workload)
    kind = workload.value(asked)
    if not files and "fuse" not in axes:
        # The regions of a module as they are imported are its statements.
        axes["fuse"] = list(FUSION_LEVELS) if workload.scopes is None else ["none", MODULE, "full"]
    schedules = [schedule for base in bases for schedule in _combined(workload, base, axes)]
    _check_orders(program, schedules, axes)
    warn_before([workload], times=len(schedules))
    latencies = load_arch(arch or "samhw")
    outcomes: list[Outcome] = []
    known: list[Known] = []
    for number, schedule in enumerate(schedules, 1):
        with follow(f"{schedule} ({number} of {len(schedules)})") as progress:
            outcomes += compare_all(
                workload,
                [schedule],
                value=kind,
                arch=latencies,
                memory=placed,
                known=known,
                progress=progress,
            )
    where = _placed(schedules, placed.name) if placed else ""
    found = Comparison(
        titled(program),
        workload.name,
        kind.name,
        tuple(outcomes),
        period,
        where,
        energy,
        types_text(workload.types),
    )
    if csv_target == "-":
        click.echo(found.csv(), nl=False)
    elif csv_target:
        write_text(Path(csv_target), found.csv())
    _show(found, "-" if csv_target == "-" else None, json_target, plot, report)
    if not found.good:
        sys.exit(1)


def _show(
    found: Comparison, printed: str | None, json_target: str | None, plot: str | None, report: str | None
) -> None:
    """Prints what was found, unless something else is `printed` already, and writes what was asked for."""
    if json_target:
        print_json(json_target, found.to_json())
    if "-" not in (json_target, printed):
        common = f"\nevery schedule: {found.common}" if found.common else ""
        print_table(Console(), found.grid(), title=f"{found.title}{common}")
        for note in found.notes:
            click.echo(f"  {note}")
    if plot:
        from samhw.app.report.comparison_plot import plot_comparison

        write_plot(plot, lambda: plot_comparison(found))
    if report:
        from samhw.app.report.comparison_page import comparison_results

        write_results(report, lambda: comparison_results(found))


def _combined(workload: Workload, base: Schedule, axes: Mapping[str, Sequence[Any]]) -> Iterator[Schedule]:
    """Every combination, with the fields of `base` where an axis has no choices, or would make no difference
    in regions as they are."""
    first = {name: axes[name] for name in axes if name.partition(".")[0] in REGIONS}
    for words in every(first):
        schedule = with_words(base, words)
        program = apply_brackets(workload.program, schedule.brackets)
        regions = regions_of(program, in_modules(schedule, workload.program, workload.scopes).fuse)
        inside = {
            name: fitting
            for name in axes
            if name not in first and (fitting := _fitting(name, axes[name], regions))
        }
        yield from (with_words(schedule, words) for words in every(inside))


def _fitting(name: str, words: Sequence[Any], regions: Sequence[Region]) -> list[Any]:
    """The words of an axis that make a difference in these regions."""
    one = choice(name.partition(".")[0])
    if one.has_commas:
        return [word for word in words if one.fits(one.taken(word), regions)]
    return list(words) if one.matters(regions) else []


REGIONS = ("brackets", "fuse")
"""The choices on which regions depend."""


def _check_orders(program: str, schedules: Sequence[Schedule], axes: Mapping[str, Sequence[Any]]) -> None:
    """Raises `InputError` if none of the schedules has an order that was asked for."""
    orders = [choice("order").taken(order) for order in axes.get("order", ())]
    if orders and not any(schedule.order in orders for schedule in schedules):
        where = ",".join(axes.get("fuse", ())) or "each of these schedules"
        raise InputError(
            f"--order is for one region, but '{titled(program)}' has several at {where}; add '--fuse full', "
            "give each region's as in '--order T=i,k,j', or write the orders into the program."
        )


def _placed(schedules: Sequence[Schedule], memory: str) -> str:
    """What lies in the memory, in words."""
    said = {(s.word("place"), s.word("on_chip")) for s in schedules}
    if said == {("", AUTO)}:
        return f"all tensors in {memory}"
    place, room = said.pop()
    words = [*place.split("+"), f"{room} on chip" if room != AUTO else ""]
    what = f" ({', '.join(filter(None, words))})" if not said else ""
    return f"tensors in {memory}{what}"
