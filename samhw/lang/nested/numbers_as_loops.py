"""Operations on elements as operators on their numbers: a product of matrices is two maps and a reduction.

This exposes the axes of elements to everything that works on loops (the FractalTensor paper, section 5.1,
operation node lowering). Sums are taken from the first number to the last, so that products of floating-point
matrices may differ in their rounding from NumPy's.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from samhw.lang.nested.dataflow import (
    BlockNode,
    Buffer,
    Constants,
    Dim,
    ElementRead,
    Equation,
    Index,
    Item,
    ListView,
    Loop,
    Merged,
    Pieces,
    Stretch,
    constant,
    variable,
    with_reads,
)
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.recording import LOOPS, OWN
from samhw.lang.nested.traced_operations import ELEMENTWISE, ElementOperation
from samhw.names import Names

__all__ = ["operations_as_loops"]


def operations_as_loops(function: NestedFunction) -> NestedFunction:
    """The function with numbers for elements: a list of [2, 3] of [4] becomes one of [2, 3, 4] of numbers.

    Each operation becomes a block of its own, inside of the operators that it is in.
    """
    lowering = _Lowering(function)
    body = lowering.items(function.body, ())
    return replace(function, buffers=lowering.buffers, body=body).without_unused()


class _Lowering:
    """The new definitions, and the old ones that are looked up."""

    def __init__(self, function: NestedFunction) -> None:
        self.old = function.buffers
        self.names = Names(function.buffers)
        self.buffers = {
            name: self.listed(buffer)
            for name, buffer in function.buffers.items()
            if not isinstance(buffer, Equation)
        }

    def axes(self, buffer: Buffer) -> tuple[Dim, ...]:
        """The axes of a buffer's elements, as dimensions of a list."""
        own = [d.name for d in buffer.dims if d.name in OWN]
        return tuple(Dim(OWN[len(own) + n], extent) for n, extent in enumerate(buffer.shape))

    def listed(self, buffer: Buffer) -> Buffer:
        """A buffer that is not an operation's, with the axes of its elements as dimensions."""
        axes = self.axes(buffer)
        wider = replace(buffer, dims=(*buffer.dims, *axes), shape=())
        names = tuple(variable(axis.name) for axis in axes)
        if isinstance(buffer, Merged):
            return wider
        return with_reads(wider, lambda read: self.read(read, names))

    def read(self, read: ElementRead, places: tuple[Index, ...]) -> ElementRead:
        """The number of an element at a place, under the rules of broadcasting."""
        shape = self.old[read.buffer].shape
        fitting = places[len(places) - len(shape) :]
        at = tuple(constant(0) if extent == 1 else p for extent, p in zip(shape, fitting, strict=True))
        return ElementRead(read.buffer, (*read.indices, *at))

    def items(self, items: tuple[Item, ...], loops: tuple[Loop, ...]) -> tuple[Item, ...]:
        """A body, inside of these loops."""
        found: list[Item] = []
        for item in items:
            if isinstance(item, BlockNode):
                found.append(replace(item, body=self.items(item.body, (*loops, *item.loops))))
                continue
            buffer = self.old[item]
            if isinstance(buffer, Equation):
                found += self.operation(buffer, loops)
            else:
                found.append(item)
        return tuple(found)

    def operation(self, buffer: Equation, loops: tuple[Loop, ...]) -> Iterator[Item]:
        """The items that compute what an operation gives."""
        axes = tuple(Loop(LOOPS[len(loops) + n], extent, "map") for n, extent in enumerate(buffer.shape))
        places = tuple(variable(loop.name) for loop in axes)
        name = buffer.operation.name
        if name in ELEMENTWISE:
            reads = tuple(self.read(read, places) for read in buffer.arguments)
            yield from _block(axes, (self.defined(buffer.name, (*loops, *axes), buffer.operation, reads),))
        elif name == "transpose":
            dims = (*loops, *axes)
            (source,) = buffer.arguments
            self.buffers[buffer.name] = ListView(
                buffer.name, _dims(dims), (), self.read(source, places[::-1])
            )
            yield buffer.name
        elif name == "matmul":
            yield from self.product(buffer, loops, axes)
        else:
            yield from self.reduction(buffer, loops, axes)

    def product(self, buffer: Equation, loops: tuple[Loop, ...], axes: tuple[Loop, ...]) -> Iterator[Item]:
        """Maps over the axes of a product of matrices, and a sum along the inner one."""
        one, other = buffer.arguments
        rows = len(self.old[one.buffer].shape) - 1
        places = tuple(variable(loop.name) for loop in axes)
        along = Loop(LOOPS[len(loops) + len(axes)], self.old[one.buffer].shape[-1], "reduce")
        around = (*loops, *axes, along)
        inner = variable(along.name)
        factors = (
            ElementRead(one.buffer, (*one.indices, *places[:rows], inner)),
            ElementRead(other.buffer, (*other.indices, inner, *places[rows:])),
        )
        term = self.names.fresh(f"{buffer.name}_term")
        body = [self.defined(term, around, ElementOperation("multiply"), factors)]
        body += self.running(buffer.name, around, "add", self.here(term, around))
        yield BlockNode((*axes, along), tuple(body))

    def reduction(self, buffer: Equation, loops: tuple[Loop, ...], axes: tuple[Loop, ...]) -> Iterator[Item]:
        """Maps over the axes that stay, and reductions along the others."""
        (source,) = buffer.arguments
        shape = self.old[source.buffer].shape
        gone = range(len(shape)) if buffer.operation.axis is None else (buffer.operation.axis,)
        kept = iter(variable(loop.name) for loop in axes)
        depth = len(loops) + len(axes)
        inner = {n: Loop(LOOPS[depth + k], shape[n], "reduce") for k, n in enumerate(gone)}
        places: list[Index] = []
        for n in range(len(shape)):
            if n in inner:
                places.append(variable(inner[n].name))
                if buffer.operation.keepdims:
                    next(kept)
            else:
                places.append(next(kept))
        around = (*loops, *axes, *inner.values())
        operation = {"sum": "add", "max": "maximum", "min": "minimum"}[buffer.operation.name]
        read = ElementRead(source.buffer, (*source.indices, *places))
        yield BlockNode(
            (*axes, *inner.values()), tuple(self.running(buffer.name, around, operation, read, len(inner)))
        )

    def running(
        self, name: str, around: tuple[Loop, ...], operation: str, read: ElementRead, levels: int = 1
    ) -> Iterator[str]:
        """A reduction along the innermost loops, in the order of their steps; its end has the given name."""
        start = {"add": 0.0, "maximum": -np.inf, "minimum": np.inf}[operation]
        first = str(start)
        self.buffers.setdefault(
            first, Constants(first, (), (), np.asarray(0 if operation == "add" else start))
        )
        state, total = self.names.fresh(f"{name}_sum"), self.names.fresh(f"{name}_next")
        dims = _dims(around)
        earlier = ElementRead(first)
        for level in range(levels):
            # The end of the loops inside of this one, one step before.
            at = len(around) - levels + level
            loop = around[at]
            before = tuple(
                variable(d.name) - 1 if n == at else constant(d.extent - 1) if n > at else variable(d.name)
                for n, d in enumerate(dims)
            )
            part = state if level == levels - 1 else self.names.fresh(f"{name}_sum")
            pieces = [Stretch(0, 1, earlier)]
            if loop.extent > 1:
                pieces.append(Stretch(1, loop.extent, ElementRead(total, before)))
            self.buffers[part] = Pieces(part, dims, (), at, tuple(pieces), "state")
            yield part
            earlier = self.here(part, around)
        yield self.defined(total, around, ElementOperation(operation), (self.here(state, around), read))
        outer = around[: len(around) - levels]
        end = (*(variable(o.name) for o in outer), *(constant(o.extent - 1) for o in around[len(outer) :]))
        self.buffers[name] = ListView(name, _dims(outer), (), ElementRead(total, end))
        yield name

    def defined(
        self, name: str, loops: tuple[Loop, ...], operation: ElementOperation, reads: tuple[ElementRead, ...]
    ) -> str:
        """An operation on numbers, in these loops."""
        self.buffers[name] = Equation(name, _dims(loops), (), operation, reads)
        return name

    def here(self, name: str, loops: tuple[Loop, ...]) -> ElementRead:
        """What a buffer has in this iteration."""
        return ElementRead(name, tuple(variable(loop.name) for loop in loops))


def _block(axes: tuple[Loop, ...], body: tuple[Item, ...]) -> tuple[Item, ...]:
    return (BlockNode(axes, body),) if axes else body


def _dims(loops: tuple[Loop, ...]) -> tuple[Dim, ...]:
    return tuple(Dim(loop.name, loop.extent) for loop in loops)
