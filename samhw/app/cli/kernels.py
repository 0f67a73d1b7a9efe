"""`samhw kernels`."""

import click

from samhw.app.cli.command import Command
from samhw.lang import built_in_programs

__all__ = ["kernels"]


@click.command(cls=Command)
def kernels() -> None:
    """The built-in programs, a line each: kernels, cascades, sequences, then models."""
    for name, description in built_in_programs():
        click.echo(f"{name:18}  {description}")
