"""The tables of docs/compiler.md, for tests that hold the code to them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "docs" / "compiler.md"


def table(heading: str) -> list[tuple[str, ...]]:
    """The rows of the only table below a heading, without the one that heads the columns."""
    _, _, text = DOCUMENT.read_text(encoding="utf-8").partition(f"\n### {heading}\n")
    assert text, f"{DOCUMENT} has no heading '{heading}'"
    section, _, _ = text.partition("\n#")
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    assert set(rows[1]) == {"---"}, f"'{heading}' has more than one table"
    return rows[2:]


def spread(rows: Iterable[tuple[str, ...]], column: int) -> Iterator[tuple[str, ...]]:
    """The rows, each once for each item of the list that it has in a column."""
    for row in rows:
        for item in row[column].split("; "):
            yield (*row[:column], item, *row[column + 1 :])
