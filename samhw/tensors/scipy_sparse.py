"""Between SciPy's sparse matrices and arrays, and coordinates or what a tensor stores."""

from collections.abc import Mapping
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from samhw.errors import InputError
from samhw.tensors.formats.arrays import IntArray

__all__ = ["AS_STORED", "scipy_array", "scipy_format", "sparse_to_coo"]

AS_STORED = ("csr", "dia")
"""The formats of which `scipy_array` makes an array that stores the same."""

_Coo: TypeAlias = tuple[IntArray, npt.NDArray[Any], tuple[int, ...]]


def sparse_to_coo(matrix: Any) -> _Coo:
    """Coordinates (rank, nnz), values (nnz,) and shape of a sparse matrix or array of any kind.

    SciPy trusts the arrays that it holds, and its conversions, in C, read and write wherever those point. So
    what they would follow is checked here, at a cost that follows what is stored.

    Raises
    ------
    InputError
        When the arrays are no matrix of that kind.
    """
    try:
        match matrix.format:
            case "csr" | "csc" | "bsr":
                return _compressed_to_coo(matrix)
            case "lil":
                return _lil_to_coo(matrix)
            case "dia":
                _check_dia(matrix)
        coo = matrix.tocoo()
        return np.stack(coo.coords), coo.data, coo.shape
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"not a valid SciPy sparse matrix: {text}") from None


def _compressed_to_coo(matrix: Any) -> _Coo:
    """From a position for each row (of a `csc`, column; of a `bsr`, row of blocks) and one more, an index for
    each entry or block, and its values. After the last position there may be more of both."""
    pos, crd, vals = matrix.indptr, matrix.indices, matrix.data
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    blocks = tuple(size // by for size, by in zip((1, *matrix.shape)[-2:], block, strict=True))
    outer_size, inner_size = blocks[::-1] if matrix.format == "csc" else blocks
    for name, array in (("indptr", pos), ("indices", crd)):
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ValueError(f"{name} must be a list of integers")
    if len(pos) != outer_size + 1 or pos[0] != 0:
        raise ValueError(f"indptr must have {outer_size + 1} entries, the first of which is 0")
    if np.any(pos[1:] < pos[:-1]):
        raise ValueError("indptr must not decrease")
    count = int(pos[-1])
    if count > len(crd) or vals.shape != (len(crd), *(block if matrix.format == "bsr" else ())):
        raise ValueError(f"there must be {count} indices and as many values, as indptr says")
    inner, outer = crd[:count].astype(np.int64), np.repeat(np.arange(outer_size), np.diff(pos))
    if inner.min(initial=0) < 0 or inner.max(initial=-1) >= inner_size:
        raise ValueError(f"indices must be from 0 to {inner_size - 1}")
    coords = np.stack([inner, outer] if matrix.format == "csc" else [outer, inner])
    if matrix.format == "bsr":
        corners, within = (
            coords[:, :, None] * np.reshape(block, (2, 1, 1)),
            np.indices(block).reshape(2, 1, -1),
        )
        coords = (corners + within).reshape(2, -1)
    return coords[-matrix.ndim :], vals[:count].reshape(-1), matrix.shape


def _check_dia(matrix: Any) -> None:
    """A row of data for each offset, all of which differ."""
    data, offsets = matrix.data, matrix.offsets
    if data.ndim != 2 or offsets.shape != data.shape[:1] or offsets.dtype.kind not in "iu":
        raise ValueError(f"data of shape {data.shape} do not go with offsets of shape {offsets.shape}")
    if len(np.unique(offsets)) != len(offsets):
        raise ValueError("an offset is there twice")


def _lil_to_coo(matrix: Any) -> _Coo:
    """From a list of columns and one of values for each row."""
    rows, data = list(matrix.rows), list(matrix.data)
    counts = [len(row) for row in rows]
    if (len(rows), len(data)) != (matrix.shape[0],) * 2 or counts != [len(row) for row in data]:
        raise ValueError("rows and data must have a list for each row, as long as each other")
    coords = np.empty((2, sum(counts)), np.int64)
    coords[0] = np.repeat(np.arange(len(rows)), counts)
    coords[1] = np.fromiter(chain.from_iterable(rows), np.int64, sum(counts))
    vals = np.fromiter(chain.from_iterable(data), matrix.dtype, sum(counts))
    return coords, vals, matrix.shape


def scipy_format(matrix: Any) -> str:
    """The format that is like the storage of a SciPy matrix or array; csr for kinds that have none."""
    match matrix.format:
        case "csr" | "csc" | "dia" if matrix.ndim == 2:
            return str(matrix.format)
        case "coo":
            return "coo"
        case "bsr":
            rows, columns = matrix.blocksize
            return f"bcsr({rows},{columns})"
    return "csr" if matrix.ndim == 2 else "csf"


def scipy_array(
    format: str, arrays: Mapping[str, npt.NDArray[Any]], shape: tuple[int, ...]
) -> "scipy.sparse.csr_array | scipy.sparse.dia_array":
    """The array of a matrix that a tensor stores in one of the formats `AS_STORED`."""
    vals, (rows, columns) = arrays["vals"], shape
    if format == "csr":
        return scipy.sparse.csr_array((vals, arrays["crd1"], arrays["pos1"]), (rows, columns), copy=True)
    # SciPy has a value of a diagonal in the place of its column, where a dia level has it in that of its row.
    off = arrays["off1"]
    data = np.zeros((len(off), columns), vals.dtype)
    column = np.arange(rows) + off[:, None]
    d, row = np.nonzero((column >= 0) & (column < columns))
    data[d, column[d, row]] = vals.reshape(len(off), rows)[d, row]
    return scipy.sparse.dia_array((data, off), (rows, columns))
