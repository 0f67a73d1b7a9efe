"""Plain text, for what terminals, errors and `str` show. This module imports nothing of samhw."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["counted", "did_you_mean", "in_columns"]


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 region` or `1,200 regions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as text, their columns two blanks apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


_ALIKE = 0.7
"""Of words that are alike: twice the letters in common over the letters of both."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What stands after a word that nobody knows, such as ` (did you mean 'spmm' or 'spmv'?)`; nothing if no
    known word is like it."""
    found = get_close_matches(word.lower(), known, n=2, cutoff=_ALIKE)
    found = [name for name in found if name == word.lower()] or found
    return f" (did you mean {' or '.join(map(repr, found))}?)" if found else ""
