"""Pages: HTML files that work offline, made from a template, with styles and scripts inside; and results as a
page: numbers at the top, charts, and a table, a row of which is a mark in each chart."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samhw.app.report.run_report import Origin
from samhw.cost import NO_FIT
from samhw.errors import InputError
from samhw.files import reason, replacing

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = [
    "WIDE",
    "Axis",
    "Bar",
    "BarChart",
    "Point",
    "ResultTable",
    "Results",
    "ScatterChart",
    "Stat",
    "axis",
    "page",
    "results_page",
    "write_page",
]


def _environment() -> "Environment":
    # They take a tenth of a second to be imported, and few runs make a page.
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    found = Environment(
        loader=PackageLoader("samhw.app.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters["commas"] = lambda number: f"{round(number):,}"
    found.filters["is_over"] = is_over
    # Within a script, JSON must not end it.
    found.filters["script"] = lambda text: Markup(text.replace("<", "\\u003c"))
    found.globals["asset"] = lambda name: Markup(_source(found, name))
    return found


def is_over(cell: str) -> bool:
    """Whether a cell says that something takes more than there is."""
    share = re.search(r"\(([0-9,]+) %\)", cell)
    return cell.startswith(NO_FIT) or (share is not None and int(share[1].replace(",", "")) > 100)


def _source(environment: "Environment", name: str) -> str:
    """A file beside the templates as it is."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def page(template: str, **values: Any) -> str:
    """A template of `templates/`, filled in."""
    return _environment().get_template(template).render(**values)


def write_page(directory: Path, text: str, beside: Mapping[str, bytes] | None = None) -> Path:
    """Writes a page as `index.html` into a directory, which is made if it is not there; returns its path.

    Args:
        beside: other files, by name. They take their places together with the page, once all are written.

    Raises:
        InputError: if they cannot be written.
    """
    files = {**(beside or {}), "index.html": text.encode()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with ExitStack() as whole:
            opened = [whole.enter_context(replacing(directory / name)) for name in files]
            for file, content in zip(opened, files.values(), strict=True):
                file.write(content)
                file.flush()
    except (OSError, ValueError) as error:
        raise InputError(
            f"Cannot write the report to {directory} ({reason(error)}); choose another directory."
        ) from None
    return directory / "index.html"


WIDE = 20
"""An axis whose numbers differ by more than that factor is logarithmic."""


@dataclass(frozen=True)
class Stat:
    """A number at the top, with a note beneath it."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """What stands for a row: a number for each series, one after the other."""

    row: int
    name: str
    values: tuple[float, ...]
    text: str = ""
    """What stands beside it."""
    bad: bool = False
    """What it stands for is wrong."""


@dataclass(frozen=True)
class BarChart:
    """A chart of bars from top to bottom."""

    title: str
    series: tuple[str, ...]
    bars: tuple[Bar, ...]
    kind: str = "bars"


@dataclass(frozen=True)
class Axis:
    """An axis: of numbers, or of `words`, which stand at 0, 1, 2, ..."""

    name: str
    log: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Point:
    """What stands for a row; points of one group look alike."""

    row: int
    x: float
    y: float
    group: str = ""
    look: tuple[int, ...] = ()
    """The numbers of its colour, its shape, and its filling; empty where groups have a colour and a shape
    each."""


@dataclass(frozen=True)
class ScatterChart:
    """A chart of points, and a line through some places: a Pareto front, which falls in steps, or a line of
    equality."""

    title: str
    x: Axis
    y: Axis
    points: tuple[Point, ...]
    line: tuple[tuple[float, float], ...] = ()
    line_name: str = ""
    stepped: bool = False
    kind: str = "scatter"


@dataclass(frozen=True)
class ResultTable:
    """Texts by rows, headings first."""

    title: str
    grid: Sequence[Sequence[str]]
    bad: frozenset[int] = frozenset()
    """The rows, from 0, in which something is wrong."""

    @property
    def numeric(self) -> list[bool]:
        """Of each column, whether all of its cells are numbers, which stand to the right."""
        return [all(map(_is_number, cells)) and any(cells) for cells in zip(*self.grid[1:], strict=True)]


@dataclass(frozen=True)
class Results:
    """What a page shows. Rows of charts are those of the first table, from 0."""

    title: str
    about: str
    """After the title, in smaller letters."""
    verdict: str
    """In a word or two, with `good`; empty where there is nothing to judge."""
    good: bool
    stats: tuple[Stat, ...]
    charts: tuple[BarChart | ScatterChart, ...]
    tables: tuple[ResultTable, ...]
    details: tuple[tuple[tuple[str, str], ...], ...] = ()
    """By row, what a mark says when it is pointed at: names, and words of one or more lines. By default, what
    stands in the row."""
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    """What stands beneath the page beside its origin."""
    statements: tuple[str, ...] = ()
    """The program."""


def axis(name: str, numbers: Iterable[float]) -> Axis:
    """An axis for these numbers."""
    found = list(numbers)
    return Axis(name, bool(found) and min(found) > 0 and max(found) > WIDE * min(found))


def results_page(results: Results, origin: Origin) -> str:
    """The page, as text."""
    return page(
        "results.html.j2",
        title=" ".join(filter(None, (results.title, results.about))),
        results=results,
        origin=origin,
        data=json.dumps(_data(results), separators=(",", ":")),
    )


def _data(results: Results) -> dict[str, Any]:
    """What the page's script is given."""
    heads, *rows = results.tables[0].grid
    plain = [[(name, cell) for name, cell in zip(heads, row, strict=True) if cell] for row in rows]
    return {"charts": [asdict(chart) for chart in results.charts], "details": results.details or plain}


def _is_number(cell: str) -> bool:
    text = cell.replace(",", "").removesuffix(" µs").removesuffix("×")
    return not text or text.replace(".", "", 1).replace("-", "", 1).isdecimal()
