"""Hypothesis strategies for formats and tensors."""

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from samhw.tensors.formats import Format, LevelType, level_type
from samhw.tensors.formats.arrays import IntArray
from samhw.tensors.tensor import Tensor

__all__ = ["coordinate_lists", "formats", "shapes", "tensors"]


def shapes(min_rank: int = 0, max_rank: int = 4, max_size: int = 5) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes with sizes from 1 to ``max_size``."""
    return st.lists(st.integers(1, max_size), min_size=min_rank, max_size=max_rank).map(tuple)


@st.composite
def formats(draw: st.DrawFn, rank: int, *, blocked: bool = True) -> Format:
    """Every format of a rank of dense, compressed and singleton levels, in all mode orders, and, if
    ``blocked``, blocks of 1 to 3."""
    order = tuple(draw(st.permutations(range(rank))))
    if rank == 2 and blocked and draw(st.booleans()):
        return Format(Format.parse("bcsr(1)", 2).levels, order, draw(st.integers(1, 3)))
    levels: list[LevelType] = []
    for _ in range(rank):
        follows_dense = not levels or levels[-1].is_full
        choices = ["dense", "compressed", *["singleton"] * (not follows_dense)]
        levels.append(level_type(draw(st.sampled_from(choices))))
    return Format(tuple(levels), order)


@st.composite
def coordinate_lists(
    draw: st.DrawFn, shape: tuple[int, ...], dtype: npt.DTypeLike = np.int64, max_entries: int = 12
) -> tuple[IntArray, npt.NDArray[Any]]:
    """Unsorted coordinates (rank, n) with duplicates, and small integral values (n,), zeros among them.

    n may be 0. Sums of the values are exact in every dtype.
    """
    entry = st.tuples(st.tuples(*(st.integers(0, size - 1) for size in shape)), st.integers(-3, 3))
    entries = draw(st.lists(entry, max_size=max_entries))
    coords = np.array([coord for coord, _ in entries], np.int64).reshape(len(entries), len(shape)).T
    return coords, np.array([val for _, val in entries], dtype)


@st.composite
def tensors(
    draw: st.DrawFn,
    shape: tuple[int, ...] | None = None,
    format: Format | None = None,
    dtype: npt.DTypeLike | None = None,
    blocked: bool = True,
) -> Tensor:
    """Tensors of rank 0 to 4; what is given is fixed. Empty tensors, empty rows and size 1 are common."""
    if shape is None:
        shape = draw(shapes(format.rank, format.rank) if format else shapes())
    if format is None:
        format = draw(formats(len(shape), blocked=blocked))
    if dtype is None:
        dtype = draw(st.sampled_from([np.int8, np.int32, np.int64, np.float32, np.float64]))
    coords, vals = draw(coordinate_lists(shape, dtype))
    return Tensor.from_coo(coords, vals, shape, format)
