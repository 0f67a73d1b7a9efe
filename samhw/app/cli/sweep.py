"""The command line's `samhw sweep`."""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from samhw.app.cli.backends import MEMORY_WORDS
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_data, complete_files, complete_programs, complete_values
from samhw.app.cli.options import say_notes
from samhw.app.cli.pages import plot_option, report_option, write_plot, write_results
from samhw.app.cli.printed import note_written
from samhw.app.cli.progress import line, warn_before
from samhw.app.cli.schedules import compared, comparing_options
from samhw.app.sweep import Configuration, Row, Shard, State, journal_of, product, read_description
from samhw.app.sweep import sweep as run
from samhw.app.workload import bind_program
from samhw.choices.place import CHIP
from samhw.choices.schedule import CHOICES
from samhw.errors import InputError, SamhwError
from samhw.words import counted, split_words

__all__ = ["TABLE", "ended", "sweep"]

TABLE = click.option(
    "-o",
    "--output",
    required=True,
    metavar="TABLE",
    shell_complete=complete_files(),
    help="The table, .csv or .parquet.",
)

_NAMES = {one.name: one for one in CHOICES}


@click.command(cls=Command)
@click.argument(
    "programs",
    nargs=-1,
    metavar="(FILE.toml | PROGRAM...)",
    required=True,
    shell_complete=complete_programs,
)
@TABLE
@click.option(
    "--data",
    multiple=True,
    metavar="DATA",
    shell_complete=complete_data,
    help="As for run, each by itself; several for one run as A+B.",
)
@click.option(
    "--value",
    metavar="TYPE,..",
    shell_complete=complete_values,
    help="Value types; by default auto.",
)
@click.option(
    "--types",
    multiple=True,
    metavar="T=TYPE,..",
    help="Types of single tensors, as for run, or none; once for each.",
)
@click.option(
    "--schedule",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files(),
    help="Schedules; the following options override them.",
)
@comparing_options
@click.option("--depth", metavar="N,..", help="Depth of every channel, in tokens, or auto, the default.")
@click.option(
    "--memory",
    metavar="MEMORY,..",
    shell_complete=complete_files(CHIP, *MEMORY_WORDS),
    help="chip, ddr4, hbm2 or FILE.json; by default chip.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=V,..",
    help="Fields of Arch, slack=0,2,8 or alu.f32.mul=4,8, or of schedules, formats.T=csr,dense or, one order "
    "at a time, order.T=i,k,j.",
)
@click.option("--jobs", type=int, help="Processes; by default one for each processor.")
@click.option("--scheduler", metavar="ADDRESS", help="Measure on the cluster of a Dask scheduler.")
@click.option("--shard", metavar="N/COUNT", help="Measure one part, as 3/64; 'samhw merge' joins them.")
@plot_option("Draw cycles against bytes, with their Pareto front")
@report_option
@click.option(
    "--against",
    metavar="COLUMN",
    help="Draw cycles against this: bytes, bytes_moved, operations, firings, or an axis of the sweep.",
)
def sweep(
    programs: Sequence[str],
    output: str,
    jobs: int | None,
    scheduler: str | None,
    shard: str | None,
    settings: Sequence[str],
    plot: str | None,
    report: str | None,
    against: str | None,
    **axes: Any,
) -> None:
    """Simulate every combination of programs, data, schedules and hardware parameters, into one table.

    The axes come from a TOML file or from the options. What is finished is kept in TABLE.journal: the same
    command goes on where the last one was ended, in whatever way.
    """
    if scheduler and jobs is not None:
        raise InputError("--jobs is for this machine, and --scheduler for a cluster; give one of them.")
    part = None if shard is None else Shard.parse(shard)
    if part and (plot or report):
        raise InputError("A shard has no table to draw; leave out --plot and --report, and merge it.")
    described = any(program.endswith(".toml") for program in programs)
    if described:
        if len(programs) > 1 or settings or any(value not in (None, ()) for value in axes.values()):
            raise InputError("A sweep's file has all of its axes; give no others beside it.")
        configurations = read_description(Path(programs[0]))
    else:
        configurations = _from_options(programs, settings, axes)
    draw = _drawing(configurations, plot, report, against)

    with line("sweep", "{task.completed:.0f} of {task.total}") as shown:

        def progress(state: State) -> None:
            if state.done == state.reused and not scheduler:
                _warn_before(configurations, state.total - state.done, jobs or os.cpu_count() or 1)
            shown.show(state.done, state.total, f"{state.reused} from the journal" if state.reused else "")

        rows = run(
            configurations, Path(output), jobs=jobs, scheduler=scheduler, shard=part, progress=progress
        )
    ended(rows, str(journal_of(Path(output), part)) if part else output, draw)


def ended(
    rows: Sequence[Row], output: str, draw: Callable[[Sequence[Row]], None] = lambda rows: None
) -> None:
    """Says what became of all configurations, and draws them; exit code 1 if a result is wrong or a process
    died."""
    counts = Counter(row["status"] for row in rows)
    found = ", ".join(f"{number} {status}" for status, number in counts.most_common())
    click.echo(f"{counted(len(rows), 'configuration')}: {found or 'none in this shard'}; {output}")
    note_written(Path(output))
    for status, row in {row["status"]: row for row in reversed(rows) if row.get("error")}.items():
        click.echo(f"samhw: {status}, {row['program']} on {row['data']}: {row['error']}", err=True)
    draw(rows)
    if counts["wrong"] or counts["crashed"]:
        sys.exit(1)


def _drawing(
    configurations: Sequence[Configuration], plot: str | None, report: str | None, against: str | None
) -> Callable[[Sequence[Row]], None]:
    """What draws plot and report once everything is measured; what cannot be drawn is refused before."""
    if plot is None and report is None:
        return lambda rows: None
    from samhw.app.report.sweep_view import check_plot

    axes = list(dict.fromkeys(name for c in configurations for name in c.columns()))
    check_plot(len({(c.program, c.data) for c in configurations}), axes, against)

    def drawn(rows: Sequence[Row]) -> None:
        if plot is not None:
            from samhw.app.report.sweep_plot import plot_sweep

            write_plot(plot, lambda: plot_sweep(rows, axes, against))
        if report is not None:
            from samhw.app.report.sweep_page import sweep_results

            write_results(report, lambda: sweep_results(rows, axes, against))

    return drawn


_MOST_READ = 8
"""Programs with data that are read to say how long a sweep will take."""


def _warn_before(configurations: Sequence[Configuration], left: int, jobs: int) -> None:
    """Says on stderr if what is left will take long, as if it were all like some of it."""
    pairs = list({(c.program, c.specs(), c.value): None for c in configurations})
    found = []
    for program, data, value in pairs[:: -(-len(pairs) // _MOST_READ) or 1] if left else ():
        with suppress(SamhwError):  # It will be in the table.
            found.append(bind_program(program, data, value=value))
            say_notes(found[-1])
    if found:
        warn_before(found, times=left / len(found), jobs=min(jobs, left))


def _from_options(
    programs: Sequence[str], settings: Sequence[str], options: dict[str, Any]
) -> list[Configuration]:
    """The configurations of all options, from which this takes those of choices."""
    axes: dict[str, Any] = {"program": list(programs)}
    _add(axes, compared(options))
    axes |= {name: values for name, values in options.items() if values}
    for name in ("value", "memory"):
        if name in axes:
            axes[name] = split_words(axes[name])
    if "depth" in axes:
        axes["depth"] = [_value(text) for text in split_words(axes["depth"])]
    arch: dict[str, Any] = {}
    chosen: dict[str, Any] = {}
    named = _set(settings)
    if "order" in named and any(name.startswith("order.") for name in named):
        raise InputError("--set order is for programs of one region, order.T for others; leave one out.")
    for name, values in named.items():
        (chosen if name.partition(".")[0] in _NAMES else arch)[name] = values
    for name in chosen:
        if name.partition(".")[0] in axes:
            raise InputError(f"--set {name} says what an option says too; leave one of them out.")
    _add(axes, chosen)
    return list(product(axes, arch))


def _add(axes: dict[str, Any], words: Mapping[str, Any]) -> None:
    """Adds the words of choices by name; those of entries, as `formats.T`, in a table for each choice."""
    for name, values in words.items():
        field, dot, entry = name.partition(".")
        if dot:
            axes.setdefault(field, {})[entry] = values
        else:
            axes[field] = values


def _set(settings: Sequence[str]) -> dict[str, list[object]]:
    """The values of --set by name, those of one name together."""
    found: dict[str, list[object]] = {}
    for setting in settings:
        name, equals, values = setting.partition("=")
        if not equals:
            raise InputError(
                f"--set {setting}: give a field of Arch or of a schedule and its values, such as slack=0,2,8."
            )
        one = _NAMES.get(name.partition(".")[0])
        # The commas of some words are their own.
        texts = [values] if one is not None and one.has_commas else split_words(values)
        is_word = one is not None and one.kind is str
        found.setdefault(name, []).extend(texts if is_word else map(_value, texts))
    return found


def _value(text: str) -> object:
    """A number where it is one."""
    try:
        return json.loads(text)
    except ValueError:
        return text
