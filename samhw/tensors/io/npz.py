"""NumPy archives: our own, SciPy's sparse matrices, single dense arrays; and several tensors by name, the
data of a whole program."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from samhw.errors import InputError
from samhw.files import check_readable, reason, replacing
from samhw.tensors.scipy_sparse import scipy_format
from samhw.tensors.tensor import Tensor

__all__ = [
    "array_names",
    "is_archive",
    "load_arrays",
    "read",
    "read_array",
    "read_tensors",
    "write",
    "write_tensors",
]


def read(path: Path) -> Tensor:
    """Read the tensor of one of the three forms, told apart by the names of the arrays."""
    arrays = load_arrays(path)
    if {"format", "shape", "vals"} <= arrays.keys():
        return _read_own(path, arrays)
    if {"format", "shape", "data"} <= arrays.keys():
        return _read_scipy(path)
    if len(arrays) == 1:
        (array,) = arrays.values()
        return Tensor.from_dense(array, "dense")
    raise InputError(
        f"{path} does not hold one tensor: write it with write_tensor, scipy.sparse.save_npz, "
        "or np.savez of one dense array"
    )


def read_array(path: Path) -> Tensor:
    """Read one dense array of a ``.npy`` file. Nothing in it is executed."""
    try:
        array = np.load(path, mmap_mode="r")
    except OSError:
        raise
    except Exception as error:
        raise InputError(f"{path} is not a NumPy array of numbers: use np.save") from error
    return Tensor.from_dense(array, "dense")


def write(path: Path, tensor: Tensor) -> None:
    """Write the stored arrays as they are, with the shape and the name of the format."""
    if tensor.dtype.kind == "V":
        raise InputError(f"{path} cannot hold {tensor.dtype} values: convert them to float32 first")
    arrays: dict[str, Any] = tensor.arrays()
    with replacing(path) as file:
        np.savez(file, format=np.array(str(tensor.format)), shape=np.array(tensor.shape, np.int64), **arrays)


def array_names(path: Path) -> set[str]:
    """The names of the arrays of an archive. Raises InputError when the file is none."""
    with _opened(path) as archive:
        return set(archive.files)


def load_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive by name, all of them or some.

    Raises
    ------
    InputError
        When the file is not an archive of plain arrays.
    """
    with _opened(path) as archive:
        return {name: archive[name] for name in (archive.files if names is None else names)}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with path.open("rb") as file, np.load(file) as archive:
            yield archive
    except OSError:
        raise
    except Exception as error:
        # Nearly anything comes out of zipfile, zlib and NumPy for a file that is damaged or no archive.
        raise InputError(f"{path} is not a NumPy archive of plain arrays: use np.savez") from error


def _read_own(path: Path, arrays: dict[str, npt.NDArray[Any]]) -> Tensor:
    format = str(arrays.pop("format"))
    shape = arrays.pop("shape")
    if shape.ndim != 1 or shape.dtype.kind not in "iu":
        raise InputError(f"{path}: the shape must be a list of integers")
    try:
        return Tensor.from_arrays(shape.tolist(), format, arrays)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _read_scipy(path: Path) -> Tensor:
    try:
        matrix: Any = scipy.sparse.load_npz(path)
        return Tensor.from_scipy(matrix, scipy_format(matrix))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (ValueError, TypeError, IndexError, KeyError, NotImplementedError) as error:
        raise InputError(f"{path} is not a valid SciPy sparse matrix: {error}") from error


_FORMAT, _SHAPE = "format", "shape"


def write_array(path: Path, tensor: Tensor) -> None:
    """Write the elements of a tensor as one dense array (`.npy`)."""
    if tensor.dtype.kind == "V":
        raise InputError(f"{path} cannot hold {tensor.dtype} values: convert them to float32 first")
    with replacing(path) as file:
        np.save(file, tensor.to_dense(), allow_pickle=False)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as they are stored: the arrays of `T` as `T.format`, `T.shape`, `T.vals` and so on.

    Raises
    ------
    InputError
        When the path does not end in `.npz`, or cannot be written.
    """
    if path.suffix != ".npz":
        raise InputError(f"{path} is no archive of tensors: give it the suffix .npz")
    arrays: dict[str, Any] = {}
    for name, tensor in tensors.items():
        stored = {_FORMAT: np.array(str(tensor.format)), _SHAPE: np.array(tensor.shape, np.int64)}
        stored |= tensor.arrays()
        arrays |= {f"{name}.{part}": array for part, array in stored.items()}
    try:
        with replacing(path) as file:
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {reason(error)}") from error


def is_archive(path: Path) -> bool:
    """Whether a file is for `read_tensors`."""
    try:
        return path.suffix == ".npz" and any(
            name.endswith(f".{_FORMAT}") for name in array_names(check_readable(path))
        )
    except (OSError, InputError):
        return False


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of an archive that `write_tensors` has written, by name.

    Raises
    ------
    InputError
        When the file is no such archive, or a tensor in it breaks a rule of storage.
    """
    parts: dict[str, dict[str, Any]] = {}
    for key, array in load_arrays(path).items():
        name, _, part = key.rpartition(".")
        parts.setdefault(name, {})[part] = array
    tensors = {}
    for name, arrays in parts.items():
        if not {_FORMAT, _SHAPE} <= arrays.keys():
            raise InputError(f"{path} lacks the format or the shape of {name!r}: write it with write_tensors")
        format, shape = str(arrays.pop(_FORMAT)), arrays.pop(_SHAPE)
        if shape.ndim != 1 or shape.dtype.kind not in "iu":
            raise InputError(f"{path}: the shape of {name!r} must be a list of integers")
        try:
            tensors[name] = Tensor.from_arrays(shape.tolist(), format, arrays)
        except InputError as error:
            raise InputError(f"{path}: {name!r}: {error}") from error
    return tensors
