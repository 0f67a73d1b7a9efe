"""What is known while a fusion table is filled: where every operand stands in each space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from samhw.compiler.einsum import Einsum, Intermediate, Reduce, View, reachable
from samhw.compiler.table import CellName, FusionTable, Primitive, Source
from samhw.errors import ScheduleError
from samhw.graph.names import Names
from samhw.spec import spec_of

__all__ = ["FULL", "Cursor", "Domain", "Plan", "Row", "Space", "Stream"]

Domain = tuple[str | int, ...]
"""Which coordinates a stream has: two streams of one space and one domain have the same ones. A compressed
level has the domain (tensor, level, indices so far)."""

FULL: Domain = ("full",)
"""Every coordinate of the extent."""


@dataclass(frozen=True)
class Row:
    """The coordinates of an index in a space; no domain if they are like no others. `filled` if some have
    been added to those of the operands, or a dense level is among others, so that what lies inside may be
    zero."""

    index: str
    crd: Source
    domain: Domain | None
    filled: bool = False


@dataclass
class Cursor:
    """How far the levels of a view are done: the ref stream, the level that comes next, and whether refs may
    be EMPTY, so that a dense level below has no coordinates there."""

    ref: Source
    level: int = 0
    missing: bool = False


@dataclass(frozen=True)
class Stream:
    """Values that have been computed, and their rows that the space has not taken up yet, outermost first."""

    val: Source
    pending: tuple[Row, ...] = ()


@dataclass
class Space:
    """A nest of rows. A reduction, and an intermediate with several uses, has a space of its own, which
    begins where the space around it stands.

    `crd` are the coordinates of the innermost row; `bound` are the indices of all rows.
    """

    crd: Source
    depth: int = 0
    bound: frozenset[str] = frozenset()
    cursors: dict[View, Cursor] = field(default_factory=dict)
    streams: dict[Einsum, Stream] = field(default_factory=dict)

    def inner(self) -> "Space":
        """A space that begins here and goes its own way."""
        cursors = {view: Cursor(c.ref, c.level, c.missing) for view, c in self.cursors.items()}
        return Space(self.crd, self.depth, self.bound, cursors, dict(self.streams))

    def enter(self, row: Row) -> None:
        """Goes down a row."""
        self.crd = row.crd
        self.depth += 1
        self.bound |= {row.index}


class Plan:
    """A fusion table in the making.

    Args:
        title: the region, for error messages.
        order: the rows.
        dimension: of each index.
        extents: the greatest extent of each dimension.
        columns: the names of the columns.
    """

    def __init__(
        self,
        title: str,
        order: Sequence[str],
        dimension: Mapping[str, str],
        extents: Mapping[str, int],
        columns: Names,
    ):
        self.title = title
        self.position = {index: n for n, index in enumerate(order)}
        self.dimension = dimension
        self.extents = extents
        self.columns = columns
        self._nodes = Names()
        self.root = Primitive("root", self._nodes.fresh("root"), 0, {}).output("out")
        self.table = FusionTable(tuple(order))
        self.makes_zeros = False
        """A product has coordinates at which one of its operands stores nothing."""

    def space(self) -> Space:
        """The outermost space."""
        return Space(self.root)

    def cursor(self, space: Space, view: View) -> Cursor:
        """Where a view stands; at the root, if the space has not met it."""
        return space.cursors.setdefault(view, Cursor(self.root))

    def add_columns(self, e: Einsum) -> None:
        """A column for each view and each intermediate result below e, producers first."""
        for node in reachable([e]):
            if isinstance(node, View):
                indices = ",".join(node.indices)
                self.table.add_column(node.name, f"{node.name}[{indices}]" if indices else node.name)
            elif isinstance(node, Reduce | Intermediate):
                kept = ",".join(sorted(node.free, key=self.position.__getitem__))
                self.table.add_column(node.name, f"{node.name}[{kept}]" if kept else node.name)

    def rows_ahead(self, e: Einsum, bound: frozenset[str]) -> list[str]:
        """The indices of e that are not bound, outermost first."""
        return sorted(e.free - bound, key=self.position.__getitem__)

    def make(
        self,
        kind: str,
        name: str,
        depth: int,
        sources: dict[str, Source],
        /,
        index: str = "",
        **params: object,
    ) -> Primitive:
        """A planned primitive with a name of its own, for the column and the row. `index` is that of the
        coordinates that it makes."""
        return Primitive(kind, self._nodes.fresh(spec_of(kind).named(name)), depth, sources, params, index)

    def extent(self, index: str) -> int:
        """The greatest extent of an index."""
        return self.extents[self.dimension[index]]

    def same(self, a: Source, b: Source) -> bool:
        """Both name one output of one planned primitive."""
        return self.table.resolve(a) == self.table.resolve(b)

    def text(self, source: Source) -> str:
        """How a cell's label names its input."""
        if isinstance(source, CellName):
            return str(source)
        if source == self.root:
            return "root"
        return str(self.table.shown(source) or f"⟨{source.primitive.name}⟩")

    def refusal(self, operand: Einsum, stream: Stream, row: str) -> ScheduleError:
        """The error for a stream that a row would have to enter from the middle."""
        inner = stream.pending[-1].index
        if isinstance(operand, Reduce):
            what, way = f"The sum over {operand.index}", f"in which {operand.index} comes after {row}"
        else:
            name = operand.name if isinstance(operand, Intermediate) else "An intermediate"
            what, way = name, "of indices, or end the fused region behind it"
        return ScheduleError(
            f"{what} gives a stream over {inner} inside of {row}, which other operands share, and a stream "
            f"cannot be entered from the middle; choose an order {way}."
        )
