"""Tables of plain decimal numbers, parsed in blocks at about the speed at which a disk gives them.

Only what cannot be misread is parsed here: digits, signs, points and exponents, equally many numbers on each
line, comments at the top alone. For everything else there is a slower way that also knows what is wrong.
"""

import warnings
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["PlainTable", "read_plain"]

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
