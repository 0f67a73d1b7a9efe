"""Room on the chip: how much the memories of tensors take there."""

import re
from typing import Any

from samhw.choices.choice import AUTO, Choice
from samhw.errors import InputError, shown

__all__ = ["ALL", "CHOICE", "NONE", "bytes_of"]

ALL, NONE = "all", "none"

UNITS = {"": 0, "KB": 10, "MB": 20}


class OnChip(Choice[str]):
    """how much lies on the chip of what `place` leaves open: a size such as `"256KB"`, which the smallest
    arrays have as far as they fit, `"all"`, `"none"`, or `"auto"` ([memory.md](memory.md#placement))"""

    name = "on_chip"
    by_default = '`"auto"`'
    metavar = "SIZE|all|none|auto"
    several = "64KB,1MB,.."
    help = (
        "What the memories of tensors may take on the chip, such as 256KB or 8MB: the smallest arrays lie "
        "there, as far as they fit; or all, none, or auto (the default)."
    )

    def check(self, value: Any) -> str:
        word = value.strip() if isinstance(value, str) else ""
        if word not in (ALL, NONE, AUTO) and not re.fullmatch(r"\d{1,12}(KB|MB)?", word):
            raise InputError(
                f"'on_chip' is {shown(value)}; give a size such as 256KB or 8MB, {ALL}, {NONE} or {AUTO}."
            )
        return word


CHOICE = OnChip()


def bytes_of(word: str) -> int | None:
    """The bytes of a size; None for the other words."""
    found = re.fullmatch(r"(\d+)(KB|MB)?", word)
    return int(found[1]) << UNITS[found[2] or ""] if found else None
