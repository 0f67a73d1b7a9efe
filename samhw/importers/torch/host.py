"""What the host does to tensors of PyTorch before they are loaded."""

import math
from collections.abc import Callable, Sequence
from math import prod
from typing import TypeGuard

import numpy as np
import torch
from torch import Tensor

from samhw.errors import InputError
from samhw.importers.core import HostArray
from samhw.importers.torch.value import Host, Known
from samhw.tensors import Format

__all__ = [
    "array_of",
    "as_numbers",
    "bagging",
    "bags",
    "checked",
    "counts",
    "counts_of",
    "format_of",
    "is_finite_number",
    "mapped",
    "of_data",
    "of_several",
    "one_hot",
    "one_hot_of",
    "placing",
    "placing_of",
    "rows_of",
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
        return "csr" if tensor.dim() == 2 else rows_of(tensor)
    zeros = 1 - float(torch.count_nonzero(tensor)) / max(1, tensor.numel())
    if sparsify is not None and tensor.dim() > 1 and zeros >= sparsify:
        return rows_of(tensor)
    return None


def rows_of(tensor: Tensor, compressed: int = 1) -> str:
    """The format with its last levels compressed, but for those of extent 1."""
    kinds = []
    for size in reversed(tensor.shape):
        kinds.append("compressed" if compressed and size > 1 else "dense")
        compressed -= size > 1 and compressed > 0
    return f"({', '.join(kinds[::-1])})"


def one_hot(ids: Known | Host, size: int, *, ignored: int | None = None) -> Host:
    """For each index a row with a one at its place; with none for an index that is ignored."""

    def hot(tensor: Tensor) -> Tensor:
        flat = tensor.reshape(-1)
        kept = torch.ones_like(flat, dtype=torch.bool) if ignored is None else flat != ignored
        where = checked(flat[kept], size)
        coords = torch.cat([_places(tensor.shape)[:, kept], where.reshape(1, -1)])
        return torch.sparse_coo_tensor(coords, torch.ones(where.numel()), (*tensor.shape, size)).coalesce()

    return of_data(ids, hot)


def placing(ids: Known | Host, dim: int, size: int, *, once: bool = False) -> Host:
    """For each place along a dimension a row with ones at the indices that name it: of the shape of the
    indices, with so many places in that dimension, and the indices along it in the last one.

    Args:
        once: only at the last one of them.
    """

    def hot(tensor: Tensor) -> Tensor:
        coords = _places(tensor.shape)
        coords = torch.cat([coords, coords[dim : dim + 1]])
        coords[dim] = checked(tensor, size).reshape(-1)
        shape = (*tensor.shape[:dim], size, *tensor.shape[dim + 1 :], tensor.shape[dim])
        coords = _last_of(coords, shape[:-1]) if once else coords
        return torch.sparse_coo_tensor(coords, torch.ones(coords.shape[1]), shape).coalesce()

    return of_data(ids, hot)


def counts(ids: Known | Host, dim: int, size: int) -> Host:
    """For each place along a dimension how many indices name it."""

    def counted(tensor: Tensor) -> Tensor:
        where = checked(tensor, size)
        found = torch.zeros(*tensor.shape[:dim], size, *tensor.shape[dim + 1 :])
        return found.scatter_add(dim, where, torch.ones(tensor.shape))

    return of_data(ids, counted)


def one_hot_of(ids: Sequence[Known | Host], sizes: Sequence[int]) -> Host:
    """For each place a one at the coordinates that several index tensors name together."""

    def hot(tensors: Sequence[Tensor]) -> Tensor:
        held = _side_by_side(tensors, sizes)
        coords = torch.cat([_places(held[0].shape), *(t.reshape(1, -1) for t in held)])
        shape = (*held[0].shape, *sizes)
        return torch.sparse_coo_tensor(coords, torch.ones(coords.shape[1]), shape).coalesce()

    return of_several(ids, hot)


def placing_of(ids: Sequence[Known | Host], sizes: Sequence[int], *, once: bool = False) -> Host:
    """For the coordinates that several index tensors name together ones at the places that name them.

    Args:
        once: only at the last one of them.
    """

    def hot(tensors: Sequence[Tensor]) -> Tensor:
        held = _side_by_side(tensors, sizes)
        shape = (*sizes, *held[0].shape)
        coords = torch.cat([*(t.reshape(1, -1) for t in held), _places(held[0].shape)])
        coords = _last_of(coords, sizes) if once else coords
        return torch.sparse_coo_tensor(coords, torch.ones(coords.shape[1]), shape).coalesce()

    return of_several(ids, hot)


def counts_of(ids: Sequence[Known | Host], sizes: Sequence[int]) -> Host:
    """How many places name each of the coordinates."""

    def counted(tensors: Sequence[Tensor]) -> Tensor:
        held = tuple(_side_by_side(tensors, sizes))
        return torch.zeros(tuple(sizes)).index_put(held, torch.tensor(1.0), accumulate=True)

    return of_several(ids, counted)


def of_several(given: Sequence[Known | Host], change: Callable[[Sequence[Tensor]], Tensor]) -> Host:
    """What a function makes of several as the data of a run are loaded."""
    fetches = [each.fetch for each in given]
    example = change([each.example for each in given])
    return Host(example, lambda env: change([fetch(env) for fetch in fetches]), given[0].name)


def _side_by_side(tensors: Sequence[Tensor], sizes: Sequence[int]) -> list[Tensor]:
    """Indices below sizes, broadcast."""
    held = [checked(tensor, size) for tensor, size in zip(tensors, sizes, strict=True)]
    shape = np.broadcast_shapes(*(tensor.shape for tensor in held))
    return [tensor.expand(shape) for tensor in held]


def _last_of(coords: Tensor, shape: Sequence[int]) -> Tensor:
    """Of the columns that begin with the same coordinates in a shape only the last one."""
    flat = np.ravel_multi_index(tuple(coords[: len(shape)].numpy()), tuple(shape))
    _, first = np.unique(flat[::-1], return_index=True)
    return coords[:, len(flat) - 1 - first]


def bags(ids: Known | Host, offsets: Known | Host, size: int, *, mean: bool) -> Host:
    """For each bag a row that counts its indices; with `mean`, their shares. Bags begin at the offsets."""

    def hot(tensors: Sequence[Tensor]) -> Tensor:
        tensor, starts = tensors
        where = checked(tensor.reshape(-1), size)
        bag, values = _bags(starts, len(where), mean)
        return torch.sparse_coo_tensor(torch.stack([bag, where]), values, (len(starts), size)).coalesce()

    return of_several([ids, offsets], hot)


def bagging(offsets: Known | Host, count: int, *, mean: bool) -> Host:
    """For each bag a row with ones, or shares, at those of so many elements that are in it."""

    def hot(starts: Tensor) -> Tensor:
        bag, values = _bags(starts, count, mean)
        coords = torch.stack([bag, torch.arange(count)])
        return torch.sparse_coo_tensor(coords, values, (len(starts), count)).coalesce()

    return of_data(offsets, hot)


def _bags(starts: Tensor, count: int, mean: bool) -> tuple[Tensor, Tensor]:
    """Of each of so many elements its bag, and what it counts there."""
    bag = torch.searchsorted(starts, torch.arange(count), right=True) - 1
    counts = torch.bincount(bag, minlength=len(starts)).clamp(min=1)
    return bag, 1 / counts[bag] if mean else torch.ones(count)


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
    where = torch.where(tensor < 0, tensor + size, tensor)
    if bool(((where < 0) | (where >= size)).any()):
        raise InputError(f"an index lies outside of 0 to {size - 1}; fix the indices")
    return where
