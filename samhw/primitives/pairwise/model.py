"""The sum of several words: neighbours, then the sums of neighbours, and so on."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from samhw.graph.numerics import ScalarOp
from samhw.sim.step import Words

__all__ = ["Places", "pairwise", "places"]


def pairwise(op: ScalarOp, words: Words, begin: int, count: int, length: int) -> int:
    """Combines neighbours again and again, one without a partner going on as it is, in several sums side by
    side.

    Args:
        words: the first of each sum from `begin` on, then the second of each, and so on; and after all of
            them as much room again, which is used too.
        count: how many are combined to one.
        length: how many sums there are.

    Returns:
        Where they lie side by side in the end; negative if a result leaves the range.
    """
    source, target = begin, begin + count * length
    while count > 1:
        half = count >> 1
        wrong = 0
        t = 0
        while t < half:
            n = 0
            while n < length:
                x = op(words[source + 2 * t * length + n], words[source + (2 * t + 1) * length + n])
                wrong |= x
                words[target + t * length + n] = x
                n += 1
            t += 1
        if wrong < 0:
            return wrong
        n = 0
        while n < length and count & 1:
            words[target + half * length + n] = words[source + 2 * half * length + n]
            n += 1
        count = count + 1 >> 1
        source, target = target, source
    return source


Places = NDArray[np.int64]


def places(sizes: Sequence[int], axes: Sequence[int]) -> Places:
    """For each place of a block of those sizes, in row-major order, the number of the element that belongs to
    it in a block that has these of its axes, in that order."""
    strides = np.cumprod([1, *(sizes[axis] for axis in reversed(axes))])[-2::-1]
    at = product(*map(range, sizes))
    return np.array([sum(p[axis] * s for axis, s in zip(axes, strides, strict=True)) for p in at], np.int64)
