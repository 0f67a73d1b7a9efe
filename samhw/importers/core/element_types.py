"""The types of what a program computes: what is made of integers alone is integers.

Importers declare the types of inputs, and say where a number goes from one type to another (`to`, `scale`);
the other types follow by docs/numerics.md ("Types of operations"). Numbers of an importer's own, such as the
ones of a matrix that picks elements, and conditions have no type: they take that of what they meet.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from samhw.graph.numerics import Integer, ValueType, holds
from samhw.importers.core.draft import Build, Made
from samhw.importers.core.value import Stored
from samhw.lang import COORDINATES
from samhw.lang.expr import (
    TYPED,
    Access,
    Add,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Recurrence,
    RunningReduction,
    Sub,
)
from samhw.lang.traverse import free_indices, walk
from samhw.lang.typed import REAL, common

__all__ = ["WHOLE", "narrowest", "settle"]

WHOLE = Integer(32)

_CALCULATIONS = (Add, Sub, Mul, Div, Neg, Recurrence)

Kind = ValueType | None
"""A type, `REAL` for that of floating point, or None for what takes that of its surroundings."""


def narrowest(least: float, greatest: float) -> Integer | None:
    """The narrowest type that has all integers of a range."""
    for kind in (Integer(8), Integer(8, is_signed=False), Integer(16), WHOLE):
        if kind.least <= least and greatest <= kind.greatest:
            return kind
    return None


def settle(build: Build, statements: Sequence[Made]) -> list[Made]:
    """The statements with types for all results that are integers, and conversions where they are needed."""
    is_typed = any(stored.kind is not None for stored in build.stored.values()) or any(
        isinstance(node, Call) and node.function in TYPED for made in statements for node in walk(made.rhs)
    )
    return _Settler(build).settled(statements) if is_typed else list(statements)


@dataclass
class _Settler:
    build: Build
    kinds: dict[str, Kind] = field(default_factory=dict)
    versions: dict[tuple[str, ValueType], str] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)

    def settled(self, statements: Sequence[Made]) -> list[Made]:
        for statement in statements:
            self.settle(statement)
        return self.made

    def settle(self, made: Made) -> None:
        """Adds a statement in its types."""
        name = self.whole(made.lhs.tensor)
        found = self.kind(made.rhs)
        kind: Kind
        if made.reduction in COORDINATES or made.reduction.startswith("arg"):
            rhs, kind = self.expr(made.rhs, found or REAL), self.build.stored[name].kind or REAL
        elif isinstance(made.rhs, Concat):
            kind = self.build.stored[name].kind or found or REAL
            rhs = self.concat(made, made.rhs, kind)
        elif (picked := self.picked(made)) is not None:
            rhs, kind = picked, self.kind(made.rhs.children[1]) or REAL
        else:
            rhs = self.expr(made.rhs, found or REAL)
            kind = _wide(found or REAL) if self.adds(made) else found or REAL
        self.made.append(replace(made, rhs=rhs))
        stored = self.build.stored[name]
        if isinstance(kind, Integer) and stored.kind is None:
            stored.kind = kind
        self.kinds[name] = kind if stored.kind is None else stored.kind

    def adds(self, made: Made) -> bool:
        """Whether a statement adds up, or multiplies, what it computes."""
        if isinstance(made.rhs, RunningReduction):
            return made.rhs.reduction not in ("max", "min")
        reduced = not set(free_indices(made.rhs)) <= set(made.lhs.names)
        return made.reduction == "prod" or (made.reduction == "sum" and reduced)

    def picked(self, made: Made) -> Expr | None:
        """What picks integers of a tensor, and so keeps their type."""
        match made.rhs:
            case Mul(Access() as matrix, Access() as x) if made.reduction == "sum":
                kind = self.kind(x)
                if self.build.stored[matrix.tensor].picks and isinstance(kind, Integer):
                    return Mul(self.access(matrix, kind), x)
        return None

    def concat(self, made: Made, rhs: Concat, kind: ValueType) -> Concat:
        """Parts in one type; a statement converts one that has another."""
        parts = []
        for part in rhs.operands:
            own = self.kind(part)
            if own in (None, kind):
                parts.append(self.access(part, kind))
                continue
            like = tuple(map(self.build.axes.like, part.names))
            value, scope = (
                kind if isinstance(kind, Integer) else None,
                self.build.stored[made.lhs.tensor].scope,
            )
            name = self.build.name(f"{part.tensor}_{kind}")
            self.build.stored[name] = Stored(name, like, kind=value, scope=scope)
            convert = Call(
                "to", (part.renamed(dict(zip(part.names, like, strict=True))),), value or self.build.real
            )
            self.made.append(Made(Access.of(name, like), convert))
            self.kinds[name] = kind
            parts.append(Access.of(name, part.names))
        return replace(rhs, operands=tuple(parts))

    # Types

    def whole(self, name: str) -> str:
        """The tensor that has all steps of one; most tensors themselves."""
        step = self.build.stored[name].step
        return name if step is None else step.of

    def type_of(self, name: str) -> Kind:
        """A tensor's type."""
        stored = self.build.stored[name]
        if stored.step is not None:
            whole = stored.step.of
            start = stored.step.block.starts.get(whole)
            if whole not in self.kinds and self.build.stored[whole].fetch is None and start is not None:
                # A state that is read before it is written.
                self.kinds[whole] = self.type_of(start.tensor) or REAL
            return self.type_of(whole)
        if name not in self.kinds:
            is_free = stored.fetch is not None and stored.is_free and _whole_range(stored) is not None
            self.kinds[name] = stored.kind or (None if is_free else REAL)
        return self.kinds[name]

    def kind(self, expr: Expr) -> Kind:
        """An expression's type."""
        match expr:
            case Access():
                return self.type_of(expr.tensor)
            case Literal():
                return None
            case Call("to", _, kind):
                return REAL if kind == self.build.real else kind
            case Call("scale"):
                return expr.to or WHOLE
            case Call("select", (condition, one, other)):
                return _met([self.kind(one), self.kind(other)]) or self.kind(condition)
        found = _met(map(self.kind, expr.children))
        if isinstance(expr, RunningReduction):
            return found
        return _wide(found) if isinstance(expr, _CALCULATIONS) else found

    # Expressions

    def expr(self, expr: Expr, wanted: ValueType) -> Expr:
        """An expression whose free numbers have the types of what they meet.

        Args:
            wanted: its type, where it has none of its own.
        """
        match expr:
            case Access():
                return self.access(expr, wanted)
            case Literal(value):
                is_whole = isinstance(wanted, Integer) and value == int(value)
                return Literal(int(value)) if is_whole else expr
            case Call("to", (operand,), kind):
                inner = self.expr(operand, self.kind(operand) or wanted)
                known = self.kind(operand) or wanted
                is_same = known == (REAL if kind == self.build.real else kind)
                return inner if is_same else replace(expr, arguments=(inner,))
            case Call("scale"):
                return expr.with_children([self.expr(child, WHOLE) for child in expr.children])
            case Call("select", (condition, one, other)):
                kind = self.kind(expr) or wanted
                own = self.kind(condition) or kind
                chosen = self.expr(condition, own)
                if own == REAL and isinstance(kind, Integer):
                    chosen = Call("to", (chosen,), kind)
                return expr.with_children([chosen, self.expr(one, kind), self.expr(other, kind)])
        kind = _met(map(self.kind, expr.children)) or wanted
        return expr.with_children([self.expr(child, kind) for child in expr.children])

    def access(self, access: Access, wanted: ValueType) -> Access:
        """A tensor; of numbers without a type those in the type that is wanted, or in one that has them."""
        if not isinstance(wanted, Integer) or self.type_of(access.tensor) is not None:
            return access
        stored = self.build.stored[access.tensor]
        ends = _whole_range(stored)
        assert ends is not None
        least = narrowest(*ends)
        assert least is not None
        kind = wanted if holds(wanted, least) else least
        key = access.tensor, kind
        if key not in self.versions:
            name = self.build.name(f"{access.tensor}_{kind}")
            self.build.stored[name] = replace(stored, name=name, kind=kind)
            self.versions[key] = name
        return replace(access, tensor=self.versions[key])


def _whole_range(stored: Stored) -> tuple[float, float] | None:
    """The least and the greatest number of an input that has integers alone, as far as i32 has them."""
    assert stored.example is not None
    values = stored.example.values
    if not values.size:
        return 0, 0
    ends = float(values.min()), float(values.max())
    is_whole = values.dtype.kind in "iub" or np.array_equal(values, np.rint(values))
    return ends if is_whole and narrowest(*ends) is not None else None


def _met(kinds: Iterable[Kind]) -> Kind:
    """The type of what has operands of some types."""
    known = {kind for kind in kinds if kind is not None}
    if not known:
        return None
    return common(known) if all(isinstance(kind, Integer) for kind in known) else REAL


def _wide(kind: Kind) -> Kind:
    """The type of sums and products."""
    return WHOLE if isinstance(kind, Integer) else kind
