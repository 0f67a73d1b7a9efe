"""Tables of numbers in text files, parsed at once: the line of a fault is looked up only if there is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.levels import IntArray

__all__ = ["NumberTable", "read_sizes", "read_table", "widened", "write_rows"]


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The numbers of a file: one row per line that is neither blank nor a comment."""

    path: Path
    lines: list[bytes]
    """All lines of the file, with comments and skipped lines blanked."""

    comments: list[str]
    rows: npt.NDArray[Any]
    """Shape (rows, columns); int64 if every number is written as an integer, float64 otherwise."""

    def fault(self, row: int, complaint: str) -> InputError:
        """The error that says what is wrong with a row."""
        numbers = (number for number, line in enumerate(self.lines, start=1) if line.strip())
        line = next(number for index, number in enumerate(numbers) if index == row)
        return InputError(f"{self.path} line {line}: {complaint}")

    def coordinates(self, rank: int) -> IntArray:
        """The first columns as coordinates (rank, rows). Files count from 1, these count from 0.

        Raises
        ------
        InputError
            Naming the first line that holds no coordinates.
        """
        written = self.rows[:, :rank].T.reshape(rank, len(self.rows))
        with np.errstate(invalid="ignore"):
            coords = written.astype(np.int64)
        if (wrong := np.flatnonzero(((coords != written) | (coords < 1)).any(axis=0))).size:
            raise self.fault(int(wrong[0]), "coordinates must be integers, counted from 1")
        return coords - 1

    def check_range(self, coords: IntArray, shape: tuple[int, ...]) -> None:
        """Check coordinates from :meth:`coordinates` against a shape.

        Raises
        ------
        InputError
            Naming the first line with a coordinate outside the shape.
        """
        outside = coords >= np.array(shape).reshape(-1, 1)
        if (wrong := np.flatnonzero(outside.any(axis=0))).size:
            row = int(wrong[0])
            mode = int(np.flatnonzero(outside[:, row])[0])
            found = f"coordinate {coords[mode, row] + 1} of mode {mode}"
            raise self.fault(row, f"{found} is out of the range 1 to {shape[mode]}")


def read_table(path: Path, comment: str = "#", skip: int = 0) -> NumberTable:
    """Parse a file of whitespace-separated numbers, equally many on each line.

    Parameters
    ----------
    comment
        The character that starts a comment.
    skip
        The number of lines at the top that are not part of the table.

    Raises
    ------
    InputError
        Naming the first line that does not parse.
    """
    comments = []
    lines = path.read_bytes().splitlines()
    lines[:skip] = [b""] * skip
    mark = comment.encode()
    for index, line in enumerate(lines):
        if mark in line:
            lines[index], _, text = line.partition(mark)
            comments.append(text.decode(errors="replace").strip())
    numbers = b"\n".join(lines)
    if not numbers.strip():
        return NumberTable(path, lines, comments, np.zeros((0, 0), np.int64))
    # A point, an exponent, "nan" or "inf": whatever tells a floating-point number from an integer.
    dtype = np.float64 if any(sign in numbers for sign in b".eEnNiI") else np.int64
    try:
        rows = np.loadtxt(path, dtype, comments=comment, skiprows=skip, encoding="utf-8", ndmin=2)
    except (ValueError, OverflowError) as error:
        raise _parse_fault(path, lines, error) from error
    return NumberTable(path, lines, comments, rows)


def widened(vals: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The values in a dtype that every text form knows: booleans as int64, floating point as float64."""
    if vals.dtype.kind in "iu":
        return vals
    return vals.astype(np.int64 if vals.dtype.kind == "b" else np.float64)


def write_rows(*columns: npt.NDArray[Any]) -> bytes:
    """One line for each row of the columns, each number as the shortest text that is read back exactly."""
    line = " ".join(["{}"] * len(columns)) + "\n"
    return "".join(map(line.format, *(widened(column).tolist() for column in columns))).encode()


def read_sizes(words: Sequence[str]) -> tuple[int, ...] | None:
    """The sizes of a shape; None if one of them is no whole number of up to 18 digits."""
    if all(word.isascii() and word.isdecimal() and len(word) <= 18 for word in words):
        return tuple(map(int, words))
    return None


def _parse_fault(path: Path, lines: list[bytes], error: Exception) -> InputError:
    columns = None
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        for field in fields:
            try:
                float(field)
            except ValueError:
                return InputError(f"{path} line {number}: {field.decode(errors='replace')!r} is not a number")
        if columns is not None and len(fields) != columns:
            return InputError(f"{path} line {number} has {len(fields)} numbers but the lines above {columns}")
        columns = len(fields)
    return InputError(f"{path} does not parse: {error}")
