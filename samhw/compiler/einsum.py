"""The fused einsum of a region: a directed acyclic graph of expressions over tensor views.

This is the fused-einsum form of the FuseFlow paper (section 5): leaves are tensor *views*, each reduction is
a node of its own, and what a statement computes for use inside the region is an *intermediate*. Nodes are
compared by identity: an intermediate with several uses is one node with several parents.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, cast

from samhw.graph.numerics import ValueType
from samhw.graph.numerics.operations import vanishes as operation_vanishes
from samhw.tensors import LevelType

__all__ = [
    "CONCAT",
    "EVERYWHERE",
    "MASK",
    "MUL",
    "PAIR",
    "RECUR",
    "Apply",
    "Einsum",
    "Indicator",
    "Intermediate",
    "Number",
    "Part",
    "PickedLevel",
    "Reduce",
    "RunningReduce",
    "Segment",
    "Sieve",
    "StepPlace",
    "Unary",
    "View",
    "reachable",
    "rebuilt",
    "vanishes",
    "views",
    "with_operands",
]

MUL = "mul"
"""The operation with two or more operands; every other one has the operands of its ALU operation."""
MASK = "mask"
"""Of an operand and a pattern: the operand wherever the pattern is not zero, even where the operand stores
nothing: a maximum must see that zero. Of a pattern in blocks, a number may be what stands at its zeros."""
CONCAT = "concat"
"""Of two or more parts, of which at most one is there at any point: that one, or else zero."""
EVERYWHERE = "everywhere"
"""The operand itself, with a coordinate everywhere: what a maximum sees that no mask restricts."""

PAIR = "pair"
"""Of a factor and a value, under a `MASK` or `EVERYWHERE`: both side by side, as a recurrence takes them."""
RECUR = "recur"
"""The reduction, or running reduction, of pairs."""


@dataclass(frozen=True)
class Part:
    """Where a tensor lies in a concatenation along `index`: the dimension of its own extent there, and those
    of the parts before it, after which its coordinates come."""

    index: str
    extent: str
    before: tuple[str, ...]


class _Node:
    """What is known of everything below a node, whatever streams there are: where a search need not go."""

    @cached_property
    def free_of_reductions(self) -> frozenset[str]:
        """The free indices of all reductions, the node itself included."""
        below = frozenset[str]().union(*(o.free_of_reductions for o in cast("Einsum", self).operands))
        return below | self.free if isinstance(self, Reduce) else below

    @cached_property
    def free_of_parts(self) -> frozenset[str]:
        """The indices of all running reductions, patterns of intermediates and parts of concatenations,
        likewise."""
        below = frozenset[str]().union(*(o.free_of_parts for o in cast("Einsum", self).operands))
        match self:
            case Segment():
                return below | {self.index}
            case RunningReduce() | Sieve():
                return below | self.free
            case _:
                return below


class _Leaf(_Node):
    """Without operands."""

    operands: "ClassVar[tuple[Einsum, ...]]" = ()


class _Unary(_Node):
    """With one operand."""

    operand: "Einsum"

    @property
    def operands(self) -> "tuple[Einsum, ...]":
        return (self.operand,)


@dataclass(frozen=True)
class PickedLevel:
    """How a dense level of a view is entered that has no row: at the coordinates that a memory holds.

    Attributes:
        level: of the view, from the outermost inwards.
        at: the view whose references name places of the memory. All of its levels have rows.
        crd: the memory.
    """

    level: int
    at: "View"
    crd: str


@dataclass(frozen=True)
class StepPlace:
    """Which step of a tensor a view of one step is of.

    Attributes:
        repeat: what counts the steps.
        offset: from the place of the present step to that of this one.
        extent: the dimension of the steps of the tensor; None where it is a step itself, in the place 0.
        down: the dimension of the steps that are made, where they go from the last one to the first.
    """

    repeat: str
    offset: int = 0
    extent: str | None = None
    down: str | None = None

    @property
    def may_miss(self) -> bool:
        """The tensor may lack the step."""
        return self.offset != 0 or self.extent is None

    @property
    def params(self) -> dict[str, Any]:
        """Of the node that gives its reference."""
        given = {"extent": self.extent, "down": self.down}
        named = {name: dimension for name, dimension in given.items() if dimension is not None}
        return {"repeat": self.repeat, "offset": self.offset, **named}


@dataclass(frozen=True, eq=False)
class View(_Leaf):
    """One use of a tensor. `indices` and `levels` are in storage order, outermost first.

    A `pattern` stands for ones wherever the tensor is not zero: a mask, as a factor of a product. Its zeros
    are left out by a `sieve` if it may store any. A `part` has only some of the coordinates of one index.
    The levels with `picks`, in their order, have indices without rows. Where `one_each` is not 0, this many
    outer levels are dense, and exactly one point is stored for each combination of their coordinates. What is
    `blocked` has blocks at its coordinates, in which there may be zeros.
    """

    name: str
    tensor: str
    indices: tuple[str, ...]
    levels: tuple[LevelType, ...]
    pattern: bool = False
    sieve: bool = False
    part: Part | None = None
    picks: tuple[PickedLevel, ...] = ()
    one_each: int = 0
    blocked: bool = False
    step: StepPlace | None = None
    """Of a view of one step, which."""
    to: ValueType | None = None
    """The type that its values are converted into as they are read."""

    @property
    def stores_fill(self) -> bool:
        """Whether it may have values that nobody stored: zeros."""
        return self.levels[-1:] != () and self.levels[-1].stores_fill

    @cached_property
    def free(self) -> frozenset[str]:
        """With the rows of what names the places of picks, on which the values depend."""
        own = frozenset(self.indices).difference(self.indices[found.level] for found in self.picks)
        return own.union(*(found.at.free for found in self.picks))


@dataclass(frozen=True, eq=False)
class Number(_Leaf):
    """A number of the program's text."""

    value: int | float
    free = frozenset[str]()


@dataclass(frozen=True, eq=False)
class Apply(_Node):
    """An operation on values at each point: an ALU operation, or one of those named above."""

    op: str
    operands: "tuple[Einsum, ...]"
    to: ValueType | None = None
    """The type of its result, if it is not that of its operands."""

    @cached_property
    def free(self) -> frozenset[str]:
        return frozenset().union(*(o.free for o in self.operands))


@dataclass(frozen=True, eq=False)
class Indicator(Apply):
    """A mask that the region computes, as a factor: one where its values are not zero, and else zero. What it
    is a factor of is chosen by its values, and never multiplied by that one, which the value type may lack.
    """

    @classmethod
    def of(cls, values: "Einsum") -> "Indicator":
        """That of the values of a mask."""
        return cls("select", (values, Number(1), Number(0)))

    @property
    def values(self) -> "Einsum":
        """Those of the mask."""
        return self.operands[0]


@dataclass(frozen=True, eq=False)
class Reduce(_Unary):
    """The sum (`op`: `sum`, `max`, `min` or `prod`; of pairs `recur`) of the operand over an index, or the
    coordinate of an extreme along it (`argmax`, `argmin`), named for the table. What is put in order (`top`
    and its kin) has the index `rank` in its place."""

    name: str
    index: str
    operand: "Einsum"
    op: str = "sum"
    rank: str | None = None
    value: ValueType | None = None
    """The type of the coordinates that it gives, if they are not of the program's."""

    @cached_property
    def free(self) -> frozenset[str]:
        free = self.operand.free - {self.index}
        return free if self.rank is None else free | {self.rank}


@dataclass(frozen=True, eq=False)
class Intermediate(_Unary):
    """The values of a tensor that a statement of the region computes.

    `indices` are those of the use, by mode. `recomputed` says that other uses of the tensor share nothing
    with it.
    """

    name: str
    operand: "Einsum"
    tensor: str = ""
    indices: tuple[str, ...] = ()
    recomputed: bool = False

    @cached_property
    def free(self) -> frozenset[str]:
        return self.operand.free


@dataclass(frozen=True, eq=False)
class Sieve(_Unary):
    """The pattern of an intermediate, as a mask: the coordinates at which it is not zero; `blocked` as of a
    view."""

    name: str
    operand: "Einsum"
    tensor: str
    indices: tuple[str, ...]
    blocked: bool = False

    @cached_property
    def free(self) -> frozenset[str]:
        return self.operand.free


@dataclass(frozen=True, eq=False)
class RunningReduce(_Unary):
    """The running reduction of the operand along an index, the innermost of its rows: at each coordinate all
    up to it, or before it if `exclusive`."""

    name: str
    index: str
    operand: "Einsum"
    op: str
    exclusive: bool

    @cached_property
    def free(self) -> frozenset[str]:
        return self.operand.free


@dataclass(frozen=True, eq=False)
class Segment(_Unary):
    """An intermediate as a part of a concatenation along `index`: its own index there, and the dimensions of
    the parts before it, after which its coordinates come."""

    name: str
    operand: "Einsum"
    index: str
    own: str
    before: tuple[str, ...]

    @cached_property
    def free(self) -> frozenset[str]:
        return self.operand.free - {self.own} | {self.index}


Unary = Reduce | Intermediate | RunningReduce | Sieve | Segment
"""An einsum of one other, with a column of its own."""

Einsum = View | Number | Apply | Unary


def reachable(roots: Iterable[Einsum], leaves: Collection[Einsum] = ()) -> Iterator[Einsum]:
    """Every node below the roots and the roots themselves, once each, operands first; nothing below the
    leaves."""
    found: dict[Einsum, None] = {}
    for root in roots:
        _reach(root, leaves, found)
    return iter(found)


def _reach(e: Einsum, leaves: Collection[Einsum], found: dict[Einsum, None]) -> None:
    if e in found:
        return
    if e not in leaves:
        for operand in e.operands:
            _reach(operand, leaves, found)
    found[e] = None


def rebuilt(e: Einsum, change: Callable[[Einsum], Einsum | None]) -> Einsum:
    """e with new nodes: `change` gives the node to put instead of another, or None to go on below it. What
    has no change below it stays the same object."""
    return _rebuilt(e, change, {})


def _rebuilt(e: Einsum, change: Callable[[Einsum], Einsum | None], done: dict[Einsum, Einsum]) -> Einsum:
    if e not in done:
        made = change(e)
        if made is None:
            made = with_operands(e, tuple([_rebuilt(o, change, done) for o in e.operands]))
        done[e] = made
    return done[e]


def with_operands(e: Einsum, changed: tuple[Einsum, ...]) -> Einsum:
    """e itself, if these are its operands, or else a node like it with them."""
    if changed == e.operands:
        return e
    if isinstance(e, Apply):
        return replace(e, operands=changed)
    assert isinstance(e, Unary)
    return replace(e, operand=changed[0])


def views(e: Einsum) -> Iterator[View]:
    """The leaves, from left to right, once each."""
    return (node for node in reachable([e]) if isinstance(node, View))


def vanishes(e: Apply) -> bool:
    """The result is zero wherever every operand is absent, and so is absent too."""
    if e.op == PAIR:
        return True
    return operation_vanishes(e.op, [o.value if isinstance(o, Number) else None for o in e.operands])
