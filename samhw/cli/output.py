"""What commands print and write."""

import json
from pathlib import Path

import click
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
    """Prints rows, the first of which has the headings."""
    table = Table(title=Text(title), title_justify="left", show_lines=False)
    for heading in rows[0]:
        table.add_column(Text(heading), overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    console.print(table)
