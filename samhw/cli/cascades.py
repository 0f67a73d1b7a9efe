"""`samhw compile --cascades`."""

import click

from samhw.passes import Lowerable

__all__ = ["print_cascades"]


def print_cascades(lowerable: Lowerable) -> None:
    """What the test says of each reduction that depends on an earlier one, and why."""
    # SymPy takes a while to import.
    from samhw.cascade import cascaded

    findings = cascaded(lowerable.program, lowerable.cascade, lowerable.lanes, lowerable.tile).findings
    for finding in findings:
        click.echo(str(finding))
    if not findings:
        click.echo("No reduction depends on another one over the same index in its region.")
