"""Tables of numbers in text files, parsed at once: the line of a fault is looked up only if there is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.formats.arrays import IntArray
from samhw.tensors.io.plain import read_plain
from samhw.tensors.io.text_file import TextFile

__all__ = ["NumberTable", "read_sizes", "read_table", "widened", "write_rows"]


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The numbers of a file: one row per line that is neither blank nor a comment."""

    source: TextFile
    mark: bytes
    """What comments start with."""

    skip: int
    """The lines at the top that are not part of the table."""

    separator: str
    """What stands between numbers, beside blanks."""

    comments: list[str]
    rows: npt.NDArray[Any]
    """Shape (rows, columns); int64 if every number is written as an integer, float64 otherwise."""

    def fault(self, row: int, complaint: str) -> InputError:
        """The error that says what is wrong with a row."""
        lines, _ = _read_lines(self.source, self.mark, self.skip, self.separator)
        numbers = (number for number, line in enumerate(lines, start=1) if line.strip())
        line = next(number for index, number in enumerate(numbers) if index == row)
        return InputError(f"{self.source} line {line}: {complaint}")

    def coordinates(self, rank: int, first: int = 1) -> IntArray:
        """The first columns as coordinates (rank, rows), which count from 0; the file counts from `first`.

        Raises
        ------
        InputError
            Naming the first line that holds no coordinates.
        """
        if self.rows.dtype == np.int64:
            coords = np.array(self.rows[:, :rank].T, order="C").reshape(rank, len(self.rows))
            if coords.min(initial=first) >= first:
                coords -= first
                return coords
        written = self.rows[:, :rank].T.reshape(rank, len(self.rows))
        with np.errstate(invalid="ignore"):
            coords = written.astype(np.int64)
        if (wrong := np.flatnonzero(((coords != written) | (coords < first)).any(axis=0))).size:
            raise self.fault(int(wrong[0]), f"coordinates must be integers, counted from {first}")
        coords -= first
        return coords

    def check_range(self, coords: IntArray, shape: tuple[int, ...], first: int = 1) -> None:
        """Check coordinates from :meth:`coordinates` against a shape.

        Raises
        ------
        InputError
            Naming the first line with a coordinate outside the shape.
        """
        if all(row.max(initial=-1) < size for row, size in zip(coords, shape, strict=True)):
            return
        outside = coords >= np.array(shape).reshape(-1, 1)
        if (wrong := np.flatnonzero(outside.any(axis=0))).size:
            row = int(wrong[0])
            mode = int(np.flatnonzero(outside[:, row])[0])
            found = f"coordinate {coords[mode, row] + first} of mode {mode}"
            last = shape[mode] - 1 + first
            raise self.fault(row, f"{found} is out of the range {first} to {last}")


def read_table(source: TextFile, comment: str = "#", skip: int = 0, separator: str = " ") -> NumberTable:
    """Parse a file of whitespace-separated numbers, equally many on each line.

    Parameters
    ----------
    comment
        The character that starts a comment.
    skip
        The number of lines at the top that are not part of the table.
    separator
        What stands between numbers, beside blanks.

    Raises
    ------
    InputError
        Naming the first line that does not parse.
    """
    mark = comment.encode()
    with source.open() as file:
        plain = read_plain(file, mark, skip, separator)
    if plain is not None:
        comments = [line.partition(mark)[2].decode(errors="replace").strip() for line in plain.comments]
        return NumberTable(source, mark, skip, separator, comments, plain.rows)
    lines, comments = _read_lines(source, mark, skip, separator)
    numbers = b"\n".join(lines)
    if not numbers.strip():
        return NumberTable(source, mark, skip, separator, comments, np.zeros((0, 0), np.int64))
    # A point, an exponent, "nan" or "inf": whatever tells a floating-point number from an integer.
    dtype = np.float64 if any(sign in numbers for sign in b".eEnNiI") else np.int64
    try:
        rows = np.loadtxt(lines, dtype, comments=None, encoding="utf-8", ndmin=2)
    except (ValueError, OverflowError) as error:
        raise _parse_fault(source, lines, error) from error
    return NumberTable(source, mark, skip, separator, comments, rows)


def _read_lines(source: TextFile, mark: bytes, skip: int, separator: str) -> tuple[list[bytes], list[str]]:
    """All lines of a file, with comments and skipped lines blanked; and the comments."""
    comments = []
    with source.open() as file:
        lines = file.read().replace(separator.encode(), b" ").splitlines()
    lines[:skip] = [b""] * min(skip, len(lines))
    for index, line in enumerate(lines):
        if mark in line:
            lines[index], _, text = line.partition(mark)
            comments.append(text.decode(errors="replace").strip())
    return lines, comments


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


def _parse_fault(source: TextFile, lines: list[bytes], error: Exception) -> InputError:
    columns = None
    name = str(source)
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        for field in fields:
            try:
                float(field)
            except ValueError:
                return InputError(f"{name} line {number}: {field.decode(errors='replace')!r} is not a number")
        if columns is not None and len(fields) != columns:
            return InputError(f"{name} line {number} has {len(fields)} numbers but the lines above {columns}")
        columns = len(fields)
    return InputError(f"{source} does not parse: {error}")
