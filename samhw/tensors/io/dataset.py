"""Data-set files: a graph's adjacency and the features of its nodes in one NumPy archive."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from samhw.errors import InputError
from samhw.files import check_readable, reason
from samhw.tensors.io.npz import load_arrays
from samhw.tensors.tensor import Tensor

__all__ = ["is_dataset", "read_dataset"]

_KEYS = (
    *("adj_indptr", "adj_indices", "adj_shape"),
    *("feat_indptr", "feat_indices", "feat_data", "feat_shape"),
)


def is_dataset(path: Path) -> bool:
    """Whether a file is for :func:`read_dataset`, going by the arrays that it has; false for what is no
    archive."""
    try:
        with zipfile.ZipFile(check_readable(path)) as archive:
            return "adj_indptr.npy" in archive.namelist()
    except Exception:  # Nearly anything comes out of zipfile for a file that is damaged.
        return False


def read_dataset(path: Path | str) -> dict[str, Tensor]:
    """Read ``{"adjacency": ..., "features": ...}``, both CSR, from an ``.npz`` file.

    Its arrays are ``adj_indptr``, ``adj_indices`` and ``adj_shape``, with integers 1 as the values of the
    adjacency, and ``feat_indptr``, ``feat_indices``, ``feat_data`` and ``feat_shape``. Further arrays are
    ignored.

    Raises
    ------
    InputError
        When the file does not exist, an array is missing, or the arrays are not CSR matrices.
    """
    path = Path(path)
    try:
        if not path.exists():
            raise InputError(f"{path} does not exist: name an .npz data-set file")
        arrays = load_arrays(check_readable(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from error
    if missing := [key for key in _KEYS if key not in arrays]:
        raise InputError(f"{path} is not a data-set file: it lacks {', '.join(missing)}")
    ones = np.ones(arrays["adj_indices"].shape, np.int64)
    return {
        "adjacency": _csr(path, "adj", arrays, ones),
        "features": _csr(path, "feat", arrays, arrays["feat_data"]),
    }


def _csr(path: Path, prefix: str, arrays: dict[str, npt.NDArray[Any]], data: npt.NDArray[Any]) -> Tensor:
    indptr, indices, shape = (arrays[f"{prefix}_{key}"] for key in ("indptr", "indices", "shape"))
    try:
        matrix: Any = scipy.sparse.csr_array((data, indices, indptr), tuple(shape.tolist()))
        matrix.check_format(full_check=True)
        return Tensor.from_scipy(matrix, "csr")
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"{path}: the {prefix}_ arrays are not a CSR matrix: {error}") from error
