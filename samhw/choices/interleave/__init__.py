"""Interleaving: which tensors lie in banks that their readers share, instead of a copy for each."""

from collections.abc import Iterable
from typing import Any

from samhw.choices.choice import Choice, all_numbered, check_names, check_one_of
from samhw.errors import InputError
from samhw.lang import Program

__all__ = ["ALL", "CHOICE", "NONE"]

ALL, NONE = "all", "none"

Names = str | tuple[str, ...]


class Interleave(Choice[Names]):
    """the tensors, or arrays (`"X.vals"`), in banks that readers share ([compiler.md](compiler.md#lanes)); or
    `"all"`"""

    name = "interleave"
    by_default = '`"none"`'
    metavar = "X+Y|all|none"
    several = "none,X"
    between = "+"
    help = (
        "The tensors, or arrays of them, that lie in banks which all readers share, instead of a copy for "
        "each: X, X.vals, several with a + between them; all; or none (the default)."
    )

    def check(self, value: Any) -> Names:
        if isinstance(value, str):
            check_one_of(self.name, value, (ALL, NONE))
            return value
        return tuple(dict.fromkeys(check_names(self.name, value))) or NONE

    def read(self, word: str) -> Names:
        """One word for all tensors, or `X+Y`."""
        return word if word in (ALL, NONE) else tuple(name.strip() for name in word.split("+"))

    def word(self, value: Names) -> str:
        return value if isinstance(value, str) else "+".join(value)

    def with_numbers(self, value: Names, names: Iterable[str]) -> Names:
        return value if isinstance(value, str) else all_numbered(value, names)

    def apply(self, program: Program, value: Names, *, is_open: bool) -> Program:
        for name in () if isinstance(value, str) else value:
            # Names that passes give to what they add are not known yet.
            if not is_open and name.partition(".")[0] not in program.tensors:
                known = ", ".join(program.tensors)
                raise InputError(f"There is no tensor '{name}' to interleave; the program has {known}.")
        return program


CHOICE = Interleave()
