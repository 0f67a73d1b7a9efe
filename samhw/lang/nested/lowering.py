"""Lowering: a traced function as a program of einsum statements.

Maps are indices of statements, access maps are computed indices, products of matrices and reductions are
sums. A fold or a scan that is more than a reduction is a block ``scan step { .. }`` in the order of its
wavefront: the step is the sequential index m, and a cell at (m, d) is the iteration (d, m - d). What later
steps or other statements read is stored so, skewed. Where the loops have no such iteration, an input of zeros
and ones that samhw gives masks the cell, so that it is zero.

Which operations of a function are part of the expression of what reads them, instead of a statement.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from samhw.errors import InputError
from samhw.lang import Access, Add, Call, Expr, Literal, Mul, Neg, Statement, parse
from samhw.lang.expr import Div, Sub
from samhw.lang.index import Name
from samhw.lang.nested.accesses import TensorOperands
from samhw.lang.nested.associative_folds import FoldReduction, reduction_of
from samhw.lang.nested.copies import items_apart, side_by_side
from samhw.lang.nested.dataflow import BlockNode, Equation, Item, ListView, reads_of, variable
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.hyperplane import Wavefront, hyperplane
from samhw.lang.nested.iterations import STEP, CellPlace
from samhw.lang.nested.lowered import LoweredFunction
from samhw.lang.nested.merging import fuse_access_maps, perfect_nests
from samhw.lang.nested.stacks import Stack, stacks
from samhw.lang.nested.traced_operations import ElementOperation

__all__ = ["lowered"]

_APART = frozenset({"matmul", "sum", "max", "min", "transpose"})
"""Operations over several elements: their statements are sums, or views."""


def inlined(function: NestedFunction) -> frozenset[str]:
    """The operations on single elements that one other such operation reads, once, in the same iteration;
    not that of a reduction, which is not an operation of its program."""
    reduced = set(_reduced(function, function.body))
    counts = Counter(read.buffer for buffer in function.buffers.values() for read in reads_of(buffer))
    found = set()
    for buffer in function.buffers.values():
        if not isinstance(buffer, Equation) or buffer.operation.name in _APART:
            continue
        if buffer.name not in function.scope:  # It only names places.
            continue
        for read in buffer.arguments:
            other = function.buffers[read.buffer]
            if (
                isinstance(other, Equation)
                and other.name not in reduced
                and other.operation.name not in _APART
                and counts[other.name] == 1
                and function.scope[other.name] == function.scope[buffer.name]
                and read.indices == tuple(variable(dim.name) for dim in other.dims)
            ):
                found.add(other.name)
    return frozenset(found)


def _reduced(function: NestedFunction, items: Sequence[Item]) -> Iterator[str]:
    """What reductions take."""
    for item in items:
        if isinstance(item, BlockNode):
            reduction = reduction_of(function, item)
            if reduction is not None:
                yield reduction.operand.buffer
            yield from _reduced(function, item.body)


_FUNCTIONS = {
    **{name: name for name in ("exp", "log", "sqrt", "tanh", "sigmoid", "rint", "sin", "cos")},
    "maximum": "max",
    "minimum": "min",
    "absolute": "abs",
    "less": "lt",
    "less_equal": "le",
    "equal": "eq",
    "where": "select",
}
"""Operations by what the functions of programs are called."""

_OPERATORS = {"add": Add, "subtract": Sub, "multiply": Mul, "divide": Div}


def lowered(function: NestedFunction, copies: bool = False) -> LoweredFunction:
    """A traced function as a program.

    Args:
        function: the function.
        copies: whether each cell of a diagonal has a copy of the hardware, by statements of its own
            (`side_by_side`); else cells are rows of the same statements, one after the other.

    Raises InputError for what statements cannot say: a scan in a scan that is more than a nest, a state that
    is read in another order, items that a list of numbers picks of what a scan computes.
    """
    function = side_by_side(function) if copies else perfect_nests(fuse_access_maps(function))
    return _Lowering(items_apart(function).with_values_only()).lowered()


class _Lowering:
    """The statements, in order; those before a scan come before it while its block is written."""

    def __init__(self, function: NestedFunction) -> None:
        self.function = function
        self.lines: list[str] = []
        self.operands = TensorOperands(function, self.lines)
        self.inlined = inlined(function)

    def lowered(self) -> LoweredFunction:
        """The program."""
        top = CellPlace((), {})
        self.body(self.function.body, top, self.lines)
        for name in self.function.results:
            self.result(name)
        text = "\n".join((*self.operands.declarations(), *self.lines))
        program = parse(text, self.function.name)
        constants = {n: array for n, array in self.operands.constants.items() if n in program.tensors}
        parts = {n: part for n, part in self.operands.parts.items() if n in program.tensors}
        picked = {n: places for n, places in self.operands.picked.items() if n in program.tensors}
        return LoweredFunction(self.function, program, constants, parts, picked)

    def body(self, items: Sequence[Item], place: CellPlace, lines: list[str]) -> None:
        """What an iteration computes."""
        for item in stacks(self.function, items):
            if isinstance(item, Stack):
                self.scan(item, place, lines)
            elif isinstance(item, BlockNode):
                self.block(item, place, lines)
            elif self.is_computed(item):
                self.equation(item, place, lines)

    def is_computed(self, name: str) -> bool:
        """Whether a statement of its own computes a buffer: not where it is a view, as a transposition is."""
        buffer = self.function.buffers[name]
        is_view = isinstance(buffer, Equation) and buffer.operation.name == "transpose"
        return isinstance(buffer, Equation) and not is_view and name not in self.inlined

    def block(self, block: BlockNode, place: CellPlace, lines: list[str]) -> None:
        """A nest of operators: indices, a reduction, or a scan."""
        reduction = reduction_of(self.function, block)
        if reduction is not None:
            inner = place.with_loops(block.loops, self.operands.indices)
            self.body(block.body[:-1], inner, lines)
            self.reduction(reduction, place.with_loops(block.loops[:-1], self.operands.indices), lines)
            return
        wavefront = hyperplane(self.function, block)
        if wavefront is None or wavefront.distances:
            self.refuse(block)
        self.body(block.body, place.with_loops(block.loops, self.operands.indices), lines)

    def refuse(self, block: BlockNode) -> NoReturn:
        """Raises InputError for a block that is not a scan of its own."""
        where = f", line {block.loops[0].line}" if block.loops[0].line else ""
        raise InputError(
            f"{block.loops[0].operator}{where} is inside of another scan, between other operations, or "
            "reads its state in an order of its own; a program has only nests of scans; write it as one"
        )

    def scan(self, stack: Stack, place: CellPlace, lines: list[str]) -> None:
        """The block of a scan."""
        if place.wavefront is not None:
            self.refuse(stack.blocks[0])
        step = self.operands.indices.of(STEP, stack.rounds)
        inside = frozenset(name for block in stack.blocks for name in block.names)
        cells = [
            self.cell(wavefront, step, offset, inside, place)
            for wavefront, offset in zip(stack.wavefronts, stack.offsets, strict=True)
        ]
        for block, cell in zip(stack.blocks, cells, strict=True):
            self.announce(block.body, cell)
        inner_lines: list[str] = []
        for block, cell in zip(stack.blocks, cells, strict=True):
            self.body(block.body, cell, inner_lines)
        lines += [f"scan {step} {{", *(f"  {line}" for line in inner_lines), "}"]

    def cell(
        self, wavefront: Wavefront, step: str, offset: int, inside: frozenset[str], place: CellPlace
    ) -> CellPlace:
        """The place of a block's cells."""
        names = {
            loop.name: self.operands.indices.of(loop.name, loop.extent)
            for n, loop in enumerate(wavefront.loops)
            if n != wavefront.follows
        }
        found = CellPlace(
            (*place.loops, *wavefront.loops),
            {**place.names, **names},
            wavefront,
            len(place.loops),
            own=frozenset(wavefront.blocks[0].names),
            inside=inside,
            step=step,
            offset=offset,
        )
        return replace(found, mask=self.operands.mask(found))

    def announce(self, items: Sequence[Item], place: CellPlace) -> None:
        """Tensors for what a scan computes: statements read what later ones gave a step before."""
        for item in items:
            if isinstance(item, BlockNode):
                reduction = reduction_of(self.function, item)
                inner = place.with_loops(item.loops, self.operands.indices)
                if reduction is not None:
                    outer = place.with_loops(item.loops[:-1], self.operands.indices)
                    axes = self.operands.axes(self.function.buffers[reduction.result].shape)
                    self.operands.store(reduction.result, outer, axes)
                self.announce(item.body, inner)
            elif self.is_computed(item):
                self.operands.store(item, place, self.operands.axes(self.function.buffers[item].shape))

    def equation(self, name: str, place: CellPlace, lines: list[str]) -> None:
        """The statement of an operation."""
        buffer = self.function.buffers[name]
        assert isinstance(buffer, Equation)
        axes = self.operands.axes(buffer.shape)
        kind, right = self.right(buffer, axes, place, lines)
        self.statement(name, place, axes, kind, right, lines)

    def statement(
        self,
        name: str,
        place: CellPlace,
        axes: Sequence[str | None],
        kind: str,
        right: Expr,
        lines: list[str],
    ) -> None:
        """A statement that computes a buffer in all iterations, and where it stores it."""
        stored = self.operands.store(name, place, axes)
        indices = [
            *([Name(place.step)] if stored.stepped else []),
            *map(Name, (*place.rows, *filter(None, axes))),
        ]
        mask = None if place.mask is None else self.operands.valid(place)
        rows = [n for n in place.rows if mask is None or n not in mask.variables]
        right = self.operands.spread(right, [*rows, *filter(None, axes)])
        lines.append(str(Statement(Access(stored.tensor, tuple(indices)), right, reduction=kind, mask=mask)))

    def right(
        self, buffer: Equation, axes: Sequence[str | None], place: CellPlace, lines: list[str]
    ) -> tuple[str, Expr]:
        """The reduction and the right side of an operation's statement."""
        name, operation = buffer.operation.name, buffer.operation
        shapes = [self.function.buffers[read.buffer].shape for read in buffer.arguments]

        def operand(number: int, at: Sequence[str | None]) -> Expr:
            read = buffer.arguments[number]
            source = self.function.buffers[read.buffer]
            if source.name in self.inlined and isinstance(source, Equation):
                own = zip(at[len(at) - len(source.shape) :], source.shape, strict=True)
                return self.right(source, [x if e > 1 else None for x, e in own], place, lines)[1]
            return self.operands.of(read, at, place, lines)

        if name == "matmul":
            one, _ = shapes
            (along,) = self.operands.axes(one[-1:], "s")
            left, right = axes[: len(one) - 1], axes[len(one) - 1 :]
            found = Mul(operand(0, [*left, along]), operand(1, [along, *right]))
            return "sum", self.operands.spread(found, [*filter(None, [along])])
        if name in ("sum", "max", "min"):
            (shape,) = shapes
            gone = range(len(shape)) if operation.axis is None else (operation.axis,)
            inner = self.operands.axes(shape, "s")
            kept = iter(axes)
            at: list[str | None] = []
            for n in range(len(shape)):
                at.append(inner[n] if n in gone else next(kept))
                if n in gone and operation.keepdims:
                    next(kept)
            return name, self.operands.spread(operand(0, at), [*filter(None, (inner[n] for n in gone))])
        values = [operand(n, axes[len(axes) - len(shape) :]) for n, shape in enumerate(shapes)]
        number = _number(operation, values)
        if number is not None:
            return "sum", number
        if name == "negative":
            return "sum", Neg(values[0])
        if name in _OPERATORS:
            return "sum", _OPERATORS[name](*values)
        return "sum", Call(_FUNCTIONS[name], tuple(values))

    def reduction(self, reduction: FoldReduction, place: CellPlace, lines: list[str]) -> None:
        """A fold as a sum, a maximum or a minimum."""
        axes = self.operands.axes(self.function.buffers[reduction.result].shape)
        inner = place.with_loops((reduction.loop,), self.operands.indices)
        right = self.operands.of(reduction.operand, axes, inner, lines)
        # What is the same in all steps is added as often.
        right = self.operands.spread(right, [inner.names[reduction.loop.name]])
        self.statement(reduction.result, place, axes, reduction.kind, right, lines)

    def result(self, name: str) -> None:
        """The statement of a result."""
        buffer = self.function.buffers[name]
        assert isinstance(buffer, ListView)
        place = self.operands.own_place(buffer.dims)
        axes = self.operands.axes(buffer.shape)
        right = self.operands.of(buffer.source, axes, place, self.lines)
        self.statement(name, place, axes, "sum", right, self.lines)


def _number(operation: ElementOperation, values: Sequence[Expr]) -> Literal | None:
    """What an operation gives for numbers alone, which programs have worked out; None for other operands."""
    numbers = [value.value for value in values if isinstance(value, Literal)]
    if len(numbers) < len(values):
        return None
    with np.errstate(all="ignore"):
        found = float(operation(*numbers))
    if not np.isfinite(found):
        return None
    return Literal(int(found) if found.is_integer() else found)
