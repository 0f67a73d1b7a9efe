"""`samhw examples`."""

import re
import shutil
from itertools import takewhile
from pathlib import Path

import click

from samhw.app.cli.command import Command
from samhw.files import new_directory
from samhw.installed import installed

__all__ = ["examples"]

_FOLDERS = ("examples", "docs", "boards")
"""What is written: links from one of them lead into the others."""

_TELLING = (".ein", ".mlir", ".py", ".toml")
"""Files that begin with what they are."""


@click.command(cls=Command)
@click.argument("directory", required=False, metavar="[DIR]")
def examples(directory: str | None) -> None:
    """The examples, a line each; or writes them to a directory, with the documents."""
    if directory is None:
        found = {str(name): path for name, path in installed("examples").items() if name.suffix in _TELLING}
        width = max(map(len, found))
        for title, path in found.items():
            click.echo(f"{title:{width}}  {_first_sentence(path.read_text('utf-8'))}")
        return
    with new_directory(Path(directory)) as whole:
        for folder in _FOLDERS:
            for name, path in installed(folder).items():
                copy = whole / folder / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
    click.echo(f"  examples   {directory}/examples")
    click.echo(f"  documents  {directory}/docs/tutorial.md first")


def _first_sentence(text: str) -> str:
    """What a file says of itself, in a docstring or in comments."""
    if text.startswith('"""'):
        said = text[3:].partition('"""')[0]
    else:
        comments = takewhile(lambda line: line.startswith(("#", "//")), text.splitlines())
        said = "\n".join(line.lstrip("#/ ") for line in comments)
    return " ".join(re.split(r"\.(?:\s|$)|\n\s*\n", said)[0].split()).rstrip(":")
