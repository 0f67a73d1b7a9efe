"""The tables of firings of docs/primitives.md, as the page has them."""

import re
from pathlib import Path

__all__ = ["Rows", "definitions", "numbered", "prose", "table"]

_PAGE = (Path(__file__).parents[2] / "docs" / "primitives.md").read_text("utf-8")

_HEAD = "(?:[A-Z]|any other )"
"""What a row in a line of prose begins with."""

Rows = tuple[tuple[str, ...], ...]


def _section(title: str) -> str:
    """The text below a heading, down to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n", _PAGE, re.MULTILINE)
    if found is None:
        raise ValueError(f"{title!r} is no heading of docs/primitives.md")
    return re.split(r"^##", _PAGE[found.end() :], maxsplit=1, flags=re.MULTILINE)[0]


def table(title: str, actor: str = "") -> Rows:
    """The rows of a table, cell by cell: the first one after a heading, or after an actor's entry."""
    section = _section(title)
    if actor:
        entry = re.search(rf"^(\* )?\*{re.escape(actor)}\*: ", section, re.MULTILINE)
        assert entry is not None, actor
        section = section[entry.start() :]
    lines = re.search(r"(^\|.+\|\n)+", section, re.MULTILINE)
    assert lines is not None, title
    return tuple(
        tuple(cell.strip() for cell in line[1:-1].split("|")) for line in lines.group().splitlines()[2:]
    )


def prose(title: str, actor: str = "") -> Rows:
    """Rows that are written in one line, `head → firing.`: after a heading, or in an actor's entry, where
    they follow upon its ports."""
    text = " ".join(_section(title).split())
    if actor:
        _, _, text = text[text.index(f"* *{actor}*: ") :].partition("): ")
        text, _, _ = text.partition(" * *")
    return tuple(re.findall(rf"(?:^|(?<=\. )|(?<=; ))({_HEAD}[^.→;]*?) → (.+?)(?=\. |; {_HEAD}|\.$)", text))


def definitions(title: str) -> tuple[str, str, str]:
    """Of a scanner, for the fiber at the head of its *walk*: n, crd(c) and ref(c)."""
    text = " ".join(_section(title).split())
    found = re.search(r"n = (.+?), crd\(\w\) = (.+?), ref\(\w\) = (.+?)\.( |$)", text)
    assert found is not None, title
    return found[1], found[2], found[3]


def numbered(title: str) -> Rows:
    """Rows that are counted: `(1) first firing: push ..`"""
    text = " ".join(_section(title).split())
    return tuple(re.findall(r"\(\d\) (\w+ firing): ([^.]*)\.", text))
