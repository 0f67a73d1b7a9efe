"""The tables of firings of docs/primitives.md, as the page has them."""

import re
from pathlib import Path

__all__ = ["Rows", "numbered", "prose", "table"]

_PAGE = (Path(__file__).parents[2] / "docs" / "primitives.md").read_text("utf-8")

Rows = tuple[tuple[str, ...], ...]


def _section(title: str) -> str:
    """The text below a heading, down to the next one."""
    _, found, rest = _PAGE.partition(f" {title}\n")
    if not found:
        raise ValueError(f"{title!r} is no heading of docs/primitives.md")
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0]


def table(title: str, actor: str = "") -> Rows:
    """The rows of a table, cell by cell: the first one behind a heading, or behind an actor's entry."""
    section = _section(title)
    if actor:
        section = section[section.index(f"* *{actor}*: ") :]
    lines = re.search(r"(^\|.+\|\n)+", section, re.MULTILINE)
    assert lines is not None, title
    return tuple(
        tuple(cell.strip() for cell in line[1:-1].split("|")) for line in lines.group().splitlines()[2:]
    )


def prose(title: str) -> Rows:
    """Rows that are written in one line: `head → firing.`"""
    text = " ".join(_section(title).split())
    return tuple(re.findall(r"(?:^|(?<=\. )|(?<=; ))([A-Z][^.→;]*?) → (.+?)(?=\. |; [A-Z]|\.$)", text))


def numbered(title: str) -> Rows:
    """Rows that are counted: `(1) first firing: push ..`"""
    text = " ".join(_section(title).split())
    return tuple(re.findall(r"\(\d\) (\w+ firing): ([^.]*)\.", text))
