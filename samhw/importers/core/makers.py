"""What importers of operators stand on, in whatever framework: all that makes statements of values."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from samhw.importers.core.draft import Build, grouped
from samhw.importers.core.element_expressions import Operations
from samhw.importers.core.quantised import Quantised
from samhw.importers.core.reductions import Reductions
from samhw.importers.core.regrouping import Views
from samhw.importers.core.scan_blocks import Scans
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import Value
from samhw.lang.functions import eq, lt, select

__all__ = ["Makers"]


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
