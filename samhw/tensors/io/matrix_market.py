"""Matrix Market files: coordinate and array forms, real, integer and pattern, with every real symmetry.

SciPy's reader is not used: it takes a fraction in an integer file for an integer, ignores what follows on a
line, and can crash on a damaged file.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.files import replacing
from samhw.tensors.formats.arrays import IntArray
from samhw.tensors.io.text import NumberTable, TextFile, read_sizes, read_table, write_rows
from samhw.tensors.tensor import Tensor

__all__ = ["read", "write"]

# The values that mirror those below the diagonal are multiplied by this.
_MIRROR_SIGNS = {"symmetric": 1, "skew-symmetric": -1}

_CHOICES = {
    "object": ["matrix"],
    "form": ["coordinate", "array"],
    "field": ["real", "double", "integer", "unsigned-integer", "pattern"],
    "symmetry": ["general", *_MIRROR_SIGNS],
}


@dataclass(frozen=True)
class _Header:
    form: str
    field: str
    symmetry: str
    sizes: tuple[int, ...]
    """Rows and columns, and the number of entries of the coordinate form."""

    lines: int
    """The number of lines of the header."""


def read(source: TextFile) -> Tensor:
    """Read a matrix: as CSR, or dense if the file is of the array form. The values of a pattern are 1."""
    header = _read_header(source)
    table = read_table(source, comment="%", skip=header.lines)
    if header.form == "array":
        return Tensor.from_dense(_read_array(table, header), "dense")
    *shape, entries = header.sizes
    width = 2 if header.field == "pattern" else 3
    _check_table(table, entries, width)
    coords = table.coordinates(2)
    table.check_range(coords, tuple(shape))
    vals = np.ones(entries, np.int64) if header.field == "pattern" else _values(table, header)
    if sign := _MIRROR_SIGNS.get(header.symmetry):
        _check_triangle(table, coords, shape[0], header.symmetry)
        beside = coords[0] != coords[1]
        coords = np.concatenate([coords, coords[::-1, beside]], axis=1)
        vals = np.concatenate([vals, sign * vals[beside]])
    return Tensor.from_coo(coords, vals, shape, "csr")


def check_rank(path: Path, rank: int) -> None:
    """Raises `InputError` for a rank that a matrix does not have."""
    if rank != 2:
        raise InputError(f"{path} cannot hold a tensor of rank {rank}: write a .tns or .npz file")


def write(path: Path, tensor: Tensor) -> None:
    """Write a matrix: the array form if its format is dense, the coordinate form otherwise."""
    check_rank(path, tensor.rank)
    field = "integer" if tensor.dtype.kind in "biu" else "real"
    rows, columns = tensor.shape
    if tensor.format.is_all_dense:
        header = f"%%MatrixMarket matrix array {field} general\n{rows} {columns}\n"
        body = write_rows(tensor.to_dense().T.reshape(-1))
    else:
        coords, vals = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
        header = f"%%MatrixMarket matrix coordinate {field} general\n{rows} {columns} {len(vals)}\n"
        body = write_rows(*(coords + 1), vals)
    with replacing(path) as file:
        file.write(header.encode())
        file.write(body)


def _read_header(source: TextFile) -> _Header:
    with source.open() as binary:
        file = io.TextIOWrapper(binary, errors="replace")
        banner = file.readline().split()
        if len(banner) != 5 or banner[0] != "%%MatrixMarket":
            raise InputError(
                f"{source} line 1 is not a Matrix Market banner: "
                "it must be such as '%%MatrixMarket matrix coordinate real general'"
            )
        words = [word.lower() for word in banner[1:]]
        for word, (what, choices) in zip(words, _CHOICES.items(), strict=True):
            if word not in choices:
                raise InputError(
                    f"{source} line 1: {what} {word!r} is not supported: use {', '.join(choices)}"
                )
        _, form, field, symmetry = words
        if form == "array" and field == "pattern":
            raise InputError(f"{source} line 1: an array cannot be a pattern: use coordinate")
        lines = ((number, line.split()) for number, line in enumerate(file, start=2))
        found = ((number, fields) for number, fields in lines if fields and not fields[0].startswith("%"))
        number, sizes = next(found, (0, []))
    if not sizes:
        raise InputError(f"{source} ends before its size line: add one below the comments")
    wanted = "rows columns" if form == "array" else "rows columns entries"
    numbers = read_sizes(sizes)
    if numbers is None or len(sizes) != len(wanted.split()):
        raise InputError(f"{source} line {number} must be the size line, '{wanted}' as integers")
    if symmetry in _MIRROR_SIGNS and numbers[0] != numbers[1]:
        raise InputError(f"{source} line {number}: a {symmetry} matrix must be square")
    return _Header(form, field, symmetry, numbers, number)


def _check_table(table: NumberTable, rows: int, columns: int) -> None:
    if len(table.rows) != rows:
        raise InputError(f"{table.source} has {len(table.rows)} entries but its size line asks for {rows}")
    if rows and table.rows.shape[1] != columns:
        raise table.fault(0, f"{table.rows.shape[1]} numbers where {columns} are expected")


def _check_triangle(table: NumberTable, coords: IntArray, size: int, symmetry: str) -> None:
    """A file of a symmetric matrix has each pair of mirrored entries once, and a skew-symmetric one, whose
    diagonal is zero, has nothing there."""
    row, column = coords
    if symmetry == "skew-symmetric" and (wrong := np.flatnonzero(row == column)).size:
        raise table.fault(
            int(wrong[0]), "a skew-symmetric matrix is zero on its diagonal: leave out the entry"
        )
    # Entries above the diagonal alone are read too, as others do. Those of both triangles would be added up.
    pair = np.where(row > column, row * size + column, column * size + row)
    if (wrong := np.flatnonzero((row < column) & np.isin(pair, pair[row > column]))).size:
        entry = int(wrong[0])
        raise table.fault(
            entry,
            f"the entry of row {row[entry] + 1} and column {column[entry] + 1} mirrors that of another line: "
            f"a {symmetry} matrix has each pair once, below the diagonal",
        )


def _values(table: NumberTable, header: _Header) -> npt.NDArray[Any]:
    vals = table.rows[:, -1] if table.rows.size else np.zeros(0)
    if "integer" not in header.field:
        return vals.astype(np.float64)
    with np.errstate(invalid="ignore"):
        integers = vals.astype(np.int64)
    if (wrong := np.flatnonzero(integers != vals)).size:
        row = int(wrong[0])
        raise table.fault(row, f"{vals[row]} is not an integer, as the banner says")
    return integers


def _read_array(table: NumberTable, header: _Header) -> npt.NDArray[Any]:
    rows, columns = header.sizes
    sign = _MIRROR_SIGNS.get(header.symmetry)
    if sign is None:
        _check_table(table, rows * columns, 1)
        return _values(table, header).reshape(columns, rows).T
    # Only the part below the diagonal is there, column by column, and the diagonal unless it must be zero.
    _check_table(table, rows * (rows + sign) // 2, 1)
    column, row = np.triu_indices(rows, 1 if sign < 0 else 0)
    vals = _values(table, header)
    array = np.zeros((rows, columns), vals.dtype)
    array[column, row] = sign * vals
    array[row, column] = vals
    return array
