"""Slices of what is computed: the same computed of slices of the inputs, as long as nothing is computed
twice."""

from dataclasses import dataclass

from samhw.importers.core.build import Build
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.value import Arguments, Hints, Stored
from samhw.lang.expr import Access, Expr
from samhw.lang.traverse import accesses, with_accesses

__all__ = ["Piece"]


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
            [i for i in lhs if i is not None], rhs, label=access.tensor, reduction=made.reduction, mask=mask
        )
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
        value = build.input(key, f"{stored.name}_{self.start}", example, fetch_slice, Hints(fmt))
        assert isinstance(value.expr, Access)
        return value.expr.tensor
