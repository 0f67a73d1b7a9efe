"""`samhw kernels`."""

import click

from samhw.frontend import (
    cascade_description,
    cascade_names,
    kernel_description,
    kernel_names,
    model_description,
    model_names,
    sequence_description,
    sequence_names,
)

__all__ = ["kernels"]


@click.command()
def kernels() -> None:
    """The built-in programs, a line each: kernels, cascades, sequences, then models."""
    for name in kernel_names():
        click.echo(f"{name:18}  {kernel_description(name)}")
    for name in cascade_names():
        click.echo(f"{name:18}  {cascade_description(name)}")
    for name in sequence_names():
        click.echo(f"{name:18}  {sequence_description(name)}")
    for name in model_names():
        click.echo(f"{name:18}  {model_description(name)}")
