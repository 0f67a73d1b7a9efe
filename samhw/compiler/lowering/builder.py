"""A fusion table in the making: names, planned nodes and columns."""

from collections.abc import Mapping, Sequence

from samhw.compiler.einsum import (
    Einsum,
    Intermediate,
    Reduce,
    RunningReduce,
    StepPlace,
    Unary,
    View,
    reachable,
)
from samhw.compiler.fusion_table import CellName, Feed, FusionTable, PlannedNode
from samhw.compiler.lowering.space import Space, ValueStream
from samhw.errors import StreamError
from samhw.graph.numerics import ValueType
from samhw.graph.spec import spec_of
from samhw.names import Names

__all__ = ["TableBuilder"]

MOST_COPIES = 1024
"""Nodes of einsums that are made for uses which share nothing. The models have a hundred at most."""


class TableBuilder:
    """A fusion table in the making.

    Args:
        title: the region, for error messages.
        order: the rows.
        dimension: of each index.
        extents: the greatest extent of each dimension.
        columns: the names of the columns.
        value: the type of the program.
    """

    def __init__(
        self,
        title: str,
        order: Sequence[str],
        dimension: Mapping[str, str],
        extents: Mapping[str, int],
        columns: Names,
        value: ValueType,
    ):
        self.title = title
        self.position = {index: n for n, index in enumerate(order)}
        self.dimension = dimension
        self.extents = extents
        self.columns = columns
        self.value = value
        self._nodes = Names()
        self.root = PlannedNode("root", self._nodes.fresh("root"), 0, {}).output("out")
        self.steps: dict[StepPlace, Feed] = {}
        self.table = FusionTable(tuple(order))
        self._copies = 0
        self.makes_zeros = False
        """A product has coordinates at which one of its operands stores nothing."""

    def space(self) -> Space:
        """The outermost space."""
        return Space(self.root, self.root, steps=self.steps)

    def step(self, place: StepPlace, name: str) -> Feed:
        """The reference of a step; what it is made for names the node."""
        if place not in self.steps:
            self.steps[place] = self.make("step_ref", name, 0, {}, **place.params).output("ref")
        return self.steps[place]

    def add_columns(self, e: Einsum) -> None:
        """A column for each view and each intermediate result below e, producers first."""
        for node in reachable([e]):
            if isinstance(node, View):
                if node.step is not None:
                    self.step(node.step, node.name)
                indices = ",".join(node.indices)
                self.table.add_column(node.name, f"{node.name}[{indices}]" if indices else node.name)
            elif isinstance(node, Unary):
                kept = ",".join(sorted(node.free, key=self.position.__getitem__))
                self.table.add_column(node.name, f"{node.name}[{kept}]" if kept else node.name)
                if isinstance(node, Intermediate):
                    self.table.computes[node.name] = (node.tensor, node.indices)

    def count_copies(self, count: int, e: Einsum) -> None:
        """Notes that this many nodes of the einsum are made once more. Raises `StreamError` where that has no
        end: an intermediate whose uses share nothing, and that itself has several of such, and so on."""
        self._copies += count
        if self._copies > MOST_COPIES:
            name = e.tensor if isinstance(e, Intermediate) else self.title
            raise StreamError(
                f"Fused into one, the statements up to '{name}' compute intermediates at more than "
                f"{MOST_COPIES:,} further places",
                "split the region",
            )

    def rows_ahead(self, e: Einsum, bound: frozenset[str]) -> list[str]:
        """The indices of e that are not bound, outermost first."""
        return sorted(e.free - bound, key=self.position.__getitem__)

    def make(
        self, kind: str, name: str, depth: int, sources: dict[str, Feed], /, index: str = "", **params: object
    ) -> PlannedNode:
        """A planned primitive with a name of its own, for the column and the row. `index` is that of the
        coordinates that it makes."""
        return PlannedNode(kind, self._nodes.fresh(spec_of(kind).named(name)), depth, sources, params, index)

    def extent(self, index: str) -> int:
        """The greatest extent of an index."""
        return self.extents[self.dimension[index]]

    def same(self, a: Feed, b: Feed) -> bool:
        """Both name one output of one planned node."""
        return self.table.resolve(a) == self.table.resolve(b)

    def text(self, source: Feed) -> str:
        """How a cell's label names its input."""
        if isinstance(source, CellName):
            return str(source)
        if source == self.root:
            return "root"
        return str(self.table.shown(source) or f"⟨{source.node.name}⟩")

    def show(self, row: str, column: str, source: Feed) -> None:
        """Fills a cell that is still empty with a reference."""
        if self.table.get(row, column) is None:
            self.table.fill(row, column, source, f"⟨{column}_{row}⟩")

    def refusal(self, operand: Einsum, stream: ValueStream, row: str) -> StreamError:
        """The error for a stream that a row would have to enter from the middle."""
        inner = stream.pending[-1].index
        if isinstance(operand, Reduce):
            what = f"The sum over {operand.index}"
            ways = (
                f"choose an order in which {operand.index} comes after {row}",
                "compute the sum in a statement and a region of its own (--fuse none)",
            )
        else:
            name = operand.name if isinstance(operand, Intermediate) else "An intermediate"
            what, ways = name, ("choose an order of indices", "end the fused region after it")
        return StreamError(
            f"{what} gives a stream over {inner} inside of {row}, which other operands share, and a stream "
            "cannot be entered from the middle",
            *ways,
        )

    def reduced_inside(self, e: Reduce | RunningReduce) -> StreamError:
        """The error for a reduction over an index whose row it would be lowered inside of: the intermediate
        below is reduced as a whole, and used at each coordinate of that row."""
        return StreamError(
            f"'{self.title}' reduces an intermediate over {e.index}, and uses it once more inside of "
            f"{e.index}",
            "choose another order",
            "end the fused region between the two",
        )
