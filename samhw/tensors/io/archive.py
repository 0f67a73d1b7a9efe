"""NumPy archives of several tensors, by name: the data of a whole program."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from samhw.errors import InputError
from samhw.files import check_readable, reason, replacing
from samhw.tensors.io.npz import array_names, load_arrays
from samhw.tensors.tensor import Tensor

__all__ = ["is_archive", "read_tensors", "write_tensors"]

_FORMAT, _SHAPE = "format", "shape"


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
