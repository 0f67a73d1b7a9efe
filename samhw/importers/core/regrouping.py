"""Views: other groupings of a value's indices, and slices. Elements move only where it cannot be helped.

Slices of what is computed are the same computed of slices of the inputs, as long as nothing is computed
twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from samhw.importers.core.axes import AxisConflict
from samhw.importers.core.draft import Build
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.integer_products import contract
from samhw.importers.core.scaled import moved_as_integers
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import Arguments, Hints, Stored, Value, check_unmasked
from samhw.lang.expr import Access, Expr, Reshape
from samhw.lang.traverse import accesses, free_indices, with_accesses

__all__ = ["Views"]


@dataclass
class Piece:
    """Some coordinates of an index, for whatever is computed from inputs along it."""

    build: Build
    start: int
    length: int
    step: int

    def slice_expr(self, expr: Expr, index: str, new: str | None, depth: int = 2) -> Expr | None:
        """The expression at those coordinates, under a new index; None if something would be
        recomputed."""
        swaps: dict[Access, Expr] = {}
        for access in accesses(expr):
            if index in access.names:
                swap = self.slice_access(access, index, new, depth)
                if swap is None:
                    return None
                swaps[access] = swap
        return with_accesses(expr, lambda access: swaps.get(access, access))

    def slice_access(self, access: Access, index: str, new: str | None, depth: int) -> Access | None:
        build = self.build
        stored = build.stored[access.tensor]
        place = build.axes.resolved(access.names).index(index)
        indices = [i if i != index else new for i in build.axes.resolved(access.names)]
        left = tuple(i for i in indices if i is not None)
        if stored.fetch is not None:
            name = self.slice_input(stored, place)
            build.axes.align(left, build.stored[name].modes)
            return Access.of(name, left)
        if stored.step is not None:
            return self.slice_step(access, index, new, depth)
        made = next((s for s in build.statements if s.lhs.tensor == access.tensor), None)
        if made is None or made.block is not build.block:
            # All steps of a scan, or what another scan computes.
            return None
        own = build.axes.resolved(made.lhs.names)[place]
        mask = None if made.mask is None else build.resolve_access(made.mask)
        if not depth or (mask is not None and own in mask.names) or made.stands_alone:
            return None
        fresh = None if new is None else build.axes.like(new)
        rhs = self.slice_expr(build.resolve_expr(made.rhs), own, fresh, depth - 1)
        if rhs is None:
            return None
        lhs = [i if i != own else fresh for i in build.axes.resolved(made.lhs.names)]
        scope, build.scope = build.scope, stored.scope
        found = build.statement(
            [i for i in lhs if i is not None],
            rhs,
            label=access.tensor,
            reduction=made.reduction,
            mask=mask,
            kind=stored.kind,
        )
        build.stored[found.tensor].most = stored.most
        build.scope = scope
        return Access.of(found.tensor, left)

    def slice_step(self, access: Access, index: str, new: str | None, depth: int) -> Access | None:
        """Of the present step of a tensor: the step of a slice of that, which stands before the scan."""
        build = self.build
        step = build.stored[access.tensor].step
        assert step is not None
        if step.block is not build.block or (step.of, step.index) not in step.block.slices:
            return None
        names = iter(build.axes.resolved(access.names))
        own = build.axes.resolved(build.stored[step.of].modes)
        whole = [step.block.index if other == step.index else next(names) for other in own]
        build.block = None
        try:
            cut = self.slice_access(Access.of(step.of, whole), index, new, depth)
        finally:
            build.block = step.block
        return None if cut is None else build.present_step(cut, step.block.index)

    def slice_input(self, stored: Stored, place: int) -> str:
        """An input with some of another one's data."""
        build = self.build
        sizes = [build.axes.size([i]) for i in build.axes.resolved(stored.modes)]
        fetch = stored.fetch
        assert fetch is not None
        assert stored.example is not None

        def sliced(held: HostArray) -> HostArray:
            part = held.reshaped(sizes).sliced(place, self.start, self.length, self.step)
            return part.without(place) if self.length == 1 else part

        def fetch_slice(arguments: Arguments) -> HostArray:
            return sliced(fetch(arguments))

        example = sliced(stored.example)
        rank = len(example.shape)
        fmt = None if stored.has_free_order or not rank else "csf" if rank != 2 else "csr"
        # The sizes belong to it: a place is another one once the axes before it, or its own, have split.
        key = ("cut", stored.name, tuple(sizes), place, self.start, self.length, self.step)
        value = build.input(
            key,
            f"{stored.name}_{self.start}",
            example,
            fetch_slice,
            Hints(fmt),
            kind=stored.kind,
            is_free=stored.is_free,
            constant=stored.is_constant,
        )
        assert isinstance(value.expr, Access)
        return value.expr.tensor


Indices = tuple[str, ...]


@dataclass
class Views:
    """Makes views of values."""

    build: Build
    tensors: Tensors

    def view(self, x: Value, shape: Sequence[int]) -> Value:
        """The elements in another shape; they move only where indices do not split."""
        build = self.build
        x = build.resolve(x)
        have = build.axes.size(x.indices)
        if -1 in shape:
            known = prod(size for size in shape if size != -1)
            shape = [have // known if size == -1 else size for size in shape]
        try:
            modes = build.axes.grouped(x.indices, shape)
        except AxisConflict:
            check_unmasked(x)
            if (made := moved_as_integers(build, x, lambda whole: self.view(whole, shape))) is not None:
                return made
            _, access = self.tensors.as_tensor(self.tensors.contiguous(self.tensors.expanded(x)))
            modes = tuple(() if size == 1 else (build.axes.index(size),) for size in shape)
            lhs = [i for mode in modes for i in mode]
            return Value(modes, build.statement(lhs, Reshape(access)))
        return build.resolve(replace(x, modes=modes))

    def expand(self, value: Value, sizes: Sequence[int]) -> Value:
        """The value expanded to a shape; -1 keeps a size."""
        modes = [()] * (len(sizes) - len(value.modes)) + list(value.modes)
        axes = self.build.axes
        spread = [
            (axes.index(size),) if size > 1 and axes.size(mode) == 1 else mode
            for mode, size in zip(modes, sizes, strict=True)
        ]
        return replace(value, modes=tuple(spread))

    def repeat_interleave(self, x: Value, dim: int, times: int) -> Value:
        """Each element of a mode several times in a row."""
        modes = list(x.modes)
        modes[dim] = (*modes[dim], self.build.axes.index(times)) if times > 1 else modes[dim]
        return replace(x, modes=tuple(modes))

    def slice(self, x: Value, dim: int, start: int, length: int, step: int = 1) -> Value:
        """Some of a mode's elements: of the data where those are inputs, else by a product that picks
        them."""
        build = self.build
        x = build.resolve(x)
        dim %= len(x.modes)
        mode = x.modes[dim]
        size = build.axes.size(mode)
        step = step if length > 1 else 1
        if (start, length, step) == (0, size, 1):
            return x
        free = set(free_indices(x.expr)) | set(x.mask.names if x.mask else ())
        if not set(mode) & free:
            return self._with_mode(x, dim, (build.axes.index(length),) if length > 1 else ())
        inner = build.axes.size(mode[1:])
        if len(mode) > 1 and step == 1 and start // inner == (start + length - 1) // inner:
            # Within one coordinate of the outer index.
            rest = self._with_mode(x, dim, mode[1:])
            outer = replace(rest, modes=(*rest.modes, mode[:1]))
            outer = self.slice(outer, -1, start // inner, 1)
            rest = replace(outer, modes=outer.modes[:-1])
            return self.slice(rest, dim, start % inner, length)
        if len(mode) > 1 and step == 1 and start % inner == 0 and length % inner == 0:
            first = replace(
                self._with_mode(x, dim, mode[1:]),
                modes=(*x.modes[:dim], mode[1:], *x.modes[dim + 1 :], mode[:1]),
            )
            first = self.slice(first, -1, start // inner, length // inner)
            return self._with_mode(
                replace(first, modes=first.modes[:-1]), dim, (*first.modes[-1], *first.modes[dim])
            )
        if len(mode) == 1:
            index = build.axes.index(length) if length > 1 else None
            piece = Piece(build, start, length, step)
            cut = piece.slice_expr(x.expr, mode[0], index)
            mask = None if x.mask is None else piece.slice_expr(x.mask, mode[0], index)
            if cut is not None and (x.mask is None or isinstance(mask, Access)):
                made = replace(x, expr=cut, mask=mask if isinstance(mask, Access) else None)
                return self._with_mode(made, dim, () if index is None else (index,))
        check_unmasked(x)
        return self.index_select(x, dim, list(range(start, start + length * step, step)))

    def _with_mode(self, x: Value, dim: int, mode: Indices) -> Value:
        return replace(x, modes=(*x.modes[:dim], mode, *x.modes[dim + 1 :]))

    def index_select(self, x: Value, dim: int, places: Sequence[int]) -> Value:
        """A mode's elements at these places, and zeros for those that lie outside: by a product with a matrix
        that has an element in each row."""
        count, size = len(places), self.build.shape(x)[dim]
        inside = np.array([0 <= place < size for place in places], np.float32)
        coords = np.array([range(count), np.clip(places, 0, size - 1)])
        name = f"{'pick' if inside.all() else 'place'}_{abs(places[0])}_{count}"
        matrix = HostArray((count, size), inside, coords)
        ones = self.build.constant(matrix, name, Hints("(dense, singleton)"), picks=True)
        return self.product_along(x, dim, ones)

    def placed(self, x: Value, dim: int, start: int, size: int) -> Value:
        """A value from a place of a longer mode on, and zeros elsewhere."""
        return self.index_select(x, dim, range(-start, size - start))

    def product_along(self, x: Value, dim: int, matrix: Value) -> Value:
        """The sum along a mode under a matrix, whose other modes take its place."""
        rank = len(x.modes)
        dim %= rank
        own = [chr(ord("a") + n) for n in range(rank)]
        places = "".join(chr(ord("A") + n) for n in range(len(matrix.modes) - 1))
        out = "".join(own[:dim]) + places + "".join(own[dim + 1 :])
        equation = f"{places}{own[dim]},{''.join(own)}->{out}"
        return contract(self.tensors, equation, matrix, x)
