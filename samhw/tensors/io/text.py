"""Tables of numbers in text files, parsed at once: the line of a fault is looked up only if there is one.

Tables of plain decimal numbers are parsed in blocks, at about the speed at which a disk gives them. Only what
cannot be misread is parsed so: digits, signs, points and exponents, equally many numbers on each line,
comments at the top alone. For everything else there is a slower way that also knows what is wrong.
"""

import gzip
import tarfile
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.formats.arrays import IntArray

__all__ = [
    "NumberTable",
    "TextFile",
    "read_plain",
    "read_sizes",
    "read_table",
    "text_suffix",
    "write_rows",
]

# Text files as they lie on a disk: plain, compressed, or in an archive of SuiteSparse.


_ARCHIVES = (".tar.gz", ".tgz", ".tar")


@dataclass(frozen=True)
class TextFile:
    """A text file; what it is called in errors is its path."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The bytes of the text, from the beginning.

        Raises
        ------
        InputError
            When what compresses it is damaged, or an archive has not the one file that it is for.
        """
        try:
            if self.path.name.endswith(_ARCHIVES):
                with tarfile.open(self.path) as archive:
                    yield self._member(archive)
            elif self.path.suffix == ".gz":
                with self.path.open("rb") as packed, gzip.GzipFile(fileobj=packed) as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                with self.path.open("rb") as file:
                    yield file
        except (gzip.BadGzipFile, EOFError, zlib.error, tarfile.TarError) as error:
            raise InputError(f"{self.path} is damaged ({error}): get it again") from error

    def _member(self, archive: tarfile.TarFile) -> IO[bytes]:
        """The one file that the archive is for: of several the one that is named like the archive."""
        files = [member for member in archive.getmembers() if member.isfile()]
        matrices = [member for member in files if member.name.endswith((".mtx", ".tns"))]
        stem = self.path.name.partition(".")[0]
        named = [member for member in matrices if Path(member.name).stem == stem]
        if len(named or matrices) != 1:
            found = ", ".join(member.name for member in matrices) or "none"
            raise InputError(
                f"{self.path} must hold one matrix, or one called {stem}.mtx, but it holds {found}: unpack it"
            )
        file = archive.extractfile((named or matrices)[0])
        assert file is not None
        return file


def text_suffix(path: Path) -> str:
    """The suffix that says what is in a file, without what compresses it; that of an archive is ``.mtx``."""
    if path.name.endswith(_ARCHIVES):
        return ".mtx"
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


_BLOCK = 1 << 22
_LONGEST = 18
"""Digits of a number that surely fits 64 bits."""

_SPACE, _NEWLINE, _DIGIT, _REAL = 1, 2, 3, 4
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(b" \t\r")] = _SPACE
_KINDS[list(b"\n")] = _NEWLINE
_KINDS[list(b"0123456789-+")] = _DIGIT
_KINDS[list(b".eE")] = _REAL


class PlainTable(NamedTuple):
    """Shape (rows, columns), int64 if every number is written as an integer, float64 otherwise; and the lines
    of comments before them."""

    rows: npt.NDArray[Any]
    comments: list[bytes]


def read_plain(file: IO[bytes], mark: bytes, skip: int, separator: str) -> PlainTable | None:
    """The table in a file; None for one that is not as plain as that.

    Parameters
    ----------
    mark
        What comments start with.
    skip
        The number of lines at the top that are not part of the table.
    separator
        What stands between numbers, beside blanks.
    """
    between = separator.encode()
    for _ in range(skip):
        file.readline()
    comments = []
    line = file.readline()
    while line and (not line.strip() or line.lstrip().startswith(mark)):
        if line.strip():
            comments.append(line)
        line = file.readline()
    columns = len(line.replace(between, b" ").split())
    if not columns:
        return None
    is_integer = True
    parsed: list[npt.NDArray[Any]] = []
    for block in _blocks(file, line):
        rows = _parsed(block.replace(between, b" "), columns, is_integer)
        if rows is None:
            return None
        is_integer = rows.dtype == np.int64
        parsed.append(rows)
    if not is_integer:
        parsed = [rows.astype(np.float64, copy=False) for rows in parsed]
    return PlainTable(np.concatenate(parsed), comments)


def _blocks(file: IO[bytes], before: bytes) -> Iterator[bytes]:
    """What is left of a file after what was read before, in blocks of whole lines."""
    while more := file.read(_BLOCK):
        before += more
        end = before.rfind(b"\n") + 1
        if end:
            yield before[:end]
            before = before[end:]
    if before:
        yield before + b"\n"


def _parsed(block: bytes, columns: int, is_integer: bool) -> npt.NDArray[Any] | None:
    """The numbers of some lines."""
    kinds = _KINDS[np.frombuffer(block, np.uint8)]
    if not kinds.all():
        return None
    is_number = kinds >= _DIGIT
    edges = np.flatnonzero(is_number[1:] != is_number[:-1]) + 1
    if is_number[0]:
        edges = np.concatenate([[0], edges])
    starts, ends = edges[::2], edges[1::2]
    # A block ends with a newline, so that there are as many of both.
    newlines = np.flatnonzero(kinds == _NEWLINE)
    before = np.searchsorted(starts, newlines)
    per_line = np.diff(before, prepend=0)
    if ((per_line != columns) & (per_line != 0)).any():
        return None
    is_integer = is_integer and not (kinds == _REAL).any()
    if is_integer and len(starts) and int((ends - starts).max()) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            numbers = np.fromstring(block, np.int64 if is_integer else np.float64, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    return numbers.reshape(-1, columns) if len(numbers) == len(starts) else None


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
        raise _parse_fault(source, lines, dtype, error) from error
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


_INTEGERS = range(-(1 << 63), 1 << 63)


def _parse_fault(source: TextFile, lines: list[bytes], dtype: type, error: Exception) -> InputError:
    columns = None
    name = str(source)
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        for field in fields:
            try:
                found = float(field)
            except ValueError:
                return InputError(f"{name} line {number}: {field.decode(errors='replace')!r} is not a number")
            if dtype is np.int64 and abs(found) >= 2.0**63 and int(field) not in _INTEGERS:
                return InputError(f"{name} line {number}: {field.decode()} takes more than 64 bits")
        if columns is not None and len(fields) != columns:
            return InputError(f"{name} line {number} has {len(fields)} numbers but the lines above {columns}")
        columns = len(fields)
    return InputError(f"{source} does not parse: {error}")
