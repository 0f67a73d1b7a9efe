"""Deal: which coordinates of an index each of its lanes has."""

from collections.abc import Mapping
from typing import Any

from samhw.choices.choice import Texts, check_one_of

__all__ = ["CHOICE", "RANGES", "TURNS"]

RANGES, TURNS = "ranges", "turns"


class Deal(Texts):
    """by index with lanes, which coordinates each lane has: in `"turns"`, or those of an outermost index in
    `"ranges"`, with memories and scanners of its own ([compiler.md](compiler.md#ranges-of-rows))"""

    name = "deal"
    of = "index"
    by_default = '`"turns"`'
    entry = "deal"
    example = RANGES
    such_as = f"i={RANGES}"
    metavar = f"i={RANGES}"
    several = f"i={TURNS},i={RANGES}"
    help = "Whether lanes of an index have its coordinates in turns, or in ranges of rows."

    def check(self, value: Any) -> dict[str, str]:
        table = super().check(value)
        for way in table.values():
            check_one_of("deal", way, (TURNS, RANGES))
        return table

    def word(self, value: Mapping[str, str]) -> str:
        return ";".join(f"{index}={way}" for index, way in value.items())


CHOICE = Deal()
