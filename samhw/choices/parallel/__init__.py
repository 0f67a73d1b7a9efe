"""Parallel: whether regions that need nothing of each other run side by side."""

from collections.abc import Sequence
from typing import Any

from samhw.choices.choice import Choice, check_one_of
from samhw.lang import Region

__all__ = ["ALL", "CHOICE", "NONE"]

ALL, NONE = "all", "none"


class ParallelRegions(Choice[str]):
    """whether regions that need nothing of each other run side by side
    ([timing.md](timing.md#the-elastic-rule)): `"all"` or `"none"`; then equal ones share hardware only where
    they do not"""

    name = "parallel"
    by_default = '`"none"`'
    metavar = "WHICH"
    several = "all,none"
    help = "Which regions run side by side: none (the default), or all that need nothing of each other."

    def check(self, value: Any) -> str:
        check_one_of(self.name, value, (ALL, NONE))
        found: str = value
        return found

    def read(self, word: str) -> str:
        """One of the two."""
        return word

    def word(self, value: str) -> str:
        return value

    def matters(self, regions: Sequence[Region]) -> bool:
        return len(regions) > 1


CHOICE = ParallelRegions()
