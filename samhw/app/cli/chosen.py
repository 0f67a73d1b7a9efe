"""What is said of a schedule that was chosen, or that could be."""

import click

from samhw.app.workload import Workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search import Sizes, bracket_choices, work_of
from samhw.lang import Capacity

__all__ = ["note_brackets", "print_choice"]

FASTER = 1.5
"""How many times less work the best brackets take before a run without them says so."""


def print_choice(compiled: Compiled) -> None:
    """What `--schedule auto` has chosen, a line each."""
    for line in compiled.why:
        click.echo(f"  chosen     {line}")


def note_brackets(workload: Workload, schedule: Schedule) -> None:
    """A line on stderr where other brackets would take far less work, unless some were given or chosen."""
    if schedule.brackets or schedule.is_open:
        return
    program = workload.program.bind({name: tensor.shape for name, tensor in workload.tensors.items()})
    stored = {name: tensor.nnz for name, tensor in workload.tensors.items()}
    sizes = Sizes.of_entries(program, Capacity(), stored)
    choices = bracket_choices(program, sizes)
    before = sum(work_of(program, sizes).points.values())
    after = before - sum(choice.before - choice.after for choice in choices)
    if choices and before > FASTER * after:
        best = "; ".join(f"{choice.result} = {choice.text}" for choice in choices)
        click.echo(
            f"samhw: note: {best} is expected to take {before / after:.1f} times less work; "
            "'--schedule auto' chooses it.",
            err=True,
        )
