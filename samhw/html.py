"""Pieces of HTML, for what notebooks show. This module imports nothing of samhw."""

from collections.abc import Sequence
from html import escape

__all__ = ["html_frame", "html_line", "html_scroll", "html_section", "html_table", "html_text"]


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """A table, the first row of which has the headings."""
    head, *body = rows
    parts = ["<table>", _row(head, "th"), *(_row(row, "td") for row in body), "</table>"]
    return "".join(parts)


def html_text(text: str) -> str:
    """A text in lines, as it is."""
    return f"<pre>{escape(text)}</pre>"


def html_line(text: str) -> str:
    """A sentence, in a line of its own or several."""
    return f"<div>{escape(text)}</div>"


def html_section(title: str, body: str) -> str:
    """HTML under a title."""
    return f"<div><b>{escape(title)}</b>{body}</div>"


def html_scroll(body: str) -> str:
    """HTML in a box of at most the height of a cell, with bars to scroll what is larger."""
    return f'<div style="max-height:32em;overflow:auto">{body}</div>'


def html_frame(page: str) -> str:
    """A whole page in a frame of the height of a cell."""
    style = "width:100%;height:44em;border:1px solid #8886;border-radius:4px"
    return f'<iframe srcdoc="{escape(page)}" style="{style}" loading="lazy"></iframe>'


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
