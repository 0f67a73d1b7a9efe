"""Result files: the rows that a command measured, and on which state and machine.

A file is a JSON object with these keys, and its rows are objects with equal keys, one a line:

* `title`: what was measured;
* `command`: what measures it. A word in capitals is for you to fill in; an environment variable of that kind
  stands before the command, as in `SAMHW_DATA=FOLDER python -m ..`;
* `commit`: the last one that changed samhw, or null where it is not known or the work tree differed;
* `machine`: cores, processor and memory; `date`: the day. Null where they are not known;
* `rows`: their cells are texts, numbers, true, false or null.
"""

import datetime
import json
import math
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from samhw.errors import InputError, shown

__all__ = ["Cell", "ResultFile", "commit", "measured", "parse"]

ROOT = Path(__file__).parents[3]
"""Of the checkout, if this is one."""

Cell: TypeAlias = str | int | float | bool | None

KEYS = ("title", "command", "commit", "machine", "date", "rows")
ABSENT = ("commit", "machine", "date")
"""What may be null."""


@dataclass(frozen=True)
class ResultFile:
    """What a command measured.

    Raises:
        InputError: for what is no result, in one sentence.
    """

    title: str
    command: str
    commit: str | None
    machine: str | None
    date: str | None
    rows: Sequence[Mapping[str, Cell]]

    def __post_init__(self) -> None:
        for key in KEYS[:-1]:
            text = getattr(self, key)
            if not (text is None and key in ABSENT) and not (isinstance(text, str) and text.strip()):
                raise InputError(f"{key!r} is {shown(text)}; it takes a text")
        if self.commit is not None and not re.fullmatch(r"[0-9a-f]{8,40}", self.commit):
            raise InputError(f"'commit' is {self.commit!r}; it takes 8 to 40 hexadecimal digits, or null")
        if self.date is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", self.date):
            raise InputError(f"'date' is {self.date!r}; it takes year, month and day as 2026-11-29, or null")
        _check_rows(self.rows)

    def __str__(self) -> str:
        """The text of the file."""
        head = {key: getattr(self, key) for key in KEYS[:-1]}
        lines = [f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items()]
        rows = ",\n".join(f"  {json.dumps(row, allow_nan=False)}" for row in self.rows)
        return "{\n" + "".join(lines) + f' "rows": [\n{rows}\n ]\n' + "}\n"


def _check_rows(rows: object) -> None:
    if not isinstance(rows, list | tuple) or not rows:
        raise InputError("'rows' takes a list of at least one row")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping) or not row:
            raise InputError(f"row {number} is {shown(row)}; it takes an object with a key for each column")
        if list(row) != list(rows[0]):
            raise InputError(f"row {number} has the columns {_list(row)}, and row 1 has {_list(rows[0])}")
        for key, cell in row.items():
            if not isinstance(cell, str | int | float | None):
                raise InputError(f"row {number} has {shown(cell)} as {key!r}; a cell is a text or a number")
            if isinstance(cell, float) and not math.isfinite(cell):
                raise InputError(f"row {number} has {cell} as {key!r}, which is no result")


def _list(row: Mapping[str, object]) -> str:
    return ", ".join(map(repr, row))


def parse(text: str) -> ResultFile:
    """The result of a file's text."""
    try:
        found = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InputError(f"it is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"it is {shown(found)}; it takes an object with the keys {', '.join(KEYS)}")
    if missing := [key for key in KEYS if key not in found]:
        raise InputError(f"it has no {missing[0]!r}")
    if unknown := [key for key in found if key not in KEYS]:
        raise InputError(f"it has {unknown[0]!r}, which no result file has; there are {', '.join(KEYS)}")
    return ResultFile(**found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise InputError(f"it has {next(key for key in keys if keys.count(key) > 1)!r} twice in one object")
    return found


def measured(title: str, command: str, rows: Sequence[Mapping[str, Cell]]) -> ResultFile:
    """What a command has measured, on the state and the machine as they are. Figures are kept to four places
    after the point."""
    kept = [
        {key: round(cell, 4) if isinstance(cell, float) else cell for key, cell in row.items()}
        for row in rows
    ]
    return ResultFile(title, command, commit(), machine(), datetime.date.today().isoformat(), kept)


def commit() -> str | None:
    """The last commit that changed samhw; None if what would be measured is no commit."""
    try:
        if _git("status", "--porcelain", "--", "samhw", "benchmarks", ":!benchmarks/results"):
            return None
        return _git("log", "-1", "--format=%h", "--abbrev=8", "--", "samhw") or None
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def machine() -> str:
    """In general words: cores, processor, memory."""
    cores = os.cpu_count() or 1
    processor = platform.processor() or platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.exists() and (found := re.search(r"^model name\s*: (.+)$", cpus.read_text(), re.MULTILINE)):
        processor = found[1].strip()
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cores} core{'s' if cores > 1 else ''}, {processor}, {size:.0f} GB"
