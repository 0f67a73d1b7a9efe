"""Tensors that ``torch.save`` wrote, read without PyTorch and without executing anything.

Such a file is a zip archive with a pickle, which calls the functions that rebuild a tensor, and a file for
each storage. The unpickler here knows those functions alone, as data, and refuses every other name.
"""

import pickle
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.tensor import Tensor

__all__ = ["read"]

_DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}

_EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2")
"""Floating point that NumPy lacks; its storages are bytes."""


class _Sparse(NamedTuple):
    layout: str
    parts: tuple[object, ...]


def read(path: Path) -> Tensor:
    """Read the one tensor of a file: strided as dense, sparse as COO, CSR, CSC, BSR or BSC."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = _Unpickler(archive).load()
            tensors = [*_tensors(found)]
            if len(tensors) != 1:
                raise InputError(f"{path} holds {len(tensors)} tensors: save the one that is meant by itself")
            return _tensor(tensors[0])
    except OSError:
        raise
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from error
    except Exception as error:
        # Nearly anything comes out of zipfile and pickle for a file that is damaged or no archive.
        raise InputError(f"{path} is no tensor of torch.save: use torch.save(tensor, path)") from error


class _Unpickler(pickle.Unpickler):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        self._folder = names[0].removesuffix("data.pkl")
        super().__init__(archive.open(names[0]))

    def find_class(self, module: str, name: str) -> Any:
        """The few names that a tensor's pickle has."""
        match f"{module}.{name}":
            case "torch._utils._rebuild_tensor_v2":
                return _strided
            case "torch._utils._rebuild_tensor_v3":
                return _of_eight_bits
            case "torch.storage.UntypedStorage":
                return "u1"
            case "torch._utils._rebuild_sparse_tensor" | "torch._utils._rebuild_sparse_csr_tensor":
                return _Sparse
            case "torch.serialization._get_layout":
                return str
            case "torch.Size":
                return tuple
            case "collections.OrderedDict":
                return dict
            case "torch._utils._rebuild_parameter":
                return lambda data, *_: data
        if module == "torch" and name in _EIGHT_BITS:
            return name
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        raise InputError(f"it holds {module}.{name}, which is no tensor: save the tensor by itself")

    def persistent_load(self, pid: Any) -> npt.NDArray[Any]:
        """A storage."""
        _, dtype, key, _, count = pid
        data = self._archive.read(f"{self._folder}data/{key}")
        if dtype == "bfloat16":
            # The upper half of a float32.
            return (np.frombuffer(data, "<u2", count).astype(np.uint32) << 16).view(np.float32)
        return np.frombuffer(data, dtype, count)


def _strided(
    storage: npt.NDArray[Any], offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object
) -> npt.NDArray[Any]:
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if any(n < 1 for n in size):
        return np.zeros(size, storage.dtype)
    if offset < 0 or any(step < 0 for step in stride) or last >= len(storage):
        raise InputError("a tensor lies outside of its storage: save it again")
    bytes_ = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], size, bytes_, writeable=False)


def _of_eight_bits(*arguments: Any) -> npt.NDArray[np.float32]:
    """A strided tensor of bytes as the numbers of one of `_EIGHT_BITS`, the last argument."""
    *tensor, name = arguments
    if name not in _EIGHT_BITS:
        raise InputError("it holds a tensor of bytes that are no numbers: convert it to torch.float32")
    words = _strided(*tensor).astype(np.uint16)
    if name == "float8_e5m2":
        # The upper half of a float16.
        return (words << 8).view(np.float16).astype(np.float32)
    # Moved into a float16, the exponent is eight less than it should be.
    numbers = ((words & 0x80) << 8 | (words & 0x7F) << 7).view(np.float16).astype(np.float32) * 256
    return np.where(words & 0x7F == 0x7F, np.float32(np.nan), numbers)


def _tensors(found: object) -> list[object]:
    match found:
        case _Sparse() | np.ndarray():
            return [found]
        case dict():
            return [tensor for item in found.values() for tensor in _tensors(item)]
        case list() | tuple():
            return [tensor for item in found for tensor in _tensors(item)]
    return []


def _tensor(found: Any) -> Tensor:
    if isinstance(found, np.ndarray):
        return Tensor.from_dense(found, "dense")
    parts = found.parts
    match found.layout:
        case "torch.sparse_coo":
            indices, values, size = parts[:3]
            return Tensor.from_coo(indices, values, size, "csr" if len(size) == 2 else "csf")
        case "torch.sparse_csr" | "torch.sparse_csc":
            pos, crd, values, size = parts[:4]
            arrays = {"pos1": pos, "crd1": crd, "vals": values}
            return Tensor.from_arrays(size, found.layout[-3:], arrays)
        case "torch.sparse_bsr" | "torch.sparse_bsc":
            pos, crd, values, size = parts[:4]
            if values.ndim != 3:
                raise InputError(f"blocks of {values.ndim - 1} axes: save matrices one by one")
            _, rows, columns = values.shape
            by_rows = found.layout == "torch.sparse_bsr"
            # Inside of a block, too, the outer level comes first.
            vals = values if by_rows else values.transpose(0, 2, 1)
            order = "" if by_rows else " @ (1, 0)"
            arrays = {"pos1": pos, "crd1": crd, "vals": vals.reshape(-1)}
            return Tensor.from_arrays(size, f"bcsr({rows},{columns}){order}", arrays)
    raise InputError(f"layout {found.layout} is not supported: use strided, sparse COO, CSR, CSC, BSR or BSC")
