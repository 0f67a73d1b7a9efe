"""Data sets: a graph's adjacency, and the features of its nodes."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from samhw.errors import InputError
from samhw.files import check_readable, reason
from samhw.tensors.io import ogb
from samhw.tensors.io.npz import array_names, load_arrays
from samhw.tensors.tensor import Tensor

__all__ = ["is_dataset", "read_dataset"]

_FORMS = (("adj_", "feat_"), ("adj_", "attr_"), ("adj_matrix.", "attr_matrix."))
"""What the names of the arrays begin with: in our own files, in CitationFull's and Planetoid's, and in older
ones of these."""

_PARTS = ("indptr", "indices", "shape")

_DENSE = "attr_matrix"
"""Features that are stored densely."""


def is_dataset(path: Path) -> bool:
    """Whether something is for :func:`read_dataset`: a folder of OGB, or an archive with such arrays."""
    try:
        if path.is_dir():
            return ogb.is_folder(path)
        names = array_names(check_readable(path))
        return any(f"{adjacency}indptr" in names for adjacency, _ in _FORMS)
    except (OSError, InputError):
        return False


def read_dataset(path: Path | str) -> dict[str, Tensor]:
    """Read ``{"adjacency": ..., "features": ...}`` of a graph; what a data set lacks is left out.

    Parameters
    ----------
    path
        - ``.npz`` of CitationFull or Planetoid: ``adj_indptr``, ``adj_indices`` and ``adj_shape``, with
          integers 1 where there are no ``adj_data``; ``attr_indptr``, ``attr_indices``, ``attr_data`` and
          ``attr_shape``, or the same with ``feat_``. A graph without features has only the former, and dense
          ones are ``attr_matrix``. Further arrays are ignored.
        - a folder of OGB, with ``raw/edge.csv.gz``.

    Raises
    ------
    InputError
        When the file does not exist, an array is missing, or the arrays are not CSR matrices.
    """
    path = Path(path)
    try:
        if not path.exists():
            raise InputError(f"{path} does not exist: name an .npz data-set file, or a folder of OGB")
        return ogb.read(path) if path.is_dir() else _read_archive(check_readable(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from error


def _read_archive(path: Path) -> dict[str, Tensor]:
    names = array_names(path)
    found = [(a, f) for a, f in _FORMS if names & {f"{f}{part}" for part in (*_PARTS, "data")}]
    adjacency, features = found[0] if found else ("adj_", "")
    wanted = [f"{adjacency}{part}" for part in _PARTS]
    if features:
        wanted += [f"{features}{part}" for part in (*_PARTS, "data")]
    if missing := [name for name in wanted if name not in names]:
        raise InputError(f"{path} is not a data-set file: it lacks {', '.join(missing)}")
    arrays = load_arrays(path, [*wanted, *{f"{adjacency}data", _DENSE} & names])
    ones = np.ones(arrays[f"{adjacency}indices"].shape, np.int64)
    tensors = {"adjacency": _csr(path, adjacency, arrays, arrays.get(f"{adjacency}data", ones))}
    if features:
        tensors["features"] = _csr(path, features, arrays, arrays[f"{features}data"])
    elif _DENSE in arrays:
        tensors["features"] = Tensor.from_dense(arrays[_DENSE], "dense")
    return tensors


def _csr(path: Path, prefix: str, arrays: dict[str, npt.NDArray[Any]], data: npt.NDArray[Any]) -> Tensor:
    indptr, indices, shape = (arrays[f"{prefix}{part}"] for part in _PARTS)
    try:
        matrix: Any = scipy.sparse.csr_array((data, indices, indptr), tuple(shape.tolist()))
        return Tensor.from_scipy(matrix, "csr")
    except (InputError, ValueError, TypeError, IndexError) as error:
        raise InputError(f"{path}: the {prefix} arrays are not a CSR matrix: {error}") from error
