"""Arrays on the host, before they are loaded, whatever framework has made them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.tensors import Format, LevelType, Tensor

__all__ = ["HostArray"]


@dataclass(frozen=True, eq=False)
class HostArray:
    """An array, dense or by its stored elements.

    Attributes:
        shape: the extents.
        values: of a dense array all elements, in its shape; else the stored ones, of shape (stored,).
        coords: of shape (rank, stored), in lexicographic order and each once; None for a dense array.
    """

    shape: tuple[int, ...]
    values: npt.NDArray[Any]
    coords: npt.NDArray[Any] | None = None

    @classmethod
    def dense(cls, values: npt.ArrayLike) -> "HostArray":
        """All elements of an array."""
        held = np.asarray(values)
        return cls(held.shape, held)

    @classmethod
    def number(cls, number: float) -> "HostArray":
        """One number, in the type that weights have. One that is too large for it is infinite."""
        with np.errstate(over="ignore"):
            return cls.dense(np.asarray(number).astype(np.float32))

    @classmethod
    def ones(cls, size: int) -> "HostArray":
        """A vector of ones."""
        return cls.dense(np.ones(size, np.float32))

    def to_dense(self) -> npt.NDArray[Any]:
        """All elements, in the shape."""
        if self.coords is None:
            return self.values
        found = np.zeros(self.shape, self.values.dtype)
        found[tuple(self.coords)] = self.values
        return found

    @property
    def content(self) -> Hashable:
        """Equal for equal arrays that are stored alike."""
        parts = [self.values] if self.coords is None else [self.coords, self.values]
        return self.shape, tuple((str(part.dtype), part.shape, part.tobytes()) for part in parts)

    @property
    def density(self) -> float:
        """The share of elements that are not zero."""
        return float(np.count_nonzero(self.values)) / max(1, prod(self.shape))

    def reshaped(self, sizes: Sequence[int]) -> "HostArray":
        """The elements in another shape."""
        sizes = tuple(sizes)
        if sizes == self.shape:
            return self
        if self.coords is None:
            return HostArray(sizes, self.values.reshape(sizes))
        flat = np.ravel_multi_index(tuple(self.coords), self.shape)
        coords = np.stack(np.unravel_index(flat, sizes)) if sizes else np.zeros((0, len(flat)), np.int64)
        return HostArray(sizes, self.values, coords)

    def sliced(self, dim: int, start: int, length: int, step: int) -> "HostArray":
        """Every step-th element along a dimension, as many as the length says."""
        shape = (*self.shape[:dim], length, *self.shape[dim + 1 :])
        if self.coords is None:
            places = slice(start, start + length * step, step)
            return HostArray(shape, self.values[(*[slice(None)] * dim, places)])
        number, rest = np.divmod(self.coords[dim] - start, step)
        kept = (rest == 0) & (number >= 0) & (number < length)
        coords = self.coords[:, kept]
        coords[dim] = number[kept]
        return HostArray(shape, self.values[kept], coords)

    def without(self, dim: int) -> "HostArray":
        """The array without a dimension of extent 1."""
        return self.reshaped([size for d, size in enumerate(self.shape) if d != dim])

    def stored(self, sizes: Sequence[int], order: Sequence[int], levels: Sequence[LevelType]) -> Tensor:
        """The elements in a shape, its modes in an order, and levels for these."""
        held = self.reshaped(sizes)
        fmt = Format(tuple(levels), tuple(range(len(levels))))
        if held.coords is None:
            return Tensor.from_dense(held.values.transpose(order).copy(), fmt)
        return Tensor.from_coo(held.coords[list(order)], held.values, tuple(sizes[n] for n in order), fmt)
