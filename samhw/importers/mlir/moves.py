"""Operations that move elements, or look at them in another shape."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from samhw.importers.core import HostArray, UnsupportedError, Value
from samhw.importers.mlir.compute import Compute
from samhw.importers.mlir.idioms import number_of
from samhw.lang.expr import Literal

__all__ = ["Moves"]


class Moves:
    """Makes views and moves of values."""

    def __init__(self, compute: Compute) -> None:
        self.compute = compute
        self.build = compute.build

    def reshaped(self, value: Value, shape: Sequence[int]) -> Value:
        """The elements in another shape."""
        have = self.build.shape(value)
        if prod(have) != prod(shape):
            raise UnsupportedError(f"makes {prod(shape)} elements of {prod(have)}", "mend the shapes")
        if tuple(shape) == have:
            return value
        return self.compute.views.view(value, shape)

    def slice(
        self, value: Value, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> Value:
        """`tensor.extract_slice` of all dimensions."""
        for dim, (start, length, step) in enumerate(zip(offsets, sizes, strides, strict=True)):
            value = self.compute.slice(value, dim, start, length, step)
        return value

    def dropped(self, value: Value, shape: Sequence[int]) -> Value:
        """The value without some dimensions of extent 1, so that it has a shape."""
        rows = [mode for mode in value.modes if self.build.axes.size(mode) > 1]
        found: list[tuple[str, ...]] = []
        for size in shape:
            found.append(() if size == 1 or not rows else rows.pop(0))
        result = replace(value, modes=tuple(found))
        if rows or self.build.shape(result) != tuple(shape):
            raise UnsupportedError("gives a slice of another shape than its type", "mend the type")
        return result

    def placed(
        self, value: Value, offsets: Sequence[int], shape: Sequence[int], strides: Sequence[int]
    ) -> Value:
        """A value in a larger shape, zero around it."""
        for dim, (start, size, step) in enumerate(zip(offsets, shape, strides, strict=True)):
            have = self.build.shape(value)[dim]
            if start < 0 or step < 1 or start + (have - 1) * step >= size:
                raise UnsupportedError(
                    f"puts {have} elements from {start} on into a dimension of {size}", "stay within it"
                )
            if (have, start) == (size, 0):
                continue
            if have == 1:
                value = self._alone(value, dim, start, size)
                continue
            at = start + step * np.arange(have)
            ones = HostArray((size, have), np.ones(have, np.float32), np.array([at, range(have)]))
            matrix = self.build.constant(ones, f"place_{start}_{size}")
            value = self.compute.views.product_along(value, dim, matrix)
        return value

    def _alone(self, value: Value, dim: int, start: int, size: int) -> Value:
        """An element at one place of a dimension, of which the value has that element alone."""
        ones = HostArray((size,), np.ones(1, np.float32), np.array([[start]]))
        place = self.build.constant(ones, f"place_{start}_{size}")
        after = len(value.modes) - dim - 1
        place = replace(place, modes=(*place.modes, *((),) * after))
        return self.compute.operations.elementwise(lambda x, p: x * p, value, place)

    def inserted(
        self,
        value: Value,
        into: Value,
        offsets: Sequence[int],
        strides: Sequence[int],
    ) -> Value:
        """A value in the place of a part of another one."""
        shape = self.build.shape(into)
        inside = self.placed(value, offsets, shape, strides)
        if number_of(into.expr) == 0:
            return self.whole(inside, shape)
        rest = self._outside(self.build.shape(value), offsets, shape, strides)
        if rest is None:
            return inside
        return self.compute.operations.elementwise(lambda x, y, r: x + y * r, inside, into, rest)

    def _outside(
        self, sizes: Sequence[int], offsets: Sequence[int], shape: Sequence[int], strides: Sequence[int]
    ) -> Value | None:
        """One where no part lies, and zero where it does."""
        held = np.ones(
            [1 if size == part else size for size, part in zip(shape, sizes, strict=True)], np.float32
        )
        if held.size == 1:
            return None
        places = tuple(
            slice(None) if size == part else slice(start, start + (part - 1) * step + 1, step)
            for size, part, start, step in zip(shape, sizes, offsets, strides, strict=True)
        )
        held[places] = 0
        return self.build.constant(HostArray.dense(held), "outside")

    def padded(self, value: Value, low: Sequence[int], high: Sequence[int], number: float) -> Value:
        """A value with a number around it."""
        have = self.build.shape(value)
        shape = [before + size + after for before, size, after in zip(low, have, high, strict=True)]
        if min([*low, *high], default=0) < 0:
            raise UnsupportedError("pads by less than nothing", "take a slice")
        inside = self.placed(value, low, shape, [1] * len(shape))
        if number == 0:
            return self.whole(inside, shape)
        if not np.isfinite(number):
            raise UnsupportedError(f"pads with {number:g}", "pad with a finite number such as -1e30")
        rest = self._outside(have, low, shape, [1] * len(shape))
        if rest is None:
            return inside
        return self.compute.operations.elementwise(lambda x, r: x + r * Literal(number), inside, rest)

    def whole(self, value: Value, shape: Sequence[int]) -> Value:
        """The value, all of whose modes have their extents."""
        if self.build.shape(value) == tuple(shape):
            return value
        return self.compute.views.expand(value, shape)
