"""The program in the making: its tensors, and its statements in the order of the module's operators."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from samhw.frontend.expr import Access, Concat, Expr, Literal, Mul, Reshape, accesses, free_indices, rewritten
from samhw.importers.core.axes import Axes, AxisConflict
from samhw.importers.core.bounds import MOST_JOINED, grouped
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.value import Fetch, Stored, Value
from samhw.names import Names, plain

__all__ = ["Build", "Made"]

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

    @property
    def reads(self) -> tuple[Access, ...]:
        """What it reads, each access once."""
        found = [*accesses(self.rhs), *(() if self.mask is None else (self.mask,))]
        return tuple(dict.fromkeys(found))

    @property
    def indices(self) -> Indices:
        """Of all that it reads and writes."""
        rows = [access.indices for access in (*self.reads, self.lhs)]
        return tuple(dict.fromkeys(index for row in rows for index in row))


class Build:
    """Collects statements. Names and scopes come from the operator at hand."""

    def __init__(self) -> None:
        self.axes = Axes()
        self.stored: dict[str, Stored] = {}
        self.statements: list[Made] = []
        self.names = Names(("value", "tensor", "fuse", "where", "order"))
        self.wish_name = "t"
        self.scope = ""
        self._inputs: dict[object, str] = {}

    # Tensors

    def name(self, wish: str) -> str:
        """A name that no other tensor has."""
        return self.names.fresh(plain(wish).strip("_")[:120] or "t")

    def input(
        self, key: object, wish: str, example: HostArray, fetch: Fetch, format: str | None = None
    ) -> Value:
        """An input, made once for each key; `example` is its data for the example arguments."""
        if key not in self._inputs:
            modes = tuple(self.axes.index(size) for size in example.shape if size != 1)
            name = self.name(wish)
            self.stored[name] = Stored(name, modes, fetch, example, format)
            self._inputs[key] = name
        stored = self.stored[self._inputs[key]]
        fresh = iter([self.axes.like(index) for index in stored.modes])
        assert stored.example is not None
        shape = [() if size == 1 else (next(fresh),) for size in stored.example.shape]
        return Value(tuple(shape), Access(stored.name, tuple(i for mode in shape for i in mode)))

    def constant(self, held: HostArray, wish: str, format: str | None = None) -> Value:
        """An input that has the same data in every run, made once for all who give these data."""
        return self.input(("data", held.content, format), wish, held, lambda _: held, format)

    def statement(
        self,
        lhs: Sequence[str],
        rhs: Expr,
        *,
        wish: str = "",
        reduction: str = "sum",
        mask: Access | None = None,
    ) -> Access:
        """Adds a statement; gives its result under the indices of the left side."""
        name = self.name(wish or self.wish_name)
        access = Access(name, tuple(lhs))
        self.stored[name] = Stored(name, tuple(lhs), scope=self.scope)
        self.statements.append(Made(access, rhs, reduction, mask))
        return access

    # Values

    def shape(self, value: Value) -> tuple[int, ...]:
        """As PyTorch has it."""
        return tuple(self.axes.size(mode) for mode in value.modes)

    def resolve(self, value: Value) -> Value:
        """The value with parts in the place of the indices that have split."""
        modes = tuple(self.axes.resolved(mode) for mode in value.modes)
        mask = None if value.mask is None else self.resolved_access(value.mask)
        return replace(value, modes=modes, expr=self.resolved(value.expr), mask=mask)

    def resolved(self, expr: Expr) -> Expr:
        """The expression, with parts likewise."""
        return rewritten(expr, lambda node: self.resolved_access(node) if isinstance(node, Access) else node)

    def resolved_access(self, access: Access) -> Access:
        return replace(access, indices=self.axes.resolved(access.indices))

    def renamed(self, value: Value, names: Mapping[str, str]) -> Value:
        """The value under other indices, all at once."""

        def change(node: Expr) -> Expr:
            if isinstance(node, Access):
                return replace(node, indices=tuple(names.get(index, index) for index in node.indices))
            return node

        value = self.resolve(value)
        modes = tuple(tuple(names.get(index, index) for index in mode) for mode in value.modes)
        mask = None if value.mask is None else change(value.mask)
        assert mask is None or isinstance(mask, Access)
        return replace(value, modes=modes, expr=rewritten(value.expr, change), mask=mask)

    def copy(self, value: Value) -> Value:
        """The value under indices of its own."""
        value = self.resolve(value)
        return self.renamed(value, {index: self.axes.like(index) for index in value.indices})

    def literal(self, number: float, shape: Sequence[int] = ()) -> Value:
        """One number, everywhere. One that is not finite is stored: programs do not have it."""
        modes = tuple(() if size == 1 else (self.axes.index(size),) for size in shape)
        if math.isfinite(number):
            return Value(modes, Literal(number))
        return Value(modes, self.constant(HostArray.number(number), "number").expr)

    def stored_value(self, value: Value, *, wish: str = "", mask: Access | None = None) -> Value:
        """The value as a tensor of its own, or as a number; a mask as for a statement."""
        value = self.resolve(value)
        if isinstance(value.expr, Access | Literal) and mask is None:
            return value
        used = free_indices(value.expr)
        if not used and isinstance(value.expr, Literal):
            return value
        lhs = [index for index in value.indices if index in used]
        return replace(value, expr=self.statement(lhs, value.expr, wish=wish, mask=mask))

    def tensor(self, value: Value) -> tuple[Value, Access]:
        """The value as a tensor, also where it is one number all over."""
        value = self.stored_value(value)
        if isinstance(value.expr, Literal):
            number = float(value.expr.value)
            value = replace(value, expr=self.constant(HostArray.number(number), "number").expr)
        assert isinstance(value.expr, Access)
        return value, value.expr

    def whole(self, value: Value, modes: Sequence[int] | None = None) -> Value:
        """The value with an expression that has all indices of the modes, by default of all modes."""
        value = self.resolve(value)
        wanted = value.indices if modes is None else tuple(i for mode in modes for i in value.modes[mode])
        for index in wanted:
            if index not in free_indices(value.expr):
                ones = self.ones(self.axes.size([index]))
                self.axes.align([index], ones.indices)
                (named,) = self.renamed(ones, {ones.indices[0]: index}).indices
                assert isinstance(ones.expr, Access)
                value = replace(value, expr=Mul(value.expr, replace(ones.expr, indices=(named,))))
        return self.resolve(value)

    def ones(self, size: int) -> Value:
        """A vector of ones."""
        return self.constant(HostArray.ones(size), f"ones_{size}")

    def broadcast(self, values: Sequence[Value]) -> tuple[tuple[Indices, ...], list[Expr], Access | None]:
        """Values side by side, as PyTorch broadcasts them: the modes of the result, the expression of each
        under their indices, and the mask."""
        rank = max(len(value.modes) for value in values)
        result: list[Indices] = [()] * rank
        held: list[Value] = []
        for value in values:
            value = self.copy(value)
            try:
                value = self._onto(value, result)
            except AxisConflict:
                value = self._onto(self.reshaped(value), result)
            held.append(value)
        held = [self.resolve(value) for value in held]
        masks = dict.fromkeys(value.mask for value in held)
        return (
            tuple(self.axes.resolved(mode) for mode in result),
            [value.expr for value in held],
            self.both_masks([mask for mask in masks if mask is not None]),
        )

    def _onto(self, value: Value, result: list[Indices]) -> Value:
        """The value under the indices of the result; a mode that the result lacks is added to it."""
        start = len(result) - len(value.modes)
        for n in range(len(value.modes)):
            mode = self.axes.resolved(value.modes[n])
            if not mode:
                continue
            if not result[start + n]:
                result[start + n] = mode
                continue
            pairs = self.axes.align(result[start + n], mode)
            value = self.renamed(value, pairs)
        return value

    def both_masks(self, masks: Sequence[Access]) -> Access | None:
        """What is in all masks."""
        if not masks:
            return None
        result, *others = masks
        for other in others:
            product = Mul(result, other)
            lhs = free_indices(product)
            result = self.statement(lhs, product, wish="mask")
        return result

    def reshaped(self, value: Value) -> Value:
        """The value with its elements moved, each mode an axis of its own: what views cannot do."""
        value = self.whole(value)
        value, access = self.tensor(self.in_order(value))
        fresh = [
            () if self.axes.size(mode) == 1 else (self.axes.index(self.axes.size(mode)),)
            for mode in value.modes
        ]
        lhs = [index for mode in fresh for index in mode]
        return Value(tuple(fresh), self.statement(lhs, Reshape(access)))

    def in_order(self, value: Value) -> Value:
        """The value stored with its modes in their order."""
        value, access = self.tensor(value)
        if access.indices == value.indices and self.is_free(access):
            return value
        return replace(value, expr=self.statement(value.indices, access * Literal(1)))

    def is_free(self, access: Access) -> bool:
        """Whether its tensor may be stored in the order of the access."""
        stored = self.stored[access.tensor]
        return stored.fetch is None or stored.format is None

    def joined(self, parts: Sequence[Value], dim: int) -> Value:
        """Values one behind the other along a mode; many in several steps."""
        if len(parts) > MOST_JOINED:
            return self.joined([self.joined(group, dim) for group in grouped(parts)], dim)
        held = [self.copy(self.whole(part)) for part in parts]
        held = [self._with_one_index(part, dim) for part in held]
        first = held[0]
        sizes = [self.axes.size(part.modes[dim]) for part in held]
        index = self.axes.index(sum(sizes))
        self.axes.fix([index])
        accesses = []
        for n, part in enumerate(held):
            for mode in range(len(first.modes)):
                if mode != dim and n:
                    try:
                        pairs = self.axes.align(first.modes[mode], part.modes[mode])
                    except AxisConflict:
                        part = self.reshaped(part)
                        pairs = self.axes.align(first.modes[mode], part.modes[mode])
                    part = self.renamed(part, pairs)
            (own,) = part.modes[dim]
            self.axes.fix([own])
            part, access = self.tensor(self.renamed(part, {own: index}))
            accesses.append(access)
        first = self.resolve(first)
        modes = list(first.modes)
        modes[dim] = (index,)
        lhs = [i for mode in modes for i in mode]
        accesses = [self.resolved_access(access) for access in accesses]
        return Value(tuple(modes), self.statement(lhs, Concat(index, tuple(accesses))))

    def _with_one_index(self, value: Value, dim: int) -> Value:
        """The value with one index in a mode: moved if there are several, of extent 1 if there is none."""
        value = self.resolve(value)
        if len(value.modes[dim]) > 1:
            value = self.reshaped(value)
        if not value.modes[dim]:
            held = HostArray.ones(1)
            one = self.input(("unit",), "one", held, lambda _: held)
            assert isinstance(one.expr, Access)
            stored = self.stored[one.expr.tensor]
            if not stored.modes:
                stored.modes = (self.axes.index(1),)
            index = self.axes.like(stored.modes[0])
            modes = list(value.modes)
            modes[dim] = (index,)
            value = replace(value, modes=tuple(modes), expr=Mul(value.expr, Access(stored.name, (index,))))
        # What is put into a concatenation is a tensor that nothing else splits.
        lhs = [i for mode in value.modes for i in mode]
        if isinstance(value.expr, Access) and self.stored[value.expr.tensor].fetch is not None:
            return value
        if not isinstance(value.expr, Access):
            value = replace(value, expr=self.statement(lhs, value.expr))
        return value

    def is_move(self, made: Made) -> bool:
        """Whether a statement only moves elements."""
        return isinstance(made.rhs, Reshape | Concat)
