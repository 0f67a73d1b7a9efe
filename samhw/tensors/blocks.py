"""How full the blocks of a sparse tensor are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["blocks_with_zeros"]


def blocks_with_zeros(coords: NDArray[np.int64], shape: Sequence[int], sizes: Sequence[int]) -> int:
    """How many blocks of those sizes have some, but not all, of these coordinates (rank, n), no two alike. Of
    a block at the edge counts what lies inside of the shape."""
    step = np.array(sizes)[:, None]
    blocks, counts = np.unique(coords // step, axis=1, return_counts=True)
    inside = np.minimum(step, np.array(shape)[:, None] - blocks * step).prod(axis=0)
    return int((counts < inside).sum())
