"""The program in the making: its tensors, and its statements in the order of the module's operators. The
hardware of one statement can take so much; of what is beyond, the importer makes several."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from samhw.graph.numerics import Float, ValueType
from samhw.importers.core.axes import Axes
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.value import (
    NO_HINTS,
    Fetch,
    Hints,
    ScanBlock,
    Stored,
    TensorStep,
    UnsupportedError,
    Value,
)
from samhw.lang import COORDINATES, RANKINGS
from samhw.lang.expr import Access, Concat, Expr, Literal, Reshape, RunningReduction
from samhw.lang.traverse import accesses, free_indices, renamed, with_accesses
from samhw.names import Names, plain

__all__ = ["DEEPEST", "MOST_JOINED", "Build", "Made", "grouped"]

Item = TypeVar("Item")

DEEPEST = 15
"""The levels of a stream, and so the loops of a statement."""

MOST_JOINED = 9
"""The streams that meet in one place, and so the terms of a sum, and the parts of a concatenation. There is
room for one more, which is what says where a dense result has values."""


def grouped(items: Sequence[Item]) -> list[Sequence[Item]]:
    """Neighbours in as few groups as can be, of about one size, each few enough to meet in one place."""
    count = -(-len(items) // MOST_JOINED)
    ends = [len(items) * n // count for n in range(count + 1)]
    return [items[a:b] for a, b in pairwise(ends)]


Indices = tuple[str, ...]

GREATEST_MASKED = -1e8
"""What is no greater than this counts as -inf: its exponential is zero beside that of any score."""


@dataclass
class Made:
    """A statement in the making."""

    lhs: Access
    rhs: Expr
    reduction: str = "sum"
    mask: Access | None = None
    block: ScanBlock | None = None
    """The scan that repeats it."""

    @property
    def reads(self) -> tuple[Access, ...]:
        """What it reads, each access once."""
        found = [*accesses(self.rhs), *(() if self.mask is None else (self.mask,))]
        return tuple(dict.fromkeys(found))

    @property
    def stands_alone(self) -> bool:
        """Whether its right side is a whole that nothing goes into: elements that move, a running reduction,
        what a coordinate is found of, or what is put in order."""
        goes_along = self.reduction in COORDINATES or self.reduction in RANKINGS
        return goes_along or isinstance(self.rhs, Reshape | Concat | RunningReduction)

    @property
    def innermost(self) -> str | None:
        """The index that must be the innermost one of its loops, but for `rank`."""
        if isinstance(self.rhs, RunningReduction):
            return self.rhs.index
        if self.reduction in COORDINATES or self.reduction in RANKINGS:
            (index,) = (index for index in free_indices(self.rhs) if index not in self.lhs.names)
            return index
        return None

    @property
    def rank(self) -> str | None:
        """The index of what is put in order, which is on the left alone."""
        if self.reduction not in RANKINGS:
            return None
        (index,) = (index for index in self.lhs.names if index not in free_indices(self.rhs))
        return index

    @property
    def indices(self) -> Indices:
        """Of all that it reads and writes."""
        rows = [access.names for access in (*self.reads, self.lhs)]
        return tuple(dict.fromkeys(index for row in rows for index in row))


class Build:
    """Collects tensors and statements. Names and scopes come from the operator at hand.

    Attributes:
        stored: the tensors, by name.
        result_name: what a statement's result is called after, where nobody says.
        scope: the path of the module that the operator stands in.
        block: the scan whose statements are being made.
        real: the type of floating point, where other tensors are integers.
    """

    def __init__(self) -> None:
        self.axes = Axes()
        self.stored: dict[str, Stored] = {}
        self.statements: list[Made] = []
        self.names = Names(("value", "tensor", "fuse", "where", "order"))
        self.result_name = "t"
        self.scope = ""
        self.block: ScanBlock | None = None
        self.real: ValueType = Float("f32")
        self._inputs: dict[object, str] = {}

    @property
    def read(self) -> set[str]:
        """The tensors that statements read, or that scans start from."""
        accesses = {access for made in self.statements for access in made.reads}
        blocks = {made.block for made in self.statements if made.block is not None}
        return {a.tensor for a in (*accesses, *(a for block in blocks for a in block.starts.values()))}

    # Tensors

    def name(self, label: str) -> str:
        """A name that no other tensor has."""
        return self.names.fresh(plain(label).strip("_")[:120] or "t")

    def input(
        self,
        key: object,
        label: str,
        example: HostArray,
        fetch: Fetch,
        hints: Hints = NO_HINTS,
        *,
        kind: ValueType | None = None,
        constant: bool = False,
        is_free: bool = False,
        picks: bool = False,
    ) -> Value:
        """An input, made once for each key; `example` is its data for the example arguments.

        Args:
            kind: its type, where it has one of its own.
            constant: its data are the same in every run.
            is_free, picks: as in `Stored`.
        """
        if key not in self._inputs:
            modes = tuple(self.axes.index(size) for size in example.shape if size != 1)
            name = self.name(label)
            self.stored[name] = Stored(
                name,
                modes,
                fetch,
                example,
                hints,
                kind=kind,
                is_constant=constant,
                is_free=is_free,
                picks=picks,
            )
            self._inputs[key] = name
        stored = self.stored[self._inputs[key]]
        fresh = iter([self.axes.like(index) for index in stored.modes])
        assert stored.example is not None
        shape = [() if size == 1 else (next(fresh),) for size in stored.example.shape]
        return Value(tuple(shape), Access.of(stored.name, (i for mode in shape for i in mode)))

    def constant(
        self,
        held: HostArray,
        label: str,
        hints: Hints = NO_HINTS,
        *,
        kind: ValueType | None = None,
        picks: bool = False,
    ) -> Value:
        """An input that has the same data in every run, made once for all who give these data; without a type
        of its own, it takes that of what it meets."""
        key, is_free = ("data", held.content, hints, kind), kind is None
        return self.input(
            key, label, held, lambda _: held, hints, kind=kind, constant=True, is_free=is_free, picks=picks
        )

    def literal(self, number: float, shape: Sequence[int] = ()) -> Value:
        """One number, everywhere. One that is not finite is stored: programs do not have it."""
        modes = tuple(() if size == 1 else (self.axes.index(size),) for size in shape)
        if math.isfinite(number):
            return Value(modes, Literal(number))
        return Value(modes, self.constant(HostArray.number(number), "number").expr)

    def statement(
        self,
        lhs: Sequence[str],
        rhs: Expr,
        *,
        label: str = "",
        reduction: str = "sum",
        mask: Access | None = None,
        kind: ValueType | None = None,
    ) -> Access:
        """Adds a statement; gives its result, of a type of its own or of what is computed, under the indices
        of the left side.

        Raises:
            UnsupportedError: for one that moves elements in a scan, where none can stand.
        """
        if self.block is not None and isinstance(rhs, Reshape | Concat):
            raise UnsupportedError(
                "moves elements from one step to the next of a scan", "reshape before the loop, or after it"
            )
        name = self.name(label or self.result_name)
        access = Access.of(name, lhs)
        self.stored[name] = Stored(name, tuple(lhs), scope=self.scope, kind=kind)
        self.statements.append(Made(access, rhs, reduction, mask, self.block))
        return access

    def rename(self, result: Access, name: str) -> Access:
        """Gives a tensor that no statement reads a name that has been kept for it; one that a scan makes step
        by step stays what it is called."""
        (made,) = (made for made in self.statements if made.lhs.tensor == result.tensor)
        if made.block is not None:
            return result
        stored = self.stored.pop(result.tensor)
        stored.name = name
        self.stored[name] = stored
        made.lhs = replace(made.lhs, tensor=name)
        return replace(result, tensor=name)

    def present_step(self, access: Access, index: str) -> Access:
        """What a tensor has at the present step of the scan that is being made, whose steps are those of an
        index of the access: a tensor under the other indices."""
        block = self.block
        assert block is not None
        place = access.names.index(index)
        own = self.axes.resolved(self.stored[access.tensor].modes)[place]
        left = tuple(name for name in access.names if name != index)
        if (access.tensor, own) not in block.slices:
            step = TensorStep(access.tensor, own, block)
            block.slices[access.tensor, own] = self.step(f"{access.tensor}_now", left, step)
        return Access.of(block.slices[access.tensor, own], left)

    def step(self, label: str, like: Sequence[str], step: TensorStep) -> str:
        """A tensor that is one step of another one, of indices like these; gives its name."""
        name = self.name(label)
        modes = tuple(map(self.axes.like, like))
        self.stored[name] = Stored(name, modes, scope=self.scope, step=step)
        return name

    def hint_order(self, access: Access, order: Sequence[str]) -> None:
        """Says in which order of the access a result would best be stored, unless somebody has."""
        stored = self.stored[access.tensor]
        if stored.fetch is None and not stored.hints.order:
            own = dict(zip(access.names, self.axes.resolved(stored.modes), strict=True))
            stored.hints = replace(stored.hints, order=tuple(own[index] for index in order))

    # Indices

    def shape(self, value: Value) -> tuple[int, ...]:
        """As in PyTorch."""
        return tuple(self.axes.size(mode) for mode in value.modes)

    def resolve(self, value: Value) -> Value:
        """The value with parts in the place of the indices that have split."""
        modes = tuple(self.axes.resolved(mode) for mode in value.modes)
        mask = None if value.mask is None else self.resolve_access(value.mask)
        return replace(value, modes=modes, expr=self.resolve_expr(value.expr), mask=mask)

    def resolve_expr(self, expr: Expr) -> Expr:
        """The expression, with parts likewise."""
        return with_accesses(expr, self.resolve_access)

    def resolve_access(self, access: Access) -> Access:
        """The tensor, with parts likewise."""
        return Access.of(access.tensor, self.axes.resolved(access.names))

    def renamed(self, value: Value, names: Mapping[str, str]) -> Value:
        """The value under other indices, all at once."""
        value = self.resolve(value)
        modes = tuple(tuple(names.get(index, index) for index in mode) for mode in value.modes)
        mask = None if value.mask is None else value.mask.renamed(names)
        return replace(value, modes=modes, expr=renamed(value.expr, names), mask=mask)

    def copy(self, value: Value) -> Value:
        """The value under indices of its own."""
        value = self.resolve(value)
        return self.renamed(value, {index: self.axes.like(index) for index in value.indices})
