"""Copies of tensors into another mode order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from samhw.choices.choice import Choice
from samhw.errors import InputError, shown

__all__ = ["CHOICE"]


class Permute(Choice[bool]):
    """whether tensors may be copied into another mode order where storage orders conflict"""

    name = "permute"
    by_default = "`false`"
    metavar = several = ""
    help = "Where storage orders conflict, copy a tensor into another mode order first."
    kind = bool

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"'permute' is {shown(value)}; give true or false.")
        return bool(value)

    def read(self, word: str) -> Any:
        return {"true": True, "false": False}.get(word.lower(), word)

    def said(self, value: bool) -> Iterator[str]:
        yield "with copies"


CHOICE = Permute()
