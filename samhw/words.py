"""Text as terminals, errors and `str` show it, and as notebooks do; and lists of words that users write. This
module imports nothing of samhw."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from html import escape

__all__ = [
    "and_more",
    "counted",
    "did_you_mean",
    "html_frame",
    "html_line",
    "html_scroll",
    "html_section",
    "html_table",
    "html_text",
    "in_columns",
    "split_words",
]


_LISTED = 8
"""As many names are shown of a list."""


def and_more(names: Sequence[str]) -> str:
    """Names in a list, of a long one the first, and how many more there are."""
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[: _LISTED - 1])} and {len(names) - _LISTED + 1} more"


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 region` or `1,200 regions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def split_words(text: str) -> list[str]:
    """The parts between commas, but for those of `fixed<16,8>` and `(dense, compressed)`."""
    return [part.strip() for part in re.split(r",(?![^<]*>|[^(]*\))", text)]


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as text, their columns two blanks apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


_ALIKE = 0.7
"""Of words that are alike: twice the letters in common over the letters of both."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """What stands after a word that nobody knows, such as ` (did you mean 'spmm' or 'spmv'?)`; nothing if no
    known word is like it."""
    if not isinstance(word, str):
        return ""
    names = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), names, n=2, cutoff=_ALIKE)
    found = [names[name] for name in found if name == word.lower()] or [names[name] for name in found]
    return f" (did you mean {' or '.join(map(repr, found))}?)" if found else ""


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
