"""Sharing: what uses of an intermediate have in common."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from samhw.choices.choice import Choice, check_once, check_table, table_with_numbers
from samhw.errors import InputError, shown
from samhw.lang import Program, Region
from samhw.words import did_you_mean

__all__ = ["CHOICE", "SHARES", "Share"]

Share = Literal["auto", "all", "none"]
SHARES: tuple[Share, ...] = get_args(Share)
WAYS = ("buffer", "store", "recompute")
"""What may be asked for one intermediate."""


class SharedUses(Choice[Share | dict[str, str]]):
    """what uses of an intermediate share: `"auto"`, `"all"`, `"none"`, or by intermediate `"buffer"`,
    `"store"` or `"recompute"` (below)"""

    name = "share"
    by_default = '`"auto"`'
    metavar = "WHAT"
    several = "auto,none,T=buffer+U=store"
    between = "+"
    help = (
        "What uses of an intermediate share: auto (the default), all or none; or T=buffer, T=store, "
        "T=recompute, several with a + between them."
    )

    def check(self, value: Any) -> Share | dict[str, str]:
        if isinstance(value, str):
            if value not in SHARES:
                raise InputError(
                    f"There is no share '{value}'{did_you_mean(value, SHARES)}; the choices are "
                    f"{', '.join(SHARES)}, or a table with one "
                    f"of {', '.join(WAYS)} for an intermediate."
                )
            return value
        table = check_table("share", value, 'such as T = "buffer"')
        for name, way in table.items():
            if not isinstance(way, str) or way not in WAYS:
                raise InputError(
                    f"'share' is {shown(way)} for '{name}'{did_you_mean(way, WAYS)}; the choices are "
                    f"{', '.join(WAYS)}."
                )
        return table

    def read(self, word: str) -> str | dict[str, str]:
        """One word for all intermediates, or one for each of some: `T=buffer+U=store`, or with commas."""
        if "=" not in word:
            return word
        ways: dict[str, str] = {}
        for entry in word.replace("+", ",").split(","):
            name, equals, way = (part.strip() for part in entry.partition("="))
            if not equals:
                raise InputError(f"share '{word}': give each intermediate one way, as in T=buffer,U=store.")
            check_once(self.name, name, ways, way)
            ways[name] = way
        return ways

    def word(self, value: Share | Mapping[str, str]) -> str:
        return value if isinstance(value, str) else "+".join(f"{name}={way}" for name, way in value.items())

    def with_numbers(self, value: Share | dict[str, str], names: Iterable[str]) -> Share | dict[str, str]:
        return value if isinstance(value, str) else table_with_numbers(value, names)

    def apply(self, program: Program, value: Share | dict[str, str], *, is_open: bool) -> Program:
        if not is_open:
            program.check_computed("share", {} if isinstance(value, str) else value)
        return program

    def matters(self, regions: Sequence[Region]) -> bool:
        return any(len(region.statements) > 1 for region in regions)


CHOICE = SharedUses()
