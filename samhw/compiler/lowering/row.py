"""A row of a space, while it is lowered."""

from dataclasses import dataclass
from typing import Any

from samhw.compiler.einsum import Einsum, Intermediate, Reduce, RunningReduce, Segment, View
from samhw.compiler.fusion_table import CellName, Feed, FusionTable, PlannedNode
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.space import Cursor, Space

__all__ = ["OpenRow", "title_of"]


@dataclass(frozen=True)
class OpenRow:
    """A row that a space is about to enter."""

    builder: TableBuilder
    space: Space
    index: str

    @property
    def table(self) -> FusionTable:
        """The table in the making."""
        return self.builder.table

    @property
    def extent(self) -> str:
        """The dimension of the row."""
        return self.builder.dimension[self.index]

    def make(self, kind: str, name: str, inputs: dict[str, Feed], /, **params: Any) -> PlannedNode:
        """A planned node of the row whose inputs come from the rows outside of it."""
        return self.builder.make(kind, name, self.space.depth, inputs, **params)

    def make_inside(self, kind: str, name: str, inputs: dict[str, Feed], /, **params: Any) -> PlannedNode:
        """A planned node whose inputs are of the row itself."""
        return self.builder.make(kind, name, self.space.depth + 1, inputs, **params)

    def fill(self, operand: str, source: Feed, label: str) -> CellName:
        """Fills the operand's cell of the row."""
        return self.table.fill(self.index, operand, source, label)

    def show(self, operand: str, source: Feed) -> None:
        """Fills the operand's cell of the row with a reference, if it is still empty."""
        self.builder.show(self.index, operand, source)

    def cursor(self, view: View) -> Cursor:
        """Where a view stands before the row."""
        return self.space.cursor(view)

    def is_missing(self, view: View) -> bool:
        """References of the view may be EMPTY."""
        return bool(self.space.cursor(view).missing)

    def is_last(self, view: View) -> bool:
        """The row is the last one of the view."""
        return self.space.cursor(view).level == len(view.levels) - 1


def title_of(operand: Einsum) -> str:
    """An operand in error messages."""
    return (
        operand.name
        if isinstance(operand, View | Reduce | Intermediate | RunningReduce | Segment)
        else "An operand"
    )
