"""`samhw compile --after`."""

import click

from samhw.frontend import dumps
from samhw.passes import Lowerable, apply_passes

__all__ = ["print_after"]


def print_after(lowerable: Lowerable, last: str) -> None:
    """The text of a program after a pass, below comments that say what the passes have added, and the orders
    that a schedule gives to whole regions."""
    left = apply_passes(lowerable, last)
    for name, recipe in left.recipes.items():
        click.echo(f"# {name}: {recipe}")
    for copy in left.copies.values():
        click.echo(f"# {copy}")
    for view, source in left.views.items():
        click.echo(f"# {view} is {source} in another shape: the same memory")
    for region in left.program.regions:
        if region.order is not None:
            click.echo(f"# {region.label} is computed in the order {', '.join(region.order)}")
    click.echo(dumps(left.program), nl=False)
