"""A statement of a program, and the regions in which statements are fused."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from samhw.lang.expr import Access, Concat, Expr, Recurrence, Reshape, RunningReduction
from samhw.lang.source import Span
from samhw.lang.traverse import accesses, free_indices, renamed, with_accesses

__all__ = ["COORDINATES", "MOST_RANKS", "RANKINGS", "Region", "Scan", "Statement"]

COORDINATES = {"argmax": "max", "argmin": "min"}
"""Reductions that give a coordinate: that of the first value that the named reduction gives."""

RANKINGS = {"top": "max", "bottom": "min", "argtop": "max", "argbottom": "min"}
"""Reductions that give the best values along an index, in order, or their coordinates: those that the named
reduction gives, one after another. They have an index of their own, which is on the left alone."""


MOST_RANKS = 64
"""The most values that are put in order: hardware has a comparator for each."""


@dataclass(frozen=True)
class Scan:
    """A block ``scan t { .. }``, whose statements are computed once for each step of an index, one step after
    another.

    Attributes:
        index: the index.
        down: the steps go from the last coordinate to the first.
        number: of the block, among the scans of the program.
        starts: statements such as ``H[-1, h] = H0[h]``, which say what a tensor of the block has at steps
            before the first one, whichever way the steps go; elsewhere it is zero there.
    """

    index: str
    down: bool = False
    number: int = 0
    starts: "tuple[Statement, ...]" = ()

    def behind(self, offset: int) -> int:
        """How many steps before the present one the step at `offset` is; negative for one that is to come."""
        return offset if self.down else -offset

    def start(self, tensor: str, distance: int) -> "Statement | None":
        """What says what a tensor has this many steps before the first one."""
        for start in self.starts:
            if start.lhs.tensor == tensor and start_distance(start.lhs) == distance:
                return start
        return None

    def __str__(self) -> str:
        return f"scan {self.index}{' down' * self.down}"


def start_distance(lhs: Access) -> int:
    """How many steps before the first one the place is that a left side such as ``H[-1, h]`` names; 0 if it
    names none."""
    places = [index.offset for index in lhs.computed if not index.terms and index.outside == "zero"]
    return -places[0] if len(places) == 1 and places[0] < 0 else 0


@dataclass(frozen=True)
class Statement:
    """``lhs = rhs``, reduced over the indices that are missing on the left.

    `order` is the nest of loops, outermost first, over all indices of the statement; None leaves it to the
    compiler. It never changes the result. With a `mask` the statement is computed where that tensor is not
    zero: the result is zero elsewhere, and a reduction runs over those points only.
    """

    lhs: Access
    rhs: Expr
    order: tuple[str, ...] | None = None
    order_span: Span | None = field(default=None, compare=False, repr=False)
    reduction: str = field(default="sum", kw_only=True)
    """How missing indices are reduced, one of `REDUCTIONS`, `COORDINATES` or `RANKINGS`: each term is summed
    over its own indices; all others take the whole right side."""
    mask: Access | None = field(default=None, kw_only=True)
    scan: Scan | None = field(default=None, kw_only=True)
    """The block that repeats it. There, a left side without the scan's index has what the last step gives."""

    @cached_property
    def indices(self) -> tuple[str, ...]:
        """All index variables: those on the left, then the others in order of appearance."""
        return tuple(dict.fromkeys(self.lhs.variables + free_indices(self.rhs)))

    @property
    def reduction_indices(self) -> tuple[str, ...]:
        """The index variables that are missing on the left, in order of appearance; none in a reshape."""
        if isinstance(self.rhs, Reshape):
            return ()
        return tuple(index for index in free_indices(self.rhs) if index not in self.lhs.variables)

    @cached_property
    def reads(self) -> tuple[Access, ...]:
        """The tensor accesses of the right side from left to right, then the mask, then the index tensors of
        all accesses."""
        read = (*accesses(self.rhs), *(() if self.mask is None else (self.mask,)))
        named = dict.fromkeys(index for access in (self.lhs, *read) for index in access.index_tensors)
        return (*read, *named)

    @property
    def needs(self) -> tuple[Access, ...]:
        """What has to be there before it is computed: `reads`, then what its scan starts from. A state that
        an earlier step has given is among them."""
        starts = () if self.scan is None else self.scan.starts
        return (*self.reads, *(access for start in starts for access in start.reads))

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The left side, then `reads`."""
        return (self.lhs, *self.reads)

    @property
    def is_plain(self) -> bool:
        """Whether all of its accesses are under variables alone."""
        return all(access.is_plain for access in self.accesses)

    @property
    def is_move(self) -> bool:
        """Whether this is a reshape or a concatenation, which only moves elements."""
        return isinstance(self.rhs, Reshape | Concat)

    @property
    def counts_zeros(self) -> bool:
        """Whether a zero is a value like any other, stored or not: in all reductions but sums, in running
        ones, which give something at each point, and in recurrences, where it may be a factor."""
        return self.reduction != "sum" or isinstance(self.rhs, RunningReduction | Recurrence)

    @property
    def runs_along(self) -> str | None:
        """The index on the left along which a value goes on from each coordinate to the next; None in most
        statements."""
        match self.rhs:
            case RunningReduction(index=index) | Recurrence(index=index) if index in self.lhs.variables:
                return index
        return None

    @property
    def innermost(self) -> str | None:
        """The index that a stream must have inside of those on the left, but for `rank`; None in most
        statements."""
        goes_along = self.reduction in COORDINATES or self.reduction in RANKINGS
        return self.reduction_indices[0] if goes_along else self.runs_along

    @cached_property
    def rank(self) -> str | None:
        """The index of what is put in order, which counts the best values; None in most statements."""
        if self.reduction not in RANKINGS:
            return None
        free = free_indices(self.rhs)
        return next((index for index in self.lhs.variables if index not in free), None)

    def with_accesses(self, change: Callable[[Access], Access]) -> "Statement":
        """The statement with other accesses: of its left side, of its right side, and of its mask."""
        mask = None if self.mask is None else change(self.mask)
        return replace(self, lhs=change(self.lhs), rhs=with_accesses(self.rhs, change), mask=mask)

    def renamed(self, names: Mapping[str, str]) -> "Statement":
        """The statement under other index variables, all at once; one that `names` lacks keeps its name."""
        mask = None if self.mask is None else self.mask.renamed(names)
        order = None if self.order is None else tuple(names.get(index, index) for index in self.order)
        return replace(
            self, lhs=self.lhs.renamed(names), rhs=renamed(self.rhs, names), order=order, mask=mask
        )

    def joins(self, before: Sequence["Statement"]) -> bool:
        """Whether this may be in one region with the statements before it: not if it reads in another shape
        what they compute, nor if a scan repeats only one of them."""
        if any(s.scan != self.scan for s in before):
            return False
        written = {s.lhs.tensor for s in before}
        moved = {
            s.lhs.tensor for s in before if isinstance(s.rhs, Reshape) and s.rhs.operand.tensor in written
        }
        return not any(access.tensor in moved for access in self.reads)

    def __str__(self) -> str:
        assign = "=" if self.reduction == "sum" else f"{self.reduction}="
        where = "" if self.mask is None else f" where {self.mask}"
        order = "" if self.order is None else f"    order {', '.join(self.order)}"
        return f"{self.lhs} {assign} {self.rhs}{where}{order}"


@dataclass(frozen=True)
class Region:
    """Statements that become one dataflow graph: a ``fuse`` block, or a statement that stands alone."""

    statements: tuple[Statement, ...]
    order: tuple[str, ...] | None = None
    """That of the indices of the whole region, outermost first, where a schedule gives one: it stands in the
    place of the statements' own."""
    label: str | None = field(default=None, compare=False)
    """The last result, by which a schedule names the region, even where the compiler writes another tensor in
    its place; None for a region that the compiler has added."""

    @property
    def written(self) -> tuple[str, ...]:
        """The tensors that its statements compute, in program order."""
        return tuple(statement.lhs.tensor for statement in self.statements)

    @property
    def scan(self) -> Scan | None:
        """The block that repeats it."""
        return self.statements[0].scan if self.statements else None

    @property
    def is_plain(self) -> bool:
        """Whether all accesses of its statements are under variables alone."""
        return all(statement.is_plain for statement in self.statements)

    @property
    def lines(self) -> list[str]:
        """It in the text of a program."""
        if len(self.statements) == 1:
            return [str(self.statements[0])]
        return ["fuse {", *(f"  {statement}" for statement in self.statements), "}"]

    @property
    def reshapes(self) -> bool:
        """Whether it has a statement that gives a tensor another shape; what passes leave has nothing else
        then."""
        return any(isinstance(statement.rhs, Reshape) for statement in self.statements)

    def without_orders(self, reading: Collection[str] | None = None) -> "Region":
        """The region without the orders of its statements, which no result depends on.

        Args:
            reading: keep the orders of statements that read none of these tensors.
        """
        return replace(
            self,
            statements=tuple(
                replace(statement, order=None)
                if reading is None or any(access.tensor in reading for access in statement.reads)
                else statement
                for statement in self.statements
            ),
        )
