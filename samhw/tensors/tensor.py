"""The tensor: a shape, a format, its stored levels and its values, with the conversions in and out."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from samhw.errors import InputError
from samhw.tensors import pytorch
from samhw.tensors.formats import Format, StoredLevel
from samhw.tensors.formats.arrays import IntArray, check_positions, run_starts
from samhw.tensors.scipy_sparse import AS_STORED, scipy_array, sparse_to_coo
from samhw.tensors.storage import (
    build_levels,
    check_storage,
    expand_levels,
    from_level_coords,
    sort_order,
    to_level_coords,
)

if TYPE_CHECKING:
    import torch

__all__ = ["Tensor"]


@dataclass(frozen=True, eq=False, repr=False)
class Tensor:
    """A tensor in one storage format.

    The constructor trusts its arguments; :meth:`check` does not. Most users want :meth:`from_dense`,
    :meth:`from_coo`, :meth:`from_scipy` or :func:`samhw.tensors.read_tensor`. Wherever a format is asked for,
    a text such as ``"csr"`` will do.

    Parameters
    ----------
    shape
        The size of each mode.
    format
        The types and the mode order of the levels.
    levels
        One record per stored level, outermost first.
    vals
        One value per position of the innermost level, of any integer, boolean or floating-point dtype. Every
        conversion preserves it.
    """

    shape: tuple[int, ...]
    format: Format
    levels: tuple[StoredLevel, ...]
    vals: npt.NDArray[Any]

    @classmethod
    def from_coo(
        cls, coords: npt.ArrayLike, vals: npt.ArrayLike, shape: Sequence[int], format: Format | str
    ) -> "Tensor":
        """The tensor with those values at those coordinates, and zero elsewhere.

        Parameters
        ----------
        coords
            Integers of shape (rank, nnz), in any order. The values of equal coordinates are added up.
        vals
            Numbers of shape (nnz,). Zeros count as present in compressed levels.

        Raises
        ------
        InputError
            When the arguments do not agree, or a coordinate lies outside the shape.
        """
        shape = _shape(shape)
        format = Format.of(format, len(shape))
        vals = _values(vals)
        coords = _coordinates(coords, vals, shape)
        sizes = format.level_sizes(shape)
        level_coords = to_level_coords(format, coords)
        order = sort_order(level_coords, sizes)
        level_coords, vals = _add_duplicates(level_coords[:, order], vals[order])
        levels, position, count = build_levels(format, sizes, level_coords)
        stored = np.zeros(count, vals.dtype)
        stored[position] = vals
        return cls(shape, format, levels, stored)

    @classmethod
    def from_dense(cls, array: npt.ArrayLike, format: Format | str) -> "Tensor":
        """The tensor with the values of an array. Compressed levels keep only what leads to a nonzero.

        Raises
        ------
        InputError
            When the format is of another rank, or the array does not hold numbers.
        """
        array = _numbers(array)
        format = Format.of(format, array.ndim)
        if format.is_all_dense and format.block is None:
            check_positions(array.size, f"format {format}")
            sizes = format.level_sizes(array.shape)
            levels = tuple(map(StoredLevel, format.levels, sizes))
            return cls(array.shape, format, levels, array.transpose(format.mode_order).flatten())
        coords = np.array(np.nonzero(array))
        return cls.from_coo(coords, array[tuple(coords)], array.shape, format)

    @classmethod
    def from_scipy(
        cls, matrix: "scipy.sparse.sparray | scipy.sparse.spmatrix", format: Format | str
    ) -> "Tensor":
        """The tensor of a SciPy sparse matrix or array of any kind; explicit zeros stay.

        Raises
        ------
        InputError
            When the argument is not a sparse matrix, is damaged, or the format is of another rank.
        """
        if not scipy.sparse.issparse(matrix):
            raise InputError(f"{type(matrix).__name__} is not a SciPy sparse matrix: use Tensor.from_dense")
        return cls.from_coo(*sparse_to_coo(matrix), format)

    @classmethod
    def from_torch(cls, tensor: "torch.Tensor", format: Format | str) -> "Tensor":
        """The tensor of a PyTorch tensor of any layout.

        bfloat16 and the kinds of float8, which NumPy lacks, become float32.

        Raises
        ------
        InputError
            When PyTorch is missing, or the tensor is batched, hybrid, damaged, quantized or without values.
        """
        if pytorch.is_strided(tensor):
            return cls.from_dense(pytorch.strided_to_numpy(tensor), format)
        return cls.from_coo(*pytorch.sparse_to_coo(tensor), format)

    @classmethod
    def from_arrays(
        cls, shape: Sequence[int], format: Format | str, arrays: Mapping[str, npt.ArrayLike]
    ) -> "Tensor":
        """The tensor that is stored in those arrays, named as in :meth:`arrays`; all of it is checked.

        Raises
        ------
        InputError
            When an array is missing, not wanted, or breaks a rule of storage.
        """
        shape = _shape(shape)
        format = Format.of(format, len(shape))
        left = dict(arrays)

        def take(name: str) -> IntArray:
            if name not in left:
                raise InputError(f"array {name} is missing: format {format} needs it")
            return _integers(left.pop(name), name).copy()

        levels = tuple(
            StoredLevel(type, size, {name: take(f"{name}{depth}") for name in type.arrays})
            for depth, (type, size) in enumerate(zip(format.levels, format.level_sizes(shape), strict=True))
        )
        if "vals" not in left:
            raise InputError("array vals is missing")
        tensor = cls(shape, format, levels, _numbers(left.pop("vals")))
        if left:
            raise InputError(f"format {format} has no array {min(left)}: leave it out or change the format")
        tensor.check()
        return tensor

    @property
    def rank(self) -> int:
        """The number of modes."""
        return len(self.shape)

    @property
    def nnz(self) -> int:
        """The number of stored values, zeros in dense levels, padding and explicit zeros included."""
        return len(self.vals)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the values."""
        return self.vals.dtype

    def __repr__(self) -> str:
        size = "x".join(str(size) for size in self.shape) or "scalar"
        return f"<Tensor {size} {self.format}, {self.nnz} values of {self.dtype}>"

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The stored arrays by name: ``pos0``, ``crd0``, ``pos1``, ... as far as they exist, and ``vals``.
        What a level stores, its type says."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        for depth, level in enumerate(self.levels):
            arrays |= {f"{name}{depth}": array for name, array in level.arrays.items()}
        return arrays | {"vals": self.vals}

    def check(self) -> None:
        """Check the storage: level types, sizes, lengths, ``pos`` and ``crd``.

        Raises
        ------
        InputError
            Naming the first level, array and entry that break a rule.
        """
        check_storage(self.shape, self.format, self.levels, self.vals)

    def to_coo(self, *, drop_zeros: bool = False) -> tuple[IntArray, npt.NDArray[Any]]:
        """Coordinates (rank, n) in lexicographic order, and the values (n,) at them.

        All stored values are given, zeros of dense levels included, unless ``drop_zeros`` is set. Padding, of
        blocks and of levels that have some, is never given.
        """
        level_coords, is_stored = expand_levels(self.levels)
        coords = from_level_coords(self.format, level_coords)
        vals = self.vals
        if not is_stored.all():
            coords, vals = coords[:, is_stored], vals[is_stored]
        if drop_zeros:
            keep = vals != 0
            coords, vals = coords[:, keep], vals[keep]
        if self.format.block is not None:
            keep = (coords < np.array(self.shape)[:, None]).all(axis=0)
            coords, vals = coords[:, keep], vals[keep]
        order = sort_order(coords, self.shape)
        return coords[:, order], vals.copy() if isinstance(order, slice) else vals[order]

    def to_dense(self) -> npt.NDArray[Any]:
        """The values as an array of the tensor's shape.

        Raises
        ------
        InputError
            When the array would be too large to have been meant.
        """
        check_positions(math.prod(self.shape), "a dense array")
        if self.format.is_all_dense and self.format.block is None:
            stored = self.vals.reshape([level.size for level in self.levels])
            return stored.transpose(np.argsort(self.format.mode_order)).copy()
        array = np.zeros(self.shape, self.dtype)
        coords, vals = self.to_coo()
        array[tuple(coords)] = vals
        return array

    def to_scipy(self) -> "scipy.sparse.csr_array | scipy.sparse.dia_array":
        """The matrix as a SciPy CSR array, or as one of diagonals if its format is `dia`: explicit zeros
        stay, those that fill innermost levels go.

        Raises
        ------
        InputError
            When the tensor is not a matrix.
        """
        if self.rank != 2:
            raise InputError(f"a tensor of rank {self.rank} is no SciPy sparse matrix: use to_coo")
        stored = self if str(self.format) in AS_STORED else self.convert("csr")
        return scipy_array(str(stored.format), stored.arrays(), self.shape)

    def to_torch(self, layout: str | None = None) -> "torch.Tensor":
        """A PyTorch tensor of layout ``strided``, ``sparse_coo``, ``sparse_csr`` or ``sparse_csc``.

        Without a ``layout``: the one that matches the format, and ``sparse_coo`` where none does.

        Raises
        ------
        InputError
            When PyTorch is missing, or the layout is unknown or not for this rank.
        """
        if layout is None:
            default = "strided" if self.format.is_all_dense else "sparse_coo"
            layout = _TORCH_LAYOUTS.get(str(self.format), default)
        match layout:
            case "strided":
                return pytorch.strided_from_numpy(self.to_dense())
            case "sparse_coo":
                coords, vals = self.to_coo(drop_zeros=self.format.stores_fill)
                return pytorch.sparse_coo(coords, vals, self.shape)
            case "sparse_csr" | "sparse_csc":
                if self.rank != 2:
                    raise InputError(f"layout {layout} is for matrices but the tensor has rank {self.rank}")
                arrays = self.convert(layout.removeprefix("sparse_")).arrays()
                return pytorch.sparse_compressed(
                    layout, arrays["pos1"], arrays["crd1"], arrays["vals"], self.shape
                )
        raise InputError(f"unknown layout {layout!r}: use strided, sparse_coo, sparse_csr or sparse_csc")

    def convert(self, format: Format | str) -> "Tensor":
        """The same tensor in another format.

        Zeros that a compressed or singleton level stores are kept; zeros that only fill a dense innermost
        level are not carried into compressed levels.

        Raises
        ------
        InputError
            When the format is of another rank.
        """
        format = Format.of(format, self.rank)
        if format == self.format:
            return self
        if format.is_all_dense:
            return Tensor.from_dense(self.to_dense(), format)
        coords, vals = self.to_coo(drop_zeros=self.format.stores_fill)
        return Tensor.from_coo(coords, vals, self.shape, format)


_MOST_DIMENSIONS = 64
"""Of an array of NumPy."""

_TORCH_LAYOUTS = {"csr": "sparse_csr", "csc": "sparse_csc"}


def _shape(shape: Sequence[int]) -> tuple[int, ...]:
    sizes = tuple(int(size) for size in _integers(shape, "the sizes of a shape"))
    if any(size < 0 for size in sizes):
        raise InputError(f"shape {sizes} has a negative size")
    return sizes


def _numbers(array: npt.ArrayLike) -> npt.NDArray[Any]:
    _check_unmasked(array)
    try:
        numbers = np.asarray(array)
    except Exception as error:  # What becomes an array may do so by code of its own.
        raise InputError(f"no array can be made of it ({' '.join(str(error).split())})") from None
    # Not a list of kinds to accept: bfloat16 and its like register as dtypes of kind "V".
    if numbers.dtype.kind in "OSTUMmc" or issubclass(numbers.dtype.type, np.void):
        raise InputError(f"values of dtype {numbers.dtype} are not supported: use integers or real numbers")
    return numbers


def _check_unmasked(array: npt.ArrayLike, depth: int = 0) -> None:
    """Raises InputError for masked elements, which NumPy would turn into what lies below the mask. They are
    not zeros, which count in a maximum or a quotient."""
    if "numpy.ma" not in sys.modules:  # It takes long to load, and makes all masks.
        return
    if isinstance(array, list | tuple) and depth < _MOST_DIMENSIONS:
        for item in array:
            if isinstance(item, list | tuple | np.ma.MaskedArray):
                _check_unmasked(item, depth + 1)
    elif isinstance(array, np.ma.MaskedArray) and array.dtype.names is None and np.ma.is_masked(array):
        raise InputError(
            "some elements are masked, and a tensor has no such: fill them, as with array.filled(0), or give "
            "the mask as a tensor of its own"
        )


def _values(vals: npt.ArrayLike) -> npt.NDArray[Any]:
    values = _numbers(vals)
    if values.ndim != 1:
        raise InputError(f"values must be a list of numbers, but they have shape {values.shape}")
    return values


def _integers(array: npt.ArrayLike, name: str) -> IntArray:
    integers = np.asarray(array)
    if integers.size and integers.dtype.kind not in "iu":
        raise InputError(f"{name} must be integers, not {integers.dtype}")
    return integers.astype(np.int64, copy=False)


def _coordinates(coords: npt.ArrayLike, vals: npt.NDArray[Any], shape: tuple[int, ...]) -> IntArray:
    array = _integers(coords, "the coordinates")
    if array.shape != (len(shape), len(vals)):
        raise InputError(
            f"coordinates have shape {array.shape} but {len(vals)} values of a tensor of rank {len(shape)} "
            f"need shape {(len(shape), len(vals))}"
        )
    for mode, (row, size) in enumerate(zip(array, shape, strict=True)):
        if row.min(initial=0) < 0 or row.max(initial=-1) >= size:
            at = int(np.flatnonzero((row < 0) | (row >= size))[0])
            raise InputError(
                f"entry {at} has coordinate {row[at]} in mode {mode}, outside the shape {shape}: "
                f"coordinates there run from 0 to {size - 1}"
            )
    return array


def _add_duplicates(coords: IntArray, vals: npt.NDArray[Any]) -> tuple[IntArray, npt.NDArray[Any]]:
    """Merge equal neighbouring columns of ``coords``, and add up their values in the order given."""
    first = run_starts(len(vals), *coords)
    if first.all():
        return coords, vals
    sums = np.zeros(np.count_nonzero(first), vals.dtype)
    # Unlike reduceat, which adds pairwise, this keeps to the order given, so that results are reproducible.
    np.add.at(sums, np.cumsum(first) - 1, vals)
    return coords[:, first], sums
