"""Between NumPy arrays and PyTorch tensors. PyTorch is optional: it is imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.formats.arrays import IntArray

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "check_layout",
    "is_strided",
    "sparse_compressed",
    "sparse_coo",
    "sparse_to_coo",
    "strided_from_numpy",
    "strided_to_numpy",
]


def is_strided(tensor: object) -> bool:
    """Whether a PyTorch tensor is an ordinary, dense one."""
    _require_torch()
    import torch

    if not isinstance(tensor, torch.Tensor):
        raise InputError(f"expected a PyTorch tensor but got {type(tensor).__name__}: use Tensor.from_dense")
    return bool(tensor.layout == torch.strided)


def strided_to_numpy(tensor: "Tensor") -> npt.NDArray[Any]:
    """The array of a strided PyTorch tensor. bfloat16 and the kinds of float8, which NumPy lacks, become
    float32.

    Raises
    ------
    InputError
        When the tensor has no values, or none that NumPy has a type for.
    """
    import torch

    tensor = _on_host(tensor).resolve_conj().resolve_neg()
    if tensor.is_nested:
        raise InputError("a nested tensor has no shape: pad it, as with to_padded_tensor()")
    if tensor.is_quantized:
        raise InputError(f"{tensor.dtype} is quantized: give tensor.dequantize()")
    if tensor.is_floating_point() and tensor.dtype.itemsize < 4 and tensor.dtype != torch.float16:
        tensor = tensor.to(torch.float32)
    try:
        return np.asarray(tensor.numpy())
    except (RuntimeError, TypeError, NotImplementedError):
        raise _without_counterpart(tensor) from None


def sparse_to_coo(tensor: "Tensor") -> tuple[IntArray, npt.NDArray[Any], tuple[int, ...]]:
    """Coordinates (rank, nnz), values (nnz,) and shape of a PyTorch tensor of a sparse layout:
    COO, CSR, CSC, BSR or BSC.

    PyTorch trusts the indices of a sparse tensor unless it is told otherwise, so they are checked here.

    Raises
    ------
    InputError
        When the layout is another one, the tensor is batched or hybrid, or its indices are damaged.
    """
    import torch

    tensor = _checked(_on_host(tensor))
    if tensor.layout in (torch.sparse_bsr, torch.sparse_bsc):
        try:
            tensor = tensor.to_sparse()
        except (RuntimeError, NotImplementedError):
            raise _without_counterpart(tensor) from None
    if tensor.layout == torch.sparse_coo:
        if tensor.dense_dim():
            raise _not_plain()
        # With duplicates, if it has any.
        coords, vals = strided_to_numpy(tensor._indices()).astype(np.int64), tensor._values()
    else:
        vals = tensor.values()
        if vals.dim() != 1:
            raise _not_plain()
        by_rows = tensor.layout == torch.sparse_csr
        pos = strided_to_numpy(tensor.crow_indices() if by_rows else tensor.ccol_indices())
        crd = strided_to_numpy(tensor.col_indices() if by_rows else tensor.row_indices()).astype(np.int64)
        outer = np.repeat(np.arange(len(pos) - 1), np.diff(pos))
        coords = np.stack([outer, crd] if by_rows else [crd, outer])
    return coords, strided_to_numpy(vals), tuple(tensor.shape)


def _on_host(tensor: "Tensor") -> "Tensor":
    """The tensor, without its history, where NumPy can read it."""
    if tensor.is_meta:
        raise InputError("a tensor on the device 'meta' has no values: make it on the device 'cpu'")
    return tensor.detach().cpu()


def check_layout(tensor: "Tensor") -> None:
    """Check the indices of a PyTorch tensor, if it is sparse: PyTorch trusts them, and may end the process.

    Raises
    ------
    InputError
        When they do not keep to the rules of its layout.
    """
    if not is_strided(tensor):
        _checked(tensor.detach())


def _checked(tensor: "Tensor") -> "Tensor":
    """A sparse tensor whose indices keep to the rules of its layout."""
    import torch

    try:
        if tensor.layout == torch.sparse_coo:
            parts = tensor._indices(), tensor._values()
            return torch.sparse_coo_tensor(*parts, size=tensor.shape, check_invariants=True)
        if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
            parts = tensor.crow_indices(), tensor.col_indices()
        elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
            parts = tensor.ccol_indices(), tensor.row_indices()
        else:
            raise InputError(
                f"PyTorch layout {tensor.layout} is not supported: convert the tensor with to_sparse_csr() "
                "or to_dense()"
            )
        return torch.sparse_compressed_tensor(
            *parts, tensor.values(), size=tensor.shape, layout=tensor.layout, check_invariants=True
        )
    except (RuntimeError, ValueError) as error:
        text = " ".join(str(error).split())
        raise InputError(f"not a valid tensor of the layout {tensor.layout}: {text}") from None


def strided_from_numpy(array: npt.NDArray[Any]) -> "Tensor":
    """A strided PyTorch tensor with a copy of the array."""
    _require_torch()
    import torch

    return torch.tensor(array)


def sparse_coo(coords: IntArray, vals: npt.NDArray[Any], shape: tuple[int, ...]) -> "Tensor":
    """A coalesced sparse COO tensor of sorted, distinct coordinates (rank, nnz) and values (nnz,)."""
    _require_torch()
    import torch

    return torch.sparse_coo_tensor(torch.tensor(coords), torch.tensor(vals), shape).coalesce()


def sparse_compressed(
    layout: str, pos: IntArray, crd: IntArray, vals: npt.NDArray[Any], shape: tuple[int, ...]
) -> "Tensor":
    """A matrix of layout ``sparse_csr`` or ``sparse_csc`` from the arrays of its compressed level."""
    _require_torch()
    import torch

    make = {"sparse_csr": torch.sparse_csr_tensor, "sparse_csc": torch.sparse_csc_tensor}[layout]
    ends, inner = torch.tensor(pos), torch.tensor(crd)
    return make(ends, inner, torch.tensor(vals), size=shape, check_invariants=True)


def _without_counterpart(tensor: "Tensor") -> InputError:
    return InputError(f"{tensor.dtype} has no counterpart in NumPy: convert the tensor first")


def _not_plain() -> InputError:
    return InputError("a batched or hybrid sparse tensor is not supported: convert it with to_dense()")


def _require_torch() -> None:
    try:
        import_module("torch")
    except ImportError:
        raise InputError("PyTorch is not installed: run 'pip install torch'") from None
