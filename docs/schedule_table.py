"""Writes the table of fields in docs/schedule.md, a row for each choice, of its docstring.

Usage, from the repository's root: python docs/schedule_table.py
"""

from pathlib import Path

from samhw.choices.schedule import CHOICES

PAGE = Path(__file__).parent / "schedule.md"

HEAD = "| field | values | by default |\n|---|---|---|\n"


def table() -> str:
    """The table, in the order in which the choices act."""
    rows = (
        f"| `{one.name}` | {' '.join((type(one).__doc__ or '').split())} | {one.by_default} |\n"
        for one in CHOICES
    )
    return HEAD + "".join(rows)


def written(page: str) -> str:
    """A page with the table in the place of its own."""
    before, head, rest = page.partition(HEAD)
    assert head, f"{PAGE} has no table to replace"
    return before + table() + rest[rest.index("\n\n") + 1 :]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
