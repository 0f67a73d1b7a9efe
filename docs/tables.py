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
from samhw.errors import InputError

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


def a_number(cell: Cell) -> bool:
    """Whether a cell is one."""
    return isinstance(cell, int | float)


def is_text(cell: Cell) -> bool:
    """Whether a cell is one."""
    return isinstance(cell, str)


def below(limit: float) -> Callable[[Cell], bool]:
    """Whether a cell is a number less than that."""
    return lambda cell: isinstance(cell, int | float) and cell < limit


@dataclass(frozen=True)
class View:
    """What a page shows of result files.

    Args:
        where: which cells of a column a row may have.
        digits: after the point.
        machine: whether it decides the figures, so that the page names it.
    """

    files: Files
    where: Mapping[str, Callable[[Cell], bool]] = field(default_factory=dict, kw_only=True)
    digits: int = field(default=2, kw_only=True)
    machine: bool = field(default=False, kw_only=True)

    def __call__(self) -> str:
        rows = rows_of(self.files)
        # Of several files, one may lack a column.
        if lost := [key for key in [*self.keys(), *self.where] if not any(key in row for row in rows)]:
            raise InputError(f"a view of {', '.join(self.names)} shows {lost[0]!r}, which no row has")
        kept = [row for row in rows if all(fits(row.get(key)) for key, fits in self.where.items())]
        if not kept:
            raise InputError(f"a view of {', '.join(self.names)} leaves no row")
        return text_of(self.lines(kept), self.digits) + sources(map(read, self.names), self.machine)

    @property
    def names(self) -> list[str]:
        """Of its files."""
        return [self.files] if isinstance(self.files, str) else list(self.files)

    def keys(self) -> list[str]:
        """The columns that it shows."""
        raise NotImplementedError

    def lines(self, rows: Sequence[Row]) -> Iterator[Sequence[Cell]]:
        """The heading and the rows of the table."""
        raise NotImplementedError


@dataclass(frozen=True)
class Columns(View):
    """Some columns; "heading: key" is one under another heading."""

    columns: str
    """With semicolons between them."""

    def keys(self) -> list[str]:
        return [key for _, key in headings(self.columns)]

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

    def keys(self) -> list[str]:
        return [self.row, self.column, self.cell]

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

    def keys(self) -> list[str]:
        return [key for _, key in headings(f"{self.by}; {self.of}")]

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

    def keys(self) -> list[str]:
        return [key for _, key in headings(self.columns)]

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
    # docs/results.md
    "correlate": Columns("correlate", "programs; on; compared; equal"),
    "hls-models": Counts("hls_models", "i32; fixed<16,8>; bf16; f32"),
    "hls-cycles": Columns("hls_cycles", "program; fusion; simulator; HLS, predicted"),
    "choices": Summary(
        {"choices": "its own", "choices_cora": "Cora"}, "data: ", "gain: speed-up; to the best"
    ),
    "enumerated": Columns(
        "enumerated",
        "programs; auto, within 1.10: auto to the best, within 1.10; worst: auto to the best, worst; "
        "tuned, within 1.10: tuned to the best, within 1.10; worst: tuned to the best, worst",
    ),
    "anchors": Columns(
        "anchors",
        "kernel; matrix; idealised; simulator; ratio",
        where={"matrix": one_of("lp_scsd1")},
        digits=4,
    ),
    "numerics": Pivot("numerics", "function", "type", "greatest error, ulp", digits=4),
    "primitives": Columns(
        "synthesis",
        "primitive; parameters: params; LUTs: luts; MHz: mhz",
        where={"mhz": below(90)},
        digits=1,
    ),
    "row-ranges": Columns(
        "row_ranges",
        "kernel; rows; cycles; times as fast: times; LUTs: luts; block RAMs: block_rams; hbm2",
        where={"lanes": one_of(64)},
        digits=1,
    ),
    "designs": Columns(
        "synthesis_designs",
        "program: design; value; LUTs: luts; block RAMs: brams; MHz: mhz",
        digits=1,
    ),
    "shared-hardware": Pivot("shared_hardware", row="model", column="shared", cell="luts"),
    "mixed-types": Columns(
        "mixed_types",
        "design; bits of A and X; LUTs: luts; multipliers",
    ),
    "units": Summary("synthesis_units", "type: value", "registers; LUTs: luts; MHz: mhz", digits=0),
    "estimates": Columns(
        {"estimates": "on chip", "estimates_ddr4": "DDR4", "estimates_hbm2": "HBM2"},
        "tensors: ; runs: number; median, %: median %; 90th, %: 90th %",
        where={"runs": one_of("all"), "figure": one_of("cycles")},
    ),
    "area": Summary(
        "area", "designs in: value", "LUTs, %: luts error; registers, %: registers error", digits=1
    ),
    "area-families": Columns(
        "area_families",
        "family; LUTs, %: luts error; registers, %: registers error",
        where={"design": one_of("SpMM")},
        digits=1,
    ),
    "layer-time": Columns("layer_time", "layers; ms; times one: of one", machine=True),
    "layers": Columns("layers", "layers; LUTs; block RAMs; MHz", digits=1),
    "first-run": Columns("first_run", "command; empty cache; full cache; engine's start", machine=True),
    "simulator": Summary(
        {"simulator": "on chip", "simulator_ddr4": "DDR4"},
        "tensors: ",
        "M firings/s; M cycles/s; to the plain engine; of on chip, %; to Verilator: to the RTL",
        digits=1,
        machine=True,
    ),
    "blocks-speed": Summary("blocks_speed", "program", "times as fast: of csr", digits=1, machine=True),
    "off-chip": Pivot(
        "off_chip_memory",
        "program",
        "memory",
        "to on chip",
        where={
            "memory": one_of("hbm2", "ddr4", "ddr4, channels as on chip"),
            "program": one_of("spmm, 256", "sddmm, 256", "spmspm_ijk, 256", "gcn, as large as cora"),
        },
    ),
    "board-networks": Columns("board_networks", "network; cycles; LUTs; block RAMs; MHz; ms; by SciPy, ms"),
    "quantised-models": Columns(
        "quantised_models",
        "network; f32; pruned; int8; products; in integers; integers; off; cycles; RTL: verilator; HLS: hls",
        digits=1,
    ),
    "scans": Columns(
        "scans", "weights; batch; cycles; busiest node; with its waiting", where={"batch": one_of(1, 16)}
    ),
    # docs/onnx.md
    "onnx-cases": Columns("onnx_cases", "cases; node; simple; pytorch-converted; pytorch-operator"),
    "onnx-models": Columns(
        "onnx_models",
        "network; cycles; stored, kB; LUTs; block RAMs; on chip; off chip",
        where={"cycles": below(1e9)},
    ),
    # docs/findings.md
    **{
        name: Columns(
            name,
            "figure; what; here; the paper's",
            where={"the paper's": is_text, "figure": lambda figure: "off chip" not in str(figure)},
        )
        for name in ("fuseflow", "redfuser", "sparsetir", "fractaltensor")
    },
}


def written(page: str) -> str:
    """A page with its tables made anew.

    Raises:
        InputError: for a table that `VIEWS` lacks, or whose file is wrong or lacks what is shown.
    """
    return MARKED.sub(lambda found: f"{found[1]}{found[2]}\n{_made(found[1])}", page)


def _made(name: str) -> str:
    if name not in VIEWS:
        raise InputError(f"docs/tables.py has no view {name!r}; there are {', '.join(VIEWS)}")
    return VIEWS[name]()


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
