"""What a misspelt word may have been meant as. This module imports nothing of samhw, so that every folder may
use it."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]

_ALIKE = 0.7
"""Of words that are alike: twice the letters in common over the letters of both."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What stands after a word that nobody knows, such as ` (did you mean 'spmm' or 'spmv'?)`; nothing if no
    known word is like it."""
    found = get_close_matches(word.lower(), known, n=2, cutoff=_ALIKE)
    found = [name for name in found if name == word.lower()] or found
    return f" (did you mean {' or '.join(map(repr, found))}?)" if found else ""
