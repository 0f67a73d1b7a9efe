"""Where every operand stands while a fusion table is filled."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from samhw.compiler.einsum import MUL, Apply, Einsum, Number, StepPlace, View, vanishes
from samhw.compiler.fusion_table import Feed

__all__ = ["FULL", "CrdDomain", "Cursor", "RowStream", "Space", "ValueStream"]

CrdDomain = tuple[str | int, ...]
"""Which coordinates a stream has: two streams of one space and one domain have the same ones. A compressed
level has the domain (tensor, level, indices so far): after the first two, a domain names indices alone."""

FULL: CrdDomain = ("full",)
"""Every coordinate of the extent."""


@dataclass(frozen=True)
class RowStream:
    """The coordinates of an index in a space; no domain if they are like no others. `filled` if some have
    been added to those of the operands, or a dense level is among others, so that what lies inside may be
    zero."""

    index: str
    crd: Feed
    domain: CrdDomain | None
    filled: bool = False

    def renamed(self, names: Mapping[str, str]) -> "RowStream":
        """The same coordinates for a use that has other names for indices."""
        domain = self.domain
        if domain is not None:
            domain = (*domain[:2], *(names.get(str(index), index) for index in domain[2:]))
        return replace(self, index=names.get(self.index, self.index), domain=domain)


@dataclass
class Cursor:
    """How far the levels of a view are done: the ref stream, the level that comes next, and the rows at whose
    coordinates refs may be `missing`: EMPTY, so that a dense level below has no coordinates there."""

    ref: Feed
    level: int = 0
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ValueStream:
    """Values that have been computed, and their rows that the space has not taken up yet, outermost first.
    They may be `missing` (EMPTY, or made of what is) at the coordinates of the rows at which a union has
    brought in those of other operands."""

    val: Feed
    pending: tuple[RowStream, ...] = ()
    missing: frozenset[str] = frozenset()


@dataclass
class Space:
    """A nest of rows. A reduction, and an intermediate with several uses, has a space of its own, which
    begins where the space around it stands.

    `crd` are the coordinates of the innermost row, or else the root; `rows` are the indices of all rows,
    outermost first, and `bound` the same as a set; `steps` has where views of steps begin.
    """

    root: Feed
    crd: Feed
    rows: tuple[str, ...] = ()
    bound: frozenset[str] = frozenset()
    cursors: dict[View, Cursor] = field(default_factory=dict)
    streams: dict[Einsum, ValueStream] = field(default_factory=dict)
    steps: Mapping[StepPlace, Feed] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """How many rows it has."""
        return len(self.rows)

    def levels_of(self, view: View, *inside: str) -> tuple[int, ...]:
        """Which of the rows, and of those `inside` of them, each mode of a view goes along, in storage order,
        without modes whose places are looked up.

        A row that several uses share has one name in the graph, and another one in each of them; its level is
        the same for all.
        """
        rows = (*self.rows, *inside)
        return tuple(rows.index(index) for index in view.indices if index in rows)

    def cursor(self, view: View) -> Cursor:
        """Where a view stands; at the root, or at its step, if the space has not met it."""
        if view not in self.cursors:
            step = view.step
            missing = frozenset([step.repeat] if step is not None and step.may_miss else [])
            self.cursors[view] = Cursor(self.root if step is None else self.steps[step], missing=missing)
        return self.cursors[view]

    def missing(self, operand: Einsum) -> frozenset[str]:
        """The rows at whose coordinates references or values of an operand may be EMPTY, or made of those."""
        return self._missing(operand, {})

    def _missing(self, operand: Einsum, known: dict[Einsum, frozenset[str]]) -> frozenset[str]:
        """The same, of each operand once, of however many it is one."""
        if isinstance(operand, View):
            return self.cursor(operand).missing
        if operand in self.streams:
            return self.streams[operand].missing
        if operand not in known:
            found = [
                self._missing(below, known) for below in operand.operands if not isinstance(below, Number)
            ]
            if not isinstance(operand, Apply) or operand.op == MUL:
                known[operand] = frozenset[str]().union(*found)
            else:
                all_miss = found and vanishes(operand)
                known[operand] = frozenset.intersection(*found) if all_miss else frozenset()
        return known[operand]

    def set_missing(self, operand: Einsum, missing: frozenset[str]) -> None:
        """Says at which they may."""
        if isinstance(operand, View):
            self.cursor(operand).missing = missing
        else:
            self.streams[operand] = replace(self.streams[operand], missing=missing)

    def inner(self) -> "Space":
        """A space that begins here and goes its own way."""
        # `replace` of this many would take most of the time of a large region.
        cursors = {view: Cursor(c.ref, c.level, c.missing) for view, c in self.cursors.items()}
        return replace(self, cursors=cursors, streams=dict(self.streams))

    def enter(self, row: RowStream) -> None:
        """Goes down a row."""
        self.crd = row.crd
        self.rows += (row.index,)
        self.bound |= {row.index}
