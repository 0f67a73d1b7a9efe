"""The command line's `samhw merge`."""

from collections.abc import Sequence
from pathlib import Path

import click

from samhw.app.cli.command import Command
from samhw.app.cli.sweep import TABLE, ended
from samhw.app.sweep import merge as merged
from samhw.app.sweep import row_of, write_table

__all__ = ["merge"]


@click.command(cls=Command)
@click.argument("journals", nargs=-1, required=True, metavar="JOURNAL...", type=click.Path(path_type=Path))
@TABLE
def merge(journals: Sequence[Path], output: str) -> None:
    """Put the journals of a sweep's shards together, into one table.

    It is the table that the sweep writes in one run. Points that are missing, or of another version of samhw
    or of the data, are refused with their names.
    """
    found = merged(journals)
    rows = [row_of(key, one, dict(found.outcomes[key])) for key, one in found.keyed]
    write_table(Path(output), rows)
    ended(rows, output)
