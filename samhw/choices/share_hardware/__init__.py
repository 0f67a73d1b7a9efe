"""Shared hardware: which regions run on one fabric."""

from collections.abc import Sequence
from typing import Any

from samhw.choices.choice import AUTO, Choice, check_names, check_one_of, is_list
from samhw.errors import InputError, shown
from samhw.lang import Program, Region

__all__ = ["ALL", "CHOICE", "NONE", "Shared"]

ALL, NONE = "all", "none"

Shared = str | tuple[tuple[str, ...], ...]


class SharedHardware(Choice[Shared]):
    """which equal regions run on one fabric ([compiler.md](compiler.md#fabrics)): `"auto"`, where that costs
    no cycle; `"all"`, `"none"`, or lists of results of those that share one"""

    name = "share_hardware"
    by_default = '`"auto"`'
    metavar = "WHICH"
    several = "auto,none,.."
    help = (
        "Which equal regions run on one fabric: auto (the default), where it costs no cycle; all; none; or "
        "results of the regions that share one, such as Q+K+V, several with commas."
    )

    def check(self, value: Any) -> Shared:
        if isinstance(value, str):
            check_one_of(self.name, value, (AUTO, ALL, NONE))
            return value
        if not is_list(value):
            raise InputError(
                f"'{self.name}' is {shown(value)}; give one of {AUTO}, {ALL}, {NONE}, or lists of results."
            )
        lists = tuple(check_names(self.name, names) for names in value)
        if any(len(names) < 2 for names in lists):
            raise InputError(f"A list of '{self.name}' names {shown(min(lists, key=len))}; give two or more.")
        return lists

    def read(self, word: str) -> str | list[list[str]]:
        """One word for all regions, or `Q+K+V,T1+T2`."""
        if word in (AUTO, ALL, NONE):
            return word
        return [[name.strip() for name in names.split("+")] for names in word.split(",")]

    def word(self, value: str | Sequence[Sequence[str]]) -> str:
        return value if isinstance(value, str) else ",".join("+".join(names) for names in value)

    def apply(self, program: Program, value: Shared, *, is_open: bool) -> Program:
        if not isinstance(value, str) and not is_open:
            program.check_computed(self.name, [name for names in value for name in names])
        return program

    def matters(self, regions: Sequence[Region]) -> bool:
        return len(regions) > 1


CHOICE = SharedHardware()
