"""Writes the tables of the pages: those of benchmarks/results, and that of docs/schedule.md.

A page marks the place of a table by two comments, and what stands between them is made:

    <!-- table: NAME -->
    <!-- end -->

`VIEWS` has what is shown under each name. Below a table stand the command and the commit of its figures.

Usage, from the repository's root: python -m docs.tables
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import TypeAlias

from benchmarks.result_files import Cell, ResultFile, read
from samhw.choices.schedule import CHOICES

FOLDER = Path(__file__).parent
MARKED = re.compile(r"(?<=<!-- table: )([\w-]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)
WIDTH = 110

Row: TypeAlias = Mapping[str, Cell]
Files: TypeAlias = str | Mapping[str, Cell]
"""A result file, or several, with what the column "" says of the rows of each."""


def rows_of(files: Files) -> list[Row]:
    """The rows of a file, or of several, which have the file's label under ""."""
    if isinstance(files, str):
        return list(read(files).rows)
    return [{"": label, **row} for name, label in files.items() for row in read(name).rows]


def one_of(*values: Cell) -> Callable[[Cell], bool]:
    """Whether a cell is one of these."""
    return lambda cell: cell in values


def below(limit: float) -> Callable[[Cell], bool]:
    """Whether a cell is a number less than that."""
    return lambda cell: isinstance(cell, int | float) and cell < limit


@dataclass(frozen=True)
class View:
    """What a page shows of result files.

    Args:
        where: which cells of a column a row may have.
        digits: behind the point.
        machine: whether it decides the figures, so that the page names it.
    """

    files: Files
    where: Mapping[str, Callable[[Cell], bool]] = field(default_factory=dict, kw_only=True)
    digits: int = field(default=2, kw_only=True)
    machine: bool = field(default=False, kw_only=True)

    def __call__(self) -> str:
        rows = [row for row in rows_of(self.files) if self.kept(row)]
        return text_of(self.lines(rows), self.digits) + sources(map(read, self.names), self.machine)

    @property
    def names(self) -> list[str]:
        """Of its files."""
        return [self.files] if isinstance(self.files, str) else list(self.files)

    def kept(self, row: Row) -> bool:
        """Whether a row is shown."""
        return all(fits(row.get(key)) for key, fits in self.where.items())

    def lines(self, rows: Sequence[Row]) -> Iterator[Sequence[Cell]]:
        """The heading and the rows of the table."""
        raise NotImplementedError


@dataclass(frozen=True)
class Columns(View):
    """Some columns; "heading: key" is one under another heading."""

    columns: str
    """With semicolons between them."""

    def lines(self, rows: Sequence[Row]) -> Iterator[Sequence[Cell]]:
        pairs = headings(self.columns)
        yield [heading for heading, _ in pairs]
        for row in rows:
            yield [row.get(key) for _, key in pairs]


@dataclass(frozen=True)
class Pivot(View):
    """A row for each value of one column, a column for each value of another, and a cell for both."""

    row: str
    column: str
    cell: str

    def lines(self, rows: Sequence[Row]) -> Iterator[Sequence[Cell]]:
        heads = list(dict.fromkeys(row[self.column] for row in rows))
        cells: dict[Cell, dict[Cell, Cell]] = {}
        for row in rows:
            cells.setdefault(row[self.row], {})[row[self.column]] = row[self.cell]
        yield [self.row, *map(str, heads)]
        for label, found in cells.items():
            yield [label, *(found.get(head) for head in heads)]


@dataclass(frozen=True)
class Summary(View):
    """How many rows there are for each value of a column, and the range of other columns: the least and the
    greatest figure, and the geometric mean where all are greater than zero."""

    by: str
    of: str
    """As in `Columns`."""

    def lines(self, rows: Sequence[Row]) -> Iterator[Sequence[Cell]]:
        (heading, key), *columns = headings(f"{self.by}; {self.of}")
        yield [heading, "rows", *(name for name, _ in columns)]
        for group in dict.fromkeys(row[key] for row in rows):
            own = [row for row in rows if row[key] == group]
            yield [group, len(own), *(self.range([row.get(of) for row in own]) for _, of in columns)]

    def range(self, cells: Sequence[Cell]) -> str:
        """From the least to the greatest, with the mean in brackets."""
        found = [cell for cell in cells if isinstance(cell, int | float)]
        if not found:
            return ""
        least, most = _shown(min(found), self.digits), _shown(max(found), self.digits)
        if least == most:
            return least
        mean = f" ({_shown(geometric_mean(found), self.digits)})" if min(found) > 0 else ""
        return f"{least} to {most}{mean}"


@dataclass(frozen=True)
class Counts(View):
    """How often each word is in some columns, up to a colon."""

    columns: str

    def lines(self, rows: Sequence[Row]) -> Iterator[Sequence[Cell]]:
        words = {
            heading: Counter(str(row[key]).partition(":")[0] for row in rows)
            for heading, key in headings(self.columns)
        }
        kinds = list(dict.fromkeys(word for found in words.values() for word in found))
        yield ["", *kinds]
        for heading, found in words.items():
            yield [heading, *(found[kind] for kind in kinds)]


def headings(columns: str) -> list[tuple[str, str]]:
    """The heading and the key of each column."""
    pairs = (column.rpartition(": ") for column in columns.split("; "))
    return [(heading if colon else key, key) for heading, colon, key in pairs]


def text_of(lines: Iterable[Sequence[Cell]], digits: int) -> str:
    """A table in Markdown. Where the first cell repeats that of the row above, it is left out."""
    head, *rest = ([_shown(cell, digits) for cell in line] for line in lines)
    result, above = [_line(head), "|---" * len(head) + "|\n"], ""
    for first, *others in rest:
        result.append(_line([first if first != above else "", *others]))
        above = first
    return "".join(result)


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) + "\n"


def _shown(cell: Cell, digits: int) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.{digits if abs(cell) < 1000 else 0}f}"
    return str(cell).replace("|", "\\|")


def sources(files: Iterable[ResultFile], machine: bool) -> str:
    """Where the figures of a table come from."""
    places: dict[str, list[str]] = {}
    for file in files:
        state = f"commit {file.commit}" if file.commit else "not measured on this state"
        place = f"{state}, {file.machine}" if machine and file.machine else state
        places.setdefault(place, []).append(f"`{file.command}`")
    text = "; ".join(f"{', '.join(commands)}: {place}" for place, commands in places.items())
    lines = textwrap.wrap(text + ".", WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n" + "\n".join(lines) + "\n\n"


def fields() -> str:
    """The fields of a schedule, in the order in which they act, with the first words of their docstrings."""
    rows = ([f"`{one.name}`", " ".join((type(one).__doc__ or "").split()), one.by_default] for one in CHOICES)
    return text_of([["field", "values", "by default"], *rows], 0) + "\n"


VIEWS: Mapping[str, Callable[[], str]] = {
    "fields": fields,
}


def written(page: str) -> str:
    """A page with its tables made anew; raises KeyError for one that `VIEWS` lacks."""
    return MARKED.sub(lambda found: f"{found[1]}{found[2]}\n{VIEWS[found[1]]()}", page)


def pages() -> Iterator[Path]:
    """Those that have tables of here."""
    for path in sorted(FOLDER.glob("*.md")):
        if MARKED.search(path.read_text(encoding="utf-8")):
            yield path


def write() -> None:
    """Makes all tables anew."""
    for path in pages():
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
