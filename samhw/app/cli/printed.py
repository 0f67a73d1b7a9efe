"""What commands print and write."""

import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samhw.app.cli import TYPED, WRITTEN
from samhw.errors import InputError
from samhw.files import reason, write_text

if TYPE_CHECKING:
    from rich.console import Console

    from samhw.app.checking.advice import Advice

__all__ = [
    "OUTPUT",
    "OutputFile",
    "TraceFile",
    "advised_command",
    "command_line",
    "note_written",
    "print_json",
    "print_table",
]


def command_line() -> str:
    """What was typed, as a shell takes it."""
    return shlex.join(["samhw", *click.get_current_context().meta[TYPED]])


_ONCE = ("--advise", "--stats", "--report", "--json", "--save", "--trace", "--window", "--wave")
"""Options of a run that say what it writes, which one that follows its advice has no use for."""


def advised_command(advice: "Advice") -> str:
    """What was typed, with the options of an advice instead of those for the same."""
    typed = list(click.get_current_context().meta[TYPED])
    if "auto" in typed and "--schedule" in typed:
        del typed[typed.index("--schedule") : typed.index("--schedule") + 2]
    elif "--schedule=auto" in typed:
        typed.remove("--schedule=auto")
    new = advice.options
    flags = {f"--{word.removeprefix('--no-')}" if word.startswith("--no-") else word for word in new}
    kept: list[str] = []
    skipped = False
    for word in typed:
        if skipped:
            skipped = False
            continue
        name, equals, _ = word.partition("=")
        if name in flags or name in _ONCE:
            skipped = not equals and name not in ("--advise", "--stats", "--permute")
        else:
            kept.append(word)
    return shlex.join(["samhw", *kept, *new])


class OutputFile(click.Path):
    """A file to write, or `-`. What cannot be written is refused before the command does anything, and so are
    two options that name the same file."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        super().convert(value, param, ctx)
        name = str(value)
        try:
            path = Path(os.path.realpath(name))
            if name == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
                return name  # A device or a pipe takes whatever comes.
            os.stat(path.parent / ".")
        except (OSError, ValueError) as error:
            raise InputError(f"Cannot write {name} ({reason(error)}); choose another place.") from None
        if ctx and param:
            for file, beside in zip(self.written(path), self.written(Path(name)), strict=True):
                said = name if file == path else str(beside)
                option, _ = ctx.meta.setdefault(WRITTEN, {}).setdefault(file, (param.opts[-1], said))
                if option != param.opts[-1]:
                    raise InputError(f"{option} and {param.opts[-1]} both write {said}; name two files.")
        return name

    def written(self, path: Path) -> tuple[Path, ...]:
        """The files that are written where this one is named."""
        return (path,)


class TraceFile(OutputFile):
    """A trace: what GTKWave and Surfer show at first has its waves beside it."""

    def written(self, path: Path) -> tuple[Path, ...]:
        """The trace, and those waves."""
        return (path, path.with_suffix(".vcd")) if path.suffix in (".gtkw", ".sucl") else (path,)


OUTPUT = OutputFile(dir_okay=False, allow_dash=True)
"""The type of an option for a file, and no folder."""


def note_written(path: Path) -> None:
    """Notes a file that no option names by itself, so that the end of the command tells of it."""
    click.get_current_context().meta.setdefault(WRITTEN, {})[path] = ("", path)


def print_json(target: str, data: object) -> None:
    """Writes a JSON object to a file, or to stdout for `-`."""
    text = json.dumps(data, indent=2) + "\n"
    if target == "-":
        click.echo(text, nl=False)
        return
    write_text(Path(target), text)


def print_table(console: "Console | None", rows: list[list[str]], title: str) -> None:
    """Prints rows, the first of which has the headings: to stdout, or where a console writes.

    Cells fold between words, and names after their underlines, to fit a terminal. No number breaks: a table
    is rather wider than the terminal. Where there is no terminal, nothing folds.
    """
    # They take a tenth of a second to be imported, and most runs print no table.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = console or Console()
    frame = 3 * len(rows[0]) + 1
    widths = _widths(rows, console.width - frame if console.is_terminal else None)
    table = Table()
    for heading, width in zip(rows[0], widths, strict=True):
        table.add_column(Text(heading), width=width)
    for row in rows[1:]:
        table.add_row(*(Text(_folded(cell, width)) for cell, width in zip(row, widths, strict=True)))
    console.print(Text(title, style="table.title"), soft_wrap=True)
    terminal, console.width = console.width, sum(widths) + frame
    console.print(table)
    console.width = terminal


_SHORT = 12
"""A word of no more letters stays whole."""


def _parts(cell: str) -> list[str]:
    """What stays in a line: words, and the parts of long names."""
    words = cell.split()
    return [p for word in words for p in (re.findall(r"[^_]+_*|_+", word) if len(word) > _SHORT else [word])]


def _folded(cell: str, width: int) -> str:
    """A cell in lines of a width, which a name may go on in; between words rich folds it itself."""
    lines = []
    for word in cell.split(" "):
        line = ""
        for part in _parts(word) or [""]:
            if line and len(line) + len(part) > width:
                lines.append(line + "\n")
                line = ""
            line += part
        lines.append(line + " ")
    return "".join(lines).rstrip(" ")


def _widths(rows: list[list[str]], room: int | None) -> list[int]:
    """Of each column: what its cells want, and in little room less, but for their longest words."""
    from rich.cells import cell_len  # As above.

    columns = list(zip(*rows, strict=True))
    wanted = [max(map(cell_len, column)) for column in columns]
    if room is None:
        return wanted
    least = [
        max((cell_len(part) for cell in column for part in _parts(cell)), default=0) for column in columns
    ]
    # The widest columns give first.
    for limit in range(max(wanted), 0, -1):
        widths = [max(low, min(limit, high)) for low, high in zip(least, wanted, strict=True)]
        if sum(widths) <= room:
            return widths
    return least
