"""What users hold as arrays, as tensors of samhw."""

import sys
from typing import Any, TypeAlias

import numpy.typing as npt
import scipy.sparse

from samhw.errors import InputError
from samhw.tensors import Format, Tensor
from samhw.tensors.scipy_sparse import scipy_format

__all__ = ["Data", "as_tensor", "natural_format"]

Data: TypeAlias = npt.ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix | Tensor
"""A NumPy array, or what becomes one; a SciPy sparse matrix or array; a PyTorch tensor of any layout,
which is an `ArrayLike` to type checkers; or a tensor of samhw."""


def as_tensor(name: str, data: Data, format: Format | str | None = None) -> Tensor:
    """`data` as a tensor, in a format; by default in that which its own storage suggests.

    Raises:
        InputError: naming the tensor, for what holds no numbers or does not have the format's rank.
    """
    held: Any = data
    chosen = natural_format(data) if format is None else format
    try:
        if isinstance(data, Tensor):
            data.check()  # One that was put together by hand may be anything.
            return data.convert(chosen)
        if _is_torch(data):
            return Tensor.from_torch(held, chosen)
        if scipy.sparse.issparse(data):
            return Tensor.from_scipy(held, chosen)
        return Tensor.from_dense(held, chosen)
    except (InputError, ValueError) as error:
        raise InputError(f"The data of tensor '{name}' cannot be used: {error}.") from None


def natural_format(data: Data) -> str:
    """The format that is most like the storage of the data: `csr` for lists of coordinates too."""
    held: Any = data
    if isinstance(data, Tensor) or scipy.sparse.issparse(data):
        fmt = data.format if isinstance(data, Tensor) else Format.parse(scipy_format(data), held.ndim)
        is_list = fmt.rank > 0 and not fmt.block and fmt == Format.points(fmt.rank)
        return _of_coordinates(fmt.rank) if fmt.block or is_list else str(fmt)
    if _is_torch(data):
        layout = str(held.layout).removeprefix("torch.")
        if layout == "strided":
            return "dense"
        return "csc" if layout in ("sparse_csc", "sparse_bsc") else _of_coordinates(held.ndim)
    return "dense"


def _of_coordinates(rank: int) -> str:
    return "csr" if rank == 2 else "csf"


def _is_torch(data: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.Tensor)
