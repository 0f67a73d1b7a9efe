"""`samhw accuracy`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import click
from rich.console import Console

from samhw.app.checking import differences
from samhw.app.cli.backends import CLOCK, check_on_chip
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_files, complete_programs, complete_values
from samhw.app.cli.options import data_option, load_schedule
from samhw.app.cli.pages import plot_option, plot_width
from samhw.app.cli.printed import OUTPUT, print_json, print_table
from samhw.app.cli.progress import line
from samhw.app.report.accuracy_report import Accuracy, AccuracyRow
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import AUTO, asked_type, asked_types, types_text
from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.lang import titled
from samhw.targets.backends import MODEL, run
from samhw.words import split_words

__all__ = ["accuracy"]


@click.command(cls=Command)
@click.argument("program", shell_complete=complete_programs)
@data_option("As for run, each by itself; several for one input as A+B.")
@click.option(
    "--draws",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="N inputs of each data: what it leaves to chance is drawn by seeds from 0 on; not of a module, "
    "which brings its arguments.",
)
@click.option(
    "--value",
    default="f32,bf16",
    show_default=True,
    metavar="TYPE,..",
    shell_complete=complete_values,
    help="Value types, as for run.",
)
@click.option(
    "--types",
    multiple=True,
    metavar="T=TYPE,..",
    help="Types of single tensors beside each of --value, or none; several times for several programs.",
)
@click.option(
    "--schedule", "file", metavar="FILE", shell_complete=complete_files(), help="A schedule, as for run."
)
@click.option("--clock", type=CLOCK, metavar="NMHz|Nns", help="Say how long the runs take, as for run.")
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write every row as JSON.")
@plot_option("Draw relative errors by value type")
def accuracy(
    program: str,
    data: Sequence[str],
    draws: int | None,
    value: str,
    types: Sequence[str],
    file: str | None,
    clock: float | None,
    json_target: str | None,
    plot: str | None,
) -> None:
    """Run PROGRAM in several value types on several inputs and compare its results with float64."""
    given = {
        ", ".join(filter(None, (str(asked_type(word) or AUTO), types_text(own)))): (asked_type(word), own)
        for word in split_words(value)
        for own in map(asked_types, types or ("",))
    }
    schedule = load_schedule(file)
    check_on_chip(schedule, "a comparison of values")
    inputs = list(dict.fromkeys(_inputs(data, draws)))
    rows: dict[str, list[AccuracyRow]] = {name: [] for name in given}
    with line("accuracy", "{task.completed:.0f} of {task.total:.0f} inputs") as shown:
        for number, text in enumerate(inputs):
            # One draw for all types: that of the first.
            first, own = next(iter(given.values()))
            try:
                drawn = bind_program(program, text.split("+"), value=first, types=own)
            except InputError as error:
                if draws is not None and tuple(data) == (AUTO,):
                    # What is wrong without --draws too is said as it is.
                    bind_program(program, (AUTO,), value=first, types=own)
                    raise InputError(
                        f"--draws {draws} draws data, which '{titled(program)}' does not take: it has its "
                        "own; leave out --draws."
                    ) from error
                raise
            for name, (kind, own) in given.items():
                shown.show(number, len(inputs), f"{text}, {name}")
                rows[name] += _measured(drawn.with_types(own), schedule, kind, text, own)
    found = Accuracy(titled(program), tuple(chain.from_iterable(rows.values())), clock)
    if json_target:
        print_json(json_target, found.to_json())
    if json_target != "-":
        print_table(Console(), found.grid(), title=found.title)
    if plot:
        found.plot(plot, plot_width())


def _inputs(data: Sequence[str], draws: int | None) -> Iterator[str]:
    """The words of each input, as --data of a sweep has them."""
    for text in data:
        if draws is None:
            yield text
            continue
        for seed in range(draws):
            random = f"random:seed={seed}"
            yield random if text == AUTO else f"{text},seed={seed}" if ":" in text else f"{text}+{random}"


def _measured(
    workload: Workload,
    schedule: Schedule,
    kind: ValueType | None,
    text: str,
    types: Mapping[str, ValueType],
) -> Iterator[AccuracyRow]:
    """A row for each result of a run."""
    compiled = compile_workload(workload, schedule, value=kind, arch=Arch())
    result = run(compiled, workload.tensors, MODEL)
    name = ", ".join([str(compiled.value), *(f"{tensor}={own}" for tensor, own in types.items())])
    for tensor, difference in differences(workload, result.outputs).items():
        yield AccuracyRow(name, text, tensor, result.cycles, difference)
