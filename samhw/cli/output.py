"""What commands print and write."""

import json
from pathlib import Path

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samhw.files import write_text

__all__ = ["print_json", "print_table", "verdict"]


def print_json(target: str, data: object) -> None:
    """Writes a JSON object to a file, or to stdout for `-`."""
    text = json.dumps(data, indent=2) + "\n"
    if target == "-":
        click.echo(text, nl=False)
        return
    write_text(Path(target), text)


def verdict(checked: bool, unproved: int) -> str:
    """What a check has found, in a word or two. `unproved` as for `samhw.targets.Check`."""
    if not checked:
        return "WRONG"
    return f"right, {unproved:,} unproved" if unproved else "right"


def print_table(console: Console, rows: list[list[str]], title: str) -> None:
    """Prints rows, the first of which has the headings.

    Cells fold between words to fit a terminal. No word breaks, and with it no number: a table is rather wider
    than the terminal. Where there is no terminal, nothing folds.
    """
    frame = 3 * len(rows[0]) + 1
    widths = _widths(rows, console.width - frame if console.is_terminal else None)
    table = Table()
    for heading, width in zip(rows[0], widths, strict=True):
        table.add_column(Text(heading), width=width)
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    console.print(Text(title, style="table.title"), soft_wrap=True)
    terminal, console.width = console.width, sum(widths) + frame
    console.print(table)
    console.width = terminal


def _widths(rows: list[list[str]], room: int | None) -> list[int]:
    """Of each column: what its cells want, and in little room less, but for their longest words."""
    columns = list(zip(*rows, strict=True))
    wanted = [max(map(cell_len, column)) for column in columns]
    if room is None:
        return wanted
    least = [
        max((cell_len(word) for cell in column for word in cell.split()), default=0) for column in columns
    ]
    # The widest columns give first.
    for limit in range(max(wanted), 0, -1):
        widths = [max(low, min(limit, high)) for low, high in zip(least, wanted, strict=True)]
        if sum(widths) <= room:
            return widths
    return least
