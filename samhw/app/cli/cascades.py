"""`samhw compile --cascades`."""

from dataclasses import replace

import click

from samhw.compiler.passes import Lowerable, apply_program_passes

__all__ = ["print_cascades"]


def print_cascades(lowerable: Lowerable) -> None:
    """What the test says of each reduction that depends on an earlier one, and why."""
    # SymPy takes a while to import.
    from samhw.lang.cascade import cascaded

    # As in the pass, after those that come before it.
    asked = lowerable.schedule
    given = apply_program_passes(replace(lowerable, schedule=replace(asked, cascade="off")), "cascade")
    findings = cascaded(given.program, asked.cascade_form, asked.lanes, asked.tile).findings
    for finding in findings:
        click.echo(str(finding))
    if not findings:
        click.echo("No reduction depends on another one over the same index in its region.")
