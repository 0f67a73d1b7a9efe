"""Where elements lie in a block that has some of the axes of a larger one."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

__all__ = ["Places", "places"]

Places = NDArray[np.int64]


def places(sizes: Sequence[int], axes: Sequence[int]) -> Places:
    """For each place of a block of those sizes, in row-major order, the number of the element that belongs to
    it in a block that has these of its axes, in that order."""
    strides = np.cumprod([1, *(sizes[axis] for axis in reversed(axes))])[-2::-1]
    at = product(*map(range, sizes))
    return np.array([sum(p[axis] * s for axis, s in zip(axes, strides, strict=True)) for p in at], np.int64)
