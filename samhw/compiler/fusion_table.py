"""The fusion table (FuseFlow section 6.1): what will become a graph, while it can still be moved about.

Rows are the indices in iteration order and, last, the values (`val`); columns are tensor views, intermediates
and the result. A cell stands for one stream: the ref stream of a view at that row, a coordinate stream of a
reduction, or, in the last row, the values. It holds an output of a *planned node* (not yet made) or refers to
another cell. Planned nodes name their inputs by cell, so a cell may be named before it is filled, and when a
cell is moved into a join, everything that names it follows without being touched.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from samhw.names import Names
from samhw.words import html_table, in_columns

__all__ = ["Cell", "CellName", "Feed", "FusionTable", "PlannedNode", "PlannedOutput", "RenamedTable"]


@dataclass(frozen=True)
class CellName:
    """A reference to whatever the cell holds when the graph is generated: written ⟨column_row⟩."""

    row: str
    column: str

    def renamed(self, to: Mapping[str, str]) -> "CellName":
        """The same cell under other names of rows and columns."""
        return CellName(to[self.row], to[self.column])

    def __str__(self) -> str:
        return f"⟨{self.column}_{self.row}⟩"


@dataclass(eq=False)
class PlannedNode:
    """A node to be. `depth` is the stream depth of its first input; `name` is the node's name; `index` is
    that of the coordinates that a scanner makes."""

    kind: str
    name: str
    depth: int
    inputs: "dict[str, Feed]"
    params: Mapping[str, object] = field(default_factory=dict)
    index: str = ""

    def output(self, port: str) -> "PlannedOutput":
        """One of its outputs."""
        return PlannedOutput(self, port)


@dataclass(frozen=True)
class PlannedOutput:
    """An output of a planned node."""

    node: PlannedNode
    port: str


Feed = CellName | PlannedOutput
"""What an input of a planned node reads."""


@dataclass(frozen=True)
class Cell:
    """What a cell holds, and the words that a reader sees in it."""

    source: Feed
    label: str


class FusionTable:
    """The grid. Cells are named by (row, column); filling one twice is how a cell is moved into a join."""

    def __init__(self, rows: tuple[str, ...]):
        self.val = Names(rows).fresh("val")
        """The name of the last row."""
        self.rows = (*rows, self.val)
        self.computes: dict[str, tuple[str, tuple[str, ...]]] = {}
        """The tensor whose values a column has, where the region computes them for uses inside of it, and the
        indices of the use."""
        self.values: dict[str, PlannedOutput] = {}
        """The output that the values of a column came from first, whatever join they were moved into."""
        self.reads: dict[str, tuple[int, ...]] = {}
        """The levels around each node that reads values along which the modes of its tensor lie, in storage
        order, by the node's name."""
        self.sinks: list[PlannedNode] = []
        """The writers, from which the graph is generated."""

    @cached_property
    def headings(self) -> dict[str, str]:
        """The columns in order, and what heads each of them, such as `A[i,k]`."""
        return {}

    @cached_property
    def joins(self) -> dict[tuple[str, str], str]:
        """The join that a cell was moved into: (row, column) -> its label. Neighbours with one label share a
        box."""
        return {}

    @cached_property
    def _cells(self) -> dict[tuple[str, str], Cell]:
        return {}

    @cached_property
    def _shown(self) -> dict[PlannedOutput, CellName]:
        return {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.headings)

    def add_column(self, name: str, heading: str) -> None:
        """Adds a column on the right, unless it is there."""
        self.headings.setdefault(name, heading)

    def fill(self, row: str, column: str, source: Feed, label: str) -> CellName:
        """Places a cell and gives its name."""
        self._cells[row, column] = Cell(source, label)
        if row == self.val:
            self.values.setdefault(column, self.resolve(source))
        name = CellName(row, column)
        self._shown.setdefault(self.resolve(source), name)
        return name

    def move(self, row: str, column: str, source: Feed, join: str) -> None:
        """Moves a filled cell into a join: from now on its name stands for that output of the join."""
        self._cells[row, column] = Cell(source, self._cells[row, column].label)
        self._shown.setdefault(self.resolve(source), CellName(row, column))
        self.joins[row, column] = join

    def settle(self, row: str, column: str, source: Feed) -> CellName:
        """The name of a cell, which from now on stands for that output: of the joins that it was moved into,
        the last one need not be the one to be taken further."""
        cell = self._cells[row, column]
        if self.resolve(cell.source) != self.resolve(source):
            self._cells[row, column] = Cell(source, cell.label)
        return CellName(row, column)

    def get(self, row: str, column: str) -> Cell | None:
        """The cell, if it is filled."""
        return self._cells.get((row, column))

    def shown(self, output: PlannedOutput) -> CellName | None:
        """A cell in which the output stands, or stood before it was moved."""
        return self._shown.get(output)

    def resolve(self, source: Feed) -> PlannedOutput:
        """Follows references to the planned output that they stand for."""
        while isinstance(source, CellName):
            source = self._cells[source.row, source.column].source
        return source

    def cells(self) -> Iterator[tuple[str, str, Cell]]:
        """All filled cells, row by row."""
        for row in self.rows:
            for column in self.columns:
                if (cell := self.get(row, column)) is not None:
                    yield row, column, cell

    def shape(self) -> tuple[list[str], list[str]]:
        """The rows and the columns that have something in them."""
        filled = [(row, column) for row, column, _ in self.cells()]
        rows, columns = ({place[n] for place in filled} for n in (0, 1))
        return [row for row in self.rows if row in rows], [c for c in self.columns if c in columns]

    def __str__(self) -> str:
        return in_columns(self.grid())

    def _repr_html_(self) -> str:
        return html_table(self.grid())

    def grid(self) -> list[list[str]]:
        """The table as text, headings first, for printing (as figures 9 and 20 of the paper). What nothing is
        in, since another use's streams serve, is left out."""
        rows, shown = self.shape()
        result = [["", *(self.headings[column] for column in shown)]]
        for row in rows:
            line = [row]
            for column in shown:
                cell = self.get(row, column)
                text = cell.label if cell else ""
                join = self.joins.get((row, column))
                line.append(f"{join}: {text}" if join else text)
            result.append(line)
        return result


class RenamedTable(FusionTable):
    """A table under other names of rows and columns, and in other words, which are made when it is looked at.
    Planned nodes, from which a graph has been generated, stay as they are.

    Args:
        to: has a name, or words, for each text of the table.
    """

    def __init__(self, table: FusionTable, to: Mapping[str, str]) -> None:
        self._table, self._to = table, to
        self.val, self.rows = to[table.val], tuple(to[row] for row in table.rows)
        self.computes, self.values = table.computes, table.values
        self.reads, self.sinks = table.reads, table.sinks

    @cached_property
    def headings(self) -> dict[str, str]:
        to = self._to
        return {to[column]: to[heading] for column, heading in self._table.headings.items()}

    @cached_property
    def joins(self) -> dict[tuple[str, str], str]:
        to = self._to
        return {(to[row], to[column]): to[join] for (row, column), join in self._table.joins.items()}

    @cached_property
    def _cells(self) -> dict[tuple[str, str], Cell]:
        to = self._to
        return {
            (to[row], to[column]): Cell(
                cell.source.renamed(to) if isinstance(cell.source, CellName) else cell.source,
                to[cell.label],
            )
            for (row, column), cell in self._table._cells.items()
        }

    @cached_property
    def _shown(self) -> dict[PlannedOutput, CellName]:
        return {output: name.renamed(self._to) for output, name in self._table._shown.items()}
