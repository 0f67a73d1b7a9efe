"""Pieces of HTML, for what notebooks show. This module imports nothing of samhw."""

from collections.abc import Sequence
from html import escape

__all__ = ["html_section", "html_table", "html_text"]


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """A table, the first row of which has the headings."""
    head, *body = rows
    parts = ["<table>", _row(head, "th"), *(_row(row, "td") for row in body), "</table>"]
    return "".join(parts)


def html_text(text: str) -> str:
    """A text in lines, as it is."""
    return f"<pre>{escape(text)}</pre>"


def html_section(title: str, body: str) -> str:
    """HTML under a title."""
    return f"<div><b>{escape(title)}</b>{body}</div>"


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
