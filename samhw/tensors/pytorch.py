"""Between NumPy arrays and PyTorch tensors. PyTorch is optional: it is imported on first use."""

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.levels import IntArray

__all__ = [
    "is_strided",
    "sparse_compressed",
    "sparse_coo",
    "sparse_to_coo",
    "strided_from_numpy",
    "strided_to_numpy",
]


def is_strided(tensor: Any) -> bool:
    """Whether a PyTorch tensor is an ordinary, dense one."""
    torch = _torch()
    if not isinstance(tensor, torch.Tensor):
        raise InputError(f"expected a PyTorch tensor but got {type(tensor).__name__}: use Tensor.from_dense")
    return bool(tensor.layout == torch.strided)


def strided_to_numpy(tensor: Any) -> npt.NDArray[Any]:
    """The array of a strided PyTorch tensor. bfloat16, which NumPy lacks, becomes float32."""
    torch = _torch()
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.to(torch.float32)
    return np.asarray(tensor.numpy())


def sparse_to_coo(tensor: Any) -> tuple[IntArray, npt.NDArray[Any], tuple[int, ...]]:
    """Coordinates (rank, nnz), values (nnz,) and shape of a PyTorch tensor of a sparse layout:
    COO, CSR, CSC, BSR or BSC.

    Raises
    ------
    InputError
        When the layout is another one, or the tensor is batched or hybrid.
    """
    torch = _torch()
    tensor = tensor.detach().cpu()
    if tensor.layout in (torch.sparse_bsr, torch.sparse_bsc):
        tensor = tensor.to_sparse()
    if tensor.layout == torch.sparse_coo:
        if tensor.dense_dim():
            raise _not_plain()
        tensor = tensor.coalesce()
        coords = strided_to_numpy(tensor.indices()).astype(np.int64)
    elif tensor.layout in (torch.sparse_csr, torch.sparse_csc):
        if tensor.values().dim() != 1:
            raise _not_plain()
        by_rows = tensor.layout == torch.sparse_csr
        pos = strided_to_numpy(tensor.crow_indices() if by_rows else tensor.ccol_indices())
        crd = strided_to_numpy(tensor.col_indices() if by_rows else tensor.row_indices()).astype(np.int64)
        outer = np.repeat(np.arange(len(pos) - 1), np.diff(pos))
        coords = np.stack([outer, crd] if by_rows else [crd, outer])
    else:
        raise InputError(
            f"PyTorch layout {tensor.layout} is not supported: convert the tensor with to_sparse_csr() "
            "or to_dense()"
        )
    return coords, strided_to_numpy(tensor.values()), tuple(tensor.shape)


def strided_from_numpy(array: npt.NDArray[Any]) -> Any:
    """A strided PyTorch tensor with a copy of the array."""
    return _torch().tensor(array)


def sparse_coo(coords: IntArray, vals: npt.NDArray[Any], shape: tuple[int, ...]) -> Any:
    """A coalesced sparse COO tensor of sorted, distinct coordinates (rank, nnz) and values (nnz,)."""
    torch = _torch()
    return torch.sparse_coo_tensor(torch.tensor(coords), torch.tensor(vals), shape).coalesce()


def sparse_compressed(
    layout: str, pos: IntArray, crd: IntArray, vals: npt.NDArray[Any], shape: tuple[int, ...]
) -> Any:
    """A matrix of layout ``sparse_csr`` or ``sparse_csc`` from the arrays of its compressed level."""
    torch = _torch()
    make = {"sparse_csr": torch.sparse_csr_tensor, "sparse_csc": torch.sparse_csc_tensor}[layout]
    arrays = (torch.tensor(array) for array in (pos, crd, vals))
    return make(*arrays, size=shape, check_invariants=True)


def _not_plain() -> InputError:
    return InputError("a batched or hybrid sparse tensor is not supported: convert it with to_dense()")


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError:
        raise InputError("PyTorch is not installed: run 'pip install torch'") from None
