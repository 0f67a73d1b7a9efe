"""What importers of operators stand on, in whatever framework: all that makes statements of values."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from samhw.importers.core.draft import Build, grouped
from samhw.importers.core.element_expressions import Operations
from samhw.importers.core.integer_products import contract
from samhw.importers.core.quantised import Quantised
from samhw.importers.core.regrouping import Views
from samhw.importers.core.scaled import moved_as_integers, scaled
from samhw.importers.core.scan_blocks import Scans
from samhw.importers.core.summed_products import letters
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import Value
from samhw.lang import COORDINATES
from samhw.lang.expr import Access, Literal, RunningReduction
from samhw.lang.functions import eq, exp, lt, select
from samhw.lang.traverse import free_indices

__all__ = [
    "Makers",
    "Reductions",
]

# Values that are reduced along some modes, or gone through along a row of elements, or put in order.


Ints = int | Sequence[int]


def _chosen(rank: int, dims: Ints | None) -> set[int]:
    """The modes that are meant: all for None or nothing."""
    if dims is None or dims == []:
        return set(range(rank))
    return {dim % rank for dim in ([dims] if isinstance(dims, int) else dims)} if rank else set()


@dataclass
class Reductions:
    """Makes statements that reduce."""

    build: Build
    tensors: Tensors
    operations: Operations

    def reduced(self, x: Value, dims: Ints | None, keepdim: bool = False, kind: str = "sum") -> Value:
        """The sum, the greatest or the least along some modes, by default along all. Of a value under a mask
        only the greatest: of its points, and 0 where there are none."""
        build = self.build
        if (made := self._of_integers(x, dims, keepdim, kind)) is not None:
            return made
        x = self.tensors.as_product(x) if kind == "sum" else self.tensors.materialized(x)
        x = build.resolve(x if x.mask is None else self.tensors.expanded_over(x, x.mask.names))
        gone = _chosen(len(x.modes), dims)
        removed = [i for dim in gone for i in x.modes[dim]]
        free = free_indices(x.expr)
        modes = tuple(mode for dim, mode in enumerate(x.modes) if dim not in gone)
        if keepdim:
            modes = tuple(() if dim in gone else mode for dim, mode in enumerate(x.modes))
        expr = x.expr
        if kind == "sum" and (missing := [i for i in removed if i not in free]):
            expr = expr * Literal(float(build.axes.size(missing)))
        left = x.mask if x.mask is not None and not set(removed) & set(x.mask.names) else None
        if not set(removed) & set(free):
            return Value(modes, expr, left)
        lhs = [i for mode in modes for i in mode if i in free]
        return Value(modes, build.statement(lhs, expr, reduction=kind, mask=x.mask), left)

    def _of_integers(self, x: Value, dims: Ints | None, keepdim: bool, kind: str) -> Value | None:
        """The same of integers that stand for numbers; None for other values."""
        form = scaled(self.build, x.expr)
        if form is None or x.mask is not None or isinstance(x.expr, Access):
            return None
        if kind != "sum":
            if not form.is_increasing:
                return None
            return moved_as_integers(self.build, x, lambda whole: self.reduced(whole, dims, keepdim, kind))
        gone, row = _chosen(len(x.modes), dims), letters(len(x.modes))
        rest = "".join(letter for place, letter in enumerate(row) if place not in gone)
        made = contract(self.tensors, f"{row}->{rest}", x)
        left = iter(made.modes)
        modes = [() if place in gone else next(left) for place in range(len(row))]
        return replace(made, modes=tuple(modes)) if keepdim else made

    def mean(self, x: Value, dims: Ints | None, keepdim: bool = False) -> Value:
        """A sum times a number; one statement."""
        held = x if scaled(self.build, x.expr) is not None else self.tensors.as_product(x)
        shape = self.build.shape(held)
        share = 1 / math.prod(shape[n] for n in _chosen(len(shape), dims))
        return self.reduced(self.operations.elementwise(lambda e: e * share, held), dims, keepdim)

    def softmax(self, x: Value, dim: int) -> Value:
        """exp(x - max x) by its sum; where there is a mask, over its points only."""
        build = self.build
        held = build.resolve(self.tensors.expanded(x, [dim]))
        mask = held.mask
        if mask is not None:
            held = self.tensors.expanded_over(held, mask.names)
            scores = self.tensors.materialized(Value(held.modes, held.expr), label="scores", mask=mask)
            held, mask = build.resolve(scores), build.resolve_access(mask)
        held, access = self.tensors.as_tensor(held)
        dim %= len(held.modes)
        removed = held.modes[dim]
        lhs, name = [i for i in access.names if i not in removed], build.result_name
        most = build.statement(lhs, access, reduction="max", mask=mask, label=f"{name}_max")
        above = build.statement(access.names, exp(access - most), mask=mask, label=f"{name}_exp")
        sums = build.statement(lhs, above, label=f"{name}_sum")
        build.hint_order(access, [*lhs, *(i for i in access.names if i in removed)])
        modes = tuple(() if n == dim else mode for n, mode in enumerate(held.modes))
        found = self.operations.elementwise(lambda e, s: e / s, Value(held.modes, above), Value(modes, sums))
        return self.tensors.materialized(found)

    # Along a row

    def row_along(self, x: Value, dim: int) -> tuple[Value, int]:
        """A tensor of its own, with one index along a mode that no view splits any more, or with none."""
        build, tensors = self.build, self.tensors
        held = build.resolve(tensors.expanded(tensors.materialized(x)))
        if not held.modes:
            return held, 0
        dim %= len(held.modes)
        if len(held.modes[dim]) > 1:
            held = tensors.reshaped(held)
        held, _ = tensors.as_tensor(held)
        build.axes.fix(held.modes[dim])
        return held, dim

    def in_row(self, held: Value, dim: int, kind: str, count: int = 1) -> Value:
        """What `kind` makes of such a mode, which stays: of one element, or of this many in order."""
        build = self.build
        held = build.resolve(held)
        if not held.modes[dim]:
            return self.operations.elementwise(lambda e: e * 0, held) if kind in COORDINATES else held
        held, access = self.tensors.as_tensor(held)
        rank = (build.axes.index(count),) if count > 1 else ()
        modes = (*held.modes[:dim], rank, *held.modes[dim + 1 :])
        return Value(modes, build.statement([i for mode in modes for i in mode], access, reduction=kind))

    def running(self, kind: str, x: Value, dim: int) -> Value:
        """Of all elements along a mode up to each."""
        held, dim = self.row_along(x, dim)
        if not held.modes or not held.modes[dim]:
            return held
        held, access = self.tensors.as_tensor(held)
        (index,) = held.modes[dim]
        return Value(held.modes, self.build.statement(access.names, RunningReduction(kind, index, access)))


class Makers:
    """What makes statements of values.

    Attributes:
        build: tensors, statements and indices of the program in the making.
        tensors: values as tensors of their own.
        operations: several values side by side.
        reductions: values along some modes, or in a row.
        views: other shapes of values, and slices.
        scans: loops over the steps of values.
        quantised: integers that stand for real numbers.
    """

    def __init__(self, build: Build) -> None:
        self.build = build
        self.tensors = Tensors(build)
        self.operations = Operations(build, self.tensors)
        self.reductions = Reductions(build, self.tensors, self.operations)
        self.views = Views(build, self.tensors)
        self.scans = Scans(build, self.tensors)
        self.quantised = Quantised(build, self.tensors, self.operations)

    def joined(self, parts: Sequence[Value], dim: int) -> Value:
        """Values one after the other along a mode. In a scan, where nothing moves, it is the sum of what each
        gives by a product with a matrix that has a one for each of its places."""
        if len(parts) == 1:
            return parts[0]
        if self.build.block is None:
            return self.tensors.concatenated(parts, dim)
        sizes = [self.build.shape(part)[dim] for part in parts]
        spread = [
            self.tensors.materialized(self.views.placed(part, dim, sum(sizes[:n]), sum(sizes)))
            for n, part in enumerate(parts)
        ]
        while len(spread) > 1:
            spread = [
                self.tensors.materialized(
                    self.operations.elementwise(lambda x, *more: sum(more, start=x), *group)
                )
                for group in grouped(spread)
            ]
        return spread[0]

    def named_places(
        self, indices: Sequence[Value], sizes: Sequence[int], places: Callable[[int], Value]
    ) -> Value:
        """Where indices name a place, along a mode for each of these sizes: 1 there, else 0. A negative index
        counts from the end; one that is out of range names nothing.

        Args:
            places: gives the numbers from 0 on, as many as a size.
        """
        found: Value | None = None
        for behind, (index, size) in enumerate(zip(reversed(indices), reversed(sizes), strict=True)):
            named = self.tensors.materialized(
                self.operations.elementwise(
                    lambda i, size=size: select(lt(i, 0), i + size, i), self.tensors.materialized(index)
                )
            )
            spread = replace(named, modes=(*named.modes, *[()] * len(sizes)))
            numbers = places(size)
            along = replace(numbers, modes=(*numbers.modes, *[()] * behind))
            equal = self.operations.elementwise(eq, spread, along, condition=True)
            found = equal if found is None else self.operations.elementwise(lambda a, b: a * b, equal, found)
        assert found is not None
        return found
