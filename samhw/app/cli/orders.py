"""`samhw compile --orders`."""

import click
from rich.console import Console

from samhw.app.cli.output import print_table
from samhw.compiler.search import OrderSpace, order_spaces
from samhw.errors import ScheduleError
from samhw.lang import Program

__all__ = ["print_orders"]

_SHARING = {"REDUCED": "indices, where they can", "EQUAL": "equal uses", "NOTHING": "nothing"}
"""What uses of an intermediate share, by the name of the compiler's choice."""


def print_orders(program: Program, most: int) -> None:
    """The number of orders of each region's indices, and the first ones; a reshape goes through memory."""
    console = Console()
    for region in program.regions:
        if region.reshapes or not region.is_plain:
            continue
        spaces = order_spaces(program, region)
        rows = [["intermediates share", "indices", "any order", "storage kept", "and statements' orders"]]
        rows += [
            [
                _SHARING[space.region.sharing.name],
                str(len(space.indices)),
                *(_count(space, part) for part in ("any_order", "kept_storage", "kept_all")),
            ]
            for space in spaces
        ]
        print_table(console, rows, title=", ".join(region.written))
        try:
            for _, order in zip(range(most), spaces[0].orders(), strict=False):
                click.echo(f"  {','.join(order) or '(no indices)'}")
        except ScheduleError as error:
            click.echo(f"  none: {error}")


def _count(space: OrderSpace, part: str) -> str:
    try:
        number: int = getattr(space, part)
    except ScheduleError:
        return "too many to count"
    return f"{number:,}" if number < 10**12 else f"{number:.2e}"
