"""Terms over the parts of what is split, stored before they are added."""

from collections.abc import Iterable
from typing import Any

from samhw.choices.choice import AUTO, Choice, all_numbered, check_names, is_list
from samhw.errors import InputError, shown
from samhw.lang import Program

__all__ = ["CHOICE"]

NONE = "none"


class PartialSums(Choice[str | tuple[str, ...]]):
    """the results whose terms over parts of what is split are stored before they are added, or `"auto"`
    ([formats.md](formats.md#where-parts-meet))"""

    name = "partial_sums"
    by_default = '`"auto"`'
    metavar = "T+U|none|auto"
    several = "auto,none,T+U"
    help = (
        "The results whose terms over parts of what is split are stored before they are added; auto, the "
        "default: where that is needed, or clearly faster."
    )

    def check(self, value: Any) -> str | tuple[str, ...]:
        if value == AUTO:
            return AUTO
        if not is_list(value):
            raise InputError(f"'partial_sums' is {shown(value)}; give auto, or a list of results.")
        return check_names("partial_sums", value)

    def read(self, word: str) -> str | tuple[str, ...]:
        if word == NONE:
            return ()
        return AUTO if word == AUTO else tuple(result.strip() for result in word.split("+"))

    def word(self, value: str | tuple[str, ...]) -> str:
        return value if isinstance(value, str) else "+".join(value) or NONE

    def said(self, value: str | tuple[str, ...]) -> Any:
        yield f"terms of {', '.join(value)} stored" if value else "no terms stored"

    def with_numbers(self, value: str | tuple[str, ...], names: Iterable[str]) -> str | tuple[str, ...]:
        return value if isinstance(value, str) else all_numbered(value, names)

    def apply(self, program: Program, value: str | tuple[str, ...], *, is_open: bool) -> Program:
        program.check_computed("partial_sums", () if isinstance(value, str) else value)
        return program


CHOICE = PartialSums()
