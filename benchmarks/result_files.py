"""The result files of the benchmarks (benchmarks/results), of which docs/tables.py makes the tables of
docs/*.md, and how one is measured again."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from samhw.app.report import result_file
from samhw.app.report.result_file import Cell, ResultFile, commit, parse
from samhw.errors import InputError

__all__ = ["FOLDER", "Cell", "ResultFile", "measured", "names", "parse", "read", "update"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "results"

PAPERS = ["samhw", "papers"]
"""How the command begins that writes a file for each figure."""


def names() -> list[str]:
    """Of all result files."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def read(source: str | Path) -> ResultFile:
    """A file by its name in benchmarks/results, or by its path.

    Raises:
        InputError: for a file that is not there, or is no result file.
    """
    path = source if isinstance(source, Path) else FOLDER / f"{source}.json"
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"there is no result file {path.stem!r}; a benchmark writes one by --json, and there are "
            f"{', '.join(names())}"
        ) from None
    except InputError as error:
        raise error.within(path.name) from None


def measured(title: str, rows: Sequence[Mapping[str, Cell]]) -> ResultFile:
    """What the benchmark that runs has measured."""
    words = sys.argv[1:]
    if "--json" in words:
        at = words.index("--json")
        del words[at : at + 2]
    command = shlex.join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *words])
    return result_file.measured(title, command, rows)


def update(name: str) -> ResultFile:
    """Measures what a file has again, by its own command, and writes the file.

    Raises:
        InputError: if the command is not one of a benchmark, needs something, fails, or lacks a column,
            and if the state has no commit.
    """
    old = read(name)
    words = _command(name, old.command)
    if commit() is None:
        raise InputError("commit what you changed in samhw and benchmarks first, so that a file can name it")
    with tempfile.TemporaryDirectory() as folder:
        is_paper = words[1:3] == PAPERS
        path = Path(folder, "results" if is_paper else "", f"{name}.json")
        output = ["-o", folder] if is_paper else ["--json", str(path)]
        done = subprocess.run([sys.executable, *words, *output], cwd=ROOT)
        if done.returncode or not path.exists():
            raise InputError(f"{old.command!r} failed (exit code {done.returncode}), so {name}.json stays")
        new = read(path)
    if lost := [key for key in old.rows[0] if key not in new.rows[0]]:
        raise InputError(
            f"{old.command!r} no longer gives the column {lost[0]!r} of {name}.json, but "
            f"{', '.join(map(repr, new.rows[0]))}; write the file by --json, and change what shows it in "
            "docs/tables.py"
        )
    found = ResultFile(old.title, old.command, new.commit, new.machine, new.date, new.rows)
    (FOLDER / f"{name}.json").write_text(str(found), encoding="utf-8")
    return found


def _command(name: str, command: str) -> list[str]:
    """What Python runs of a file's command, once its environment has what it asks for."""
    words = shlex.split(command)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        variable = words.pop(0).partition("=")[0]
        if not os.environ.get(variable):
            raise InputError(f"set {variable}, which the command of {name}.json asks for: {command}")
    if words[:2] == PAPERS:
        return ["-m", *words]
    if words[:2] != ["python", "-m"] or not words[2:3] or not words[2].startswith("benchmarks."):
        raise InputError(
            f"{name}.json comes from {command!r}, which is no benchmark; run it, and write down what it says"
        )
    if open_words := [word for word in words if re.fullmatch(r"[A-Z]+", word)]:
        raise InputError(
            f"{name}.json comes from several runs of {command!r}; run it for each {open_words[0]} by --json"
        )
    return words[1:]
