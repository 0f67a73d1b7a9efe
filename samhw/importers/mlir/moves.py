"""Operations that move elements, look at them in another shape, or along loops."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from samhw.importers.core import (
    Build,
    HostArray,
    Operations,
    Tensors,
    UnsupportedError,
    Value,
    Views,
    check_unmasked,
    contract,
)
from samhw.importers.mlir.idioms import number_of
from samhw.importers.mlir.types import Affine, AffineMap
from samhw.lang.expr import Literal

__all__ = ["Moves"]


@dataclass
class Moves:
    """Makes views and moves of values."""

    build: Build
    tensors: Tensors
    operations: Operations
    views: Views

    def reshaped(self, value: Value, shape: Sequence[int]) -> Value:
        """The elements in another shape."""
        have = self.build.shape(value)
        if prod(have) != prod(shape):
            raise UnsupportedError(f"makes {prod(shape)} elements of {prod(have)}", "mend the shapes")
        if tuple(shape) == have:
            return value
        return self.views.view(value, shape)

    def slice(
        self, value: Value, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> Value:
        """`tensor.extract_slice` of all dimensions."""
        for dim, (start, length, step) in enumerate(zip(offsets, sizes, strides, strict=True)):
            value = self.slice_one(value, dim, start, length, step)
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
            value = self.views.product_along(value, dim, matrix)
        return value

    def _alone(self, value: Value, dim: int, start: int, size: int) -> Value:
        """An element at one place of a dimension, of which the value has that element alone."""
        ones = HostArray((size,), np.ones(1, np.float32), np.array([[start]]))
        place = self.build.constant(ones, f"place_{start}_{size}")
        after = len(value.modes) - dim - 1
        place = replace(place, modes=(*place.modes, *((),) * after))
        return self.operations.elementwise(lambda x, p: x * p, value, place)

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
        return self.operations.elementwise(lambda x, y, r: x + y * r, inside, into, rest)

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
        return self.operations.elementwise(lambda x, r: x + r * Literal(number), inside, rest)

    def whole(self, value: Value, shape: Sequence[int]) -> Value:
        """The value, all of whose modes have their extents."""
        if self.build.shape(value) == tuple(shape):
            return value
        return self.views.expand(value, shape)

    # Along loops

    def counted(self, loop: int, sizes: Sequence[int]) -> Value:
        """The number of an iteration."""
        if loop >= len(sizes):
            raise UnsupportedError(f"asks for the loop {loop}, and has {len(sizes)}", "mend its number")
        size = sizes[loop]
        if size == 1:
            return Value((), Literal(0))
        count = self.build.constant(HostArray.dense(np.arange(size, dtype=np.float32)), f"count_{size}")
        return replace(count, modes=tuple(count.modes[0] if n == loop else () for n in range(len(sizes))))

    def over_loops(self, value: Value, amap: AffineMap, sizes: Sequence[int]) -> Value:
        """A value with a mode for each loop."""
        value = self.build.resolve(value)
        if not all(result.is_constant or result.loop is not None for result in amap.results):
            check_unmasked(value)
        rows: list[tuple[str, ...]] = [()] * len(sizes)
        place = 0
        taken: dict[int, int] = {}
        for result in amap.results:
            if result.loop is not None and result.loop not in taken:
                taken[result.loop] = place
                place += 1
            elif result.loop is not None:
                value = self._diagonal(value, taken[result.loop], place)
            elif result.is_constant:
                value = self.slice_one(value, place, result.offset, 1)
                value = replace(value, modes=(*value.modes[:place], *value.modes[place + 1 :]))
            else:
                value, loops = self._window(value, place, result, sizes)
                for n, loop in enumerate(loops):
                    if loop in taken:
                        raise UnsupportedError(
                            f"has the loop d{loop} in two dimensions of an operand",
                            "write it as two operations",
                        )
                    taken[loop] = place + n
                place += len(loops)
        for loop, mode in taken.items():
            rows[loop] = value.modes[mode]
        return replace(value, modes=tuple(rows))

    def _diagonal(self, value: Value, one: int, other: int) -> Value:
        """The elements whose places in two modes are equal; the second mode goes."""
        check_unmasked(value)
        size = self.build.axes.size(value.modes[one])
        if size == 1:
            return replace(value, modes=(*value.modes[:other], *value.modes[other + 1 :]))
        letters = [chr(ord("a") + n) for n in range(len(value.modes))]
        eye = HostArray((size, size), np.ones(size, np.float32), np.array([range(size)] * 2))
        out = "".join(letters[:other] + letters[other + 1 :])
        equation = f"{letters[one]}{letters[other]},{''.join(letters)}->{out}"
        return contract(self.tensors, equation, self.build.constant(eye, f"eye_{size}"), value)

    def _window(
        self, value: Value, place: int, result: Affine, sizes: Sequence[int]
    ) -> tuple[Value, list[int]]:
        """A mode under a sum of loops: those loops in its place, by a matrix that has a one for each."""
        if result.floordiv or result.mod:
            raise UnsupportedError(
                f"takes an operand at ({result})", "reshape it with tensor.expand_shape instead"
            )
        loops = [loop for loop, _ in result.factors]
        extents = [sizes[loop] for loop in loops]
        grid = np.indices(extents).reshape(len(loops), -1)
        at = result.offset + sum(factor * grid[n] for n, (_, factor) in enumerate(result.factors))
        size = self.build.shape(value)[place]
        if at.min() < 0 or at.max() >= size:
            raise UnsupportedError(
                f"takes an operand of {size} at ({result}), which goes from {at.min()} to {at.max()}",
                "mend its extents or the map",
            )
        if len(loops) == 1:
            factor, step = at[0], int(result.factors[0][1])
            if step > 0 or extents[0] == 1:
                return self.slice_one(value, place, int(factor), extents[0], max(step, 1)), loops
        ones = HostArray((*extents, size), np.ones(len(at), np.float32), np.array([*grid, at]))
        window = self.build.constant(ones, f"window_{'_'.join(map(str, (*extents, size)))}")
        return self.views.product_along(value, place, window), loops

    def slice_one(self, value: Value, dim: int, start: int, length: int, step: int = 1) -> Value:
        """Some of a mode's elements."""
        size = self.build.shape(value)[dim]
        if start < 0 or length < 1 or start + (length - 1) * step >= size:
            raise UnsupportedError(
                f"takes {length} elements from {start} on of a dimension of {size}", "stay within it"
            )
        return self.views.slice(value, dim, start, length, step)
