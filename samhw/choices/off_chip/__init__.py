"""Which tensors lie off the chip."""

from typing import Any

from samhw.choices.choice import Choice, check_names
from samhw.errors import InputError
from samhw.lang import Program

__all__ = ["CHOICE"]


class TensorsOffChip(Choice[tuple[str, ...] | None]):
    """the tensors in the memory that `--memory` names ([memory.md](memory.md))"""

    name = "off_chip"
    by_default = "all"
    metavar = "A,B"
    several = "A+B,.."
    help = "The tensors that lie in the memory, by default all; needs --memory."
    needs_memory = True

    def check(self, value: Any) -> tuple[str, ...] | None:
        return None if value is None else check_names("off_chip", value)

    def read(self, word: str) -> tuple[str, ...] | None:
        names = word.replace("+", ",").split(",")
        return tuple(name.strip() for name in names) if word else None

    def word(self, value: tuple[str, ...] | None) -> str:
        return "+".join(value or ())

    def apply(self, program: Program, value: tuple[str, ...] | None, *, is_open: bool) -> Program:
        for name in value or ():
            if name not in program.tensors:
                raise InputError(
                    f"There is no tensor '{name}' to place off chip; the program has "
                    f"{', '.join(program.tensors)}."
                )
        return program


CHOICE = TensorsOffChip()
