"""What the host does to tensors of PyTorch before they are loaded."""

import math
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor
from torch.fx import Node

from samhw.errors import InputError
from samhw.importers.core import HostArray, rows_of
from samhw.importers.torch.own_operators import NOTHING
from samhw.importers.torch.value import Host, Known
from samhw.tensors import Format

__all__ = [
    "are_bytes",
    "are_integers",
    "array_of",
    "as_numbers",
    "called",
    "checked",
    "format_of",
    "hot",
    "is_finite_number",
    "is_of_indices",
    "mapped",
    "of_data",
    "of_several",
    "uniform",
]


def array_of(tensor: Tensor) -> HostArray:
    """A tensor of any layout as what is loaded."""
    held = tensor.detach()
    if held.dtype == torch.bfloat16:
        held = held.float()
    if held.layout == torch.strided:
        return HostArray.dense(held.resolve_neg().numpy())
    held = held.to_sparse().coalesce()
    return HostArray(tuple(held.shape), held.values().numpy(), held.indices().numpy())


def mapped(x: Known | Host, change: Callable[[Tensor], Tensor]) -> Known | Host:
    """What a function makes of it, with each run's data if these differ."""
    if isinstance(x, Known):
        return Known(change(x.dense()), x.name)
    return of_data(x, change)


def of_data(x: Known | Host, change: Callable[[Tensor], Tensor]) -> Host:
    """What a function makes of it as the data of a run are loaded."""
    fetch = x.fetch
    return Host(change(x.example), lambda env: change(fetch(env)), x.name)


def as_numbers(x: Host) -> Host:
    """The same as floating-point numbers."""
    return of_data(x, lambda tensor: tensor if tensor.is_floating_point() else tensor.float())


def is_finite_number(x: object) -> TypeGuard[int | float]:
    """Whether it is a number of Python that a program can have."""
    return isinstance(x, int | float) and math.isfinite(x)


def uniform(tensor: Tensor) -> float | None:
    """The number that all elements are."""
    if not tensor.numel():
        return None
    first = tensor.reshape(-1)[0]
    return float(first) if tensor.numel() == 1 or bool((tensor == first).all()) else None


def format_of(tensor: Tensor, annotation: str | None, sparsify: float | None) -> str | None:
    """The format that an input hints at: as it was annotated, or as its layout says; None for dense, in any
    order.

    With `sparsify`, what has at least that share of zeros is stored by its nonzeros.
    """
    if annotation is not None:
        return None if annotation == "dense" else str(Format.parse(annotation, tensor.dim()))
    layout = str(tensor.layout).removeprefix("torch.")
    if layout in ("sparse_csc", "sparse_bsc"):
        return "csc"
    if layout != "strided":
        return "csr" if tensor.dim() == 2 else rows_of(tensor.shape)
    zeros = 1 - float(torch.count_nonzero(tensor)) / max(1, tensor.numel())
    if sparsify is not None and tensor.dim() > 1 and zeros >= sparsify:
        return rows_of(tensor.shape)
    return None


def hot(
    tensors: Sequence[Tensor], sizes: Sequence[int], order: Sequence[int], over: int, once: bool
) -> Tensor:
    """As `own_operators.hot` says it: sparse, with an element of 0 where an index names nothing."""
    shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    rows = [tensor.expand(shape).reshape(-1) for tensor in tensors]
    named = [checked(row, size) for row, size in zip(rows, sizes, strict=True)]
    coords = torch.cat([_places(shape), torch.stack(named)])
    values = torch.stack([row != NOTHING for row in rows]).all(0).float()
    whole = (*shape, *sizes)
    if order:
        coords, whole = coords[list(order)], tuple(whole[dim] for dim in order)
    if over:
        coords, values = coords[:, values > 0], values[values > 0]
    if once:
        coords = _last_of(coords, whole[: len(whole) - over])
        values = values[: coords.shape[1]]
    return torch.sparse_coo_tensor(coords, values, whole, check_invariants=True).coalesce()


def of_several(given: Sequence[Known | Host], change: Callable[[Sequence[Tensor]], Tensor]) -> Host:
    """What a function makes of several as the data of a run are loaded."""
    fetches = [each.fetch for each in given]
    example = change([each.example for each in given])
    return Host(example, lambda env: change([fetch(env) for fetch in fetches]), given[0].name)


def _last_of(coords: Tensor, shape: Sequence[int]) -> Tensor:
    """Of the columns that begin with the same coordinates in a shape only the last one."""
    flat = np.ravel_multi_index(tuple(coords[: len(shape)].numpy()), tuple(shape))
    _, first = np.unique(flat[::-1], return_index=True)
    return coords[:, len(flat) - 1 - first]


def _places(shape: Sequence[int]) -> Tensor:
    count = prod(shape)
    return (
        torch.from_numpy(np.stack(np.unravel_index(np.arange(count), tuple(shape))))
        if shape
        else torch.zeros((0, count), dtype=torch.int64)
    )


def checked(tensor: Tensor, size: int) -> Tensor:
    """Places below a size, as indices that may count from the end name them."""
    if tensor.is_floating_point():
        raise InputError("indices are whole numbers; give a tensor of integers")
    tensor = tensor.long()
    where = torch.where(tensor < 0, tensor + size, tensor)
    where = torch.where(tensor == NOTHING, 0, where)
    if bool(((where < 0) | (where >= size)).any()):
        raise InputError(f"an index lies outside of 0 to {size - 1}; fix the indices")
    return where


def are_bytes(x: object) -> bool:
    """Whether it is a constant of several integers of eight bits."""
    if not isinstance(x, Known) or x.tensor is None or x.tensor.dim() < 2:
        return False
    return x.tensor.dtype in (torch.int8, torch.uint8) and uniform(x.tensor) is None


def are_integers(held: Sequence[object]) -> bool:
    """Whether tensors that the host has are of integers, and no conditions."""
    kinds = [item.example.dtype for item in held if isinstance(item, Known | Host)]
    return len(kinds) == len(held) and not any(
        kind.is_floating_point or kind.is_complex or kind == torch.bool for kind in kinds
    )


def is_of_indices(node: Node, name: str, held: Sequence[object]) -> bool:
    """Whether an operator of integers and conditions gives such again, or makes plain numbers of them."""
    if any(isinstance(item, Known) and not _is_plain(item) for item in held):
        return False
    return name not in ("aten.embedding", "aten.embedding_bag")


def _is_plain(constant: Known) -> bool:
    """Integers, conditions, or one number all over."""
    tensor = constant.dense()
    return not tensor.is_floating_point() or uniform(tensor) is not None


def called(
    node: Node,
    arguments: Sequence[object],
    named: Mapping[str, object],
    pick: Callable[[Known | Host], Tensor],
) -> Any:
    """What an operator of PyTorch gives for the tensors that are picked of its arguments."""
    assert callable(node.target)
    keyword = {key: item for key, item in named.items() if key != "device"}
    args, kwargs = torch.utils._pytree.tree_map(
        lambda item: pick(item) if isinstance(item, Known | Host) else item, (arguments, keyword)
    )
    return node.target(*args, **kwargs)
