"""Windows along a dimension, as convolutions and pools go through them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from samhw.importers.core.host_array import HostArray
from samhw.importers.core.value import Hints

__all__ = ["SlidingWindow", "are_mostly_outside", "convolved"]

Pads = tuple[int, int]


@dataclass(frozen=True)
class SlidingWindow:
    """The windows along a dimension.

    Attributes:
        size: the dimension's extent.
        padding: what is before and after it.
    """

    size: int
    kernel: int
    stride: int
    padding: Pads = (0, 0)
    dilation: int = 1

    @property
    def count(self) -> int:
        """How many there are."""
        reach = self.dilation * (self.kernel - 1) + 1
        return (self.size + sum(self.padding) - reach) // self.stride + 1

    @property
    def are_side_by_side(self) -> bool:
        """Whether they are views of the data, but for what is left after the last one."""
        alone = self.kernel == 1 or self.dilation == 1
        return alone and not any(self.padding) and self.stride == self.kernel

    @property
    def is_view(self) -> bool:
        """Whether nothing is left after the last one."""
        return self.are_side_by_side and self.count * self.kernel == self.size

    @property
    def inside(self) -> float:
        """The share of the elements of all windows that lie in the data."""
        starts = range(-self.padding[0], self.count * self.stride - self.padding[0], self.stride)
        reach = range(0, self.kernel * self.dilation, self.dilation)
        return sum(0 <= first + n < self.size for first in starts for n in reach) / (self.count * self.kernel)

    @property
    def located(self) -> npt.NDArray[np.int64]:
        """Of shape (windows, kernel): where their elements lie, also outside of the data."""
        starts = np.arange(self.count) * self.stride - self.padding[0]
        return starts[:, None] + np.arange(self.kernel) * self.dilation

    def with_last(self) -> Self:
        """With one more that begins within the data, or before it, but does not end there, if there is one:
        as pools count them with `ceil_mode`."""
        (before, behind), reach = self.padding, self.dilation * (self.kernel - 1) + 1
        end = self.count * self.stride
        if (self.size + before + behind - reach) % self.stride == 0 or end >= self.size + before:
            return self
        return replace(self, padding=(before, end + reach - self.size - before))

    def picking(self, *, sparse: bool) -> tuple[HostArray, Hints]:
        """Of shape (windows, kernel, size): a one where a window's element lies.

        Args:
            sparse: only what lies in the data is stored, and multiplied.
        """
        shape = (self.count, self.kernel, self.size)
        places = self.located.reshape(-1)
        inside = (places >= 0) & (places < self.size)
        rows = np.stack(np.unravel_index(np.arange(len(places)), shape[:2]))
        coords = np.concatenate([rows, np.where(inside, places, 0)[None]])
        values = inside.astype(np.float32)
        if sparse:
            return HostArray(shape, values[inside], coords[:, inside]), Hints(
                "(dense, compressed, compressed)"
            )
        return HostArray(shape, values, coords), Hints("(dense, dense, singleton)")

    def scattering(self) -> tuple[HostArray, Hints]:
        """The same the other way round: of shape (size, kernel, windows)."""
        hits = np.arange(self.size)[:, None, None] == self.located.T
        coords = np.stack(np.nonzero(hits))
        ones = np.ones(coords.shape[1], np.float32)
        return HostArray(hits.shape, ones, coords), Hints("(dense, compressed, compressed)")


def are_mostly_outside(windows: Sequence[SlidingWindow]) -> bool:
    """Whether so little of windows along several dimensions lies in the data that it takes fewer cycles to
    add up what does, some two for each element, than to pick zeros for the rest, one for each."""
    return math.prod(window.inside for window in windows) < 0.45


def convolved(windows: Sequence[SlidingWindow], *, backwards: bool) -> tuple[str, list[int]]:
    """A convolution as one einsum: its equation for data by groups (n, g, c), weights by groups, and a matrix
    for each window that is no view; and the extents of the data's windows, a view of its own ones.

    Args:
        backwards: the windows are those of the result, over which each element spreads.
    """
    wide, shape, rows = "", [], []
    for window, place, inside, number in zip(windows, "pqr", "uvw", "yxz", strict=False):
        wide += number + inside if window.is_view else place
        shape += [window.count, window.kernel] if window.is_view else [window.size]
        if not window.is_view:
            rows.append(f"{place}{inside}{number}" if backwards else f"{number}{inside}{place}")
    inside, numbers = "uvw"[: len(windows)], "yxz"[: len(windows)]
    data, out, channels = (numbers, wide, "co") if backwards else (wide, numbers, "oc")
    equation = ",".join([f"ngc{data}", f"g{channels}{inside}", *rows]) + f"->ngo{out}"
    return equation, [window.count for window in windows] if backwards else shape
