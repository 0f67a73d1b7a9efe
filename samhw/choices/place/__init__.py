"""Places: which tensors, or arrays of them, lie on the chip, and which off it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from samhw.choices.choice import Choice, check_once, check_table, table_with_numbers
from samhw.errors import InputError, shown
from samhw.lang import Program
from samhw.words import did_you_mean

__all__ = ["CHIP", "CHOICE", "Location", "in_words"]

CHIP = "chip"

WORDS = "chip, ddr or hbm; of several channels the one of a number, such as hbm:3"


class Location(NamedTuple):
    """Where something lies: `kind` is `chip`, or what memory off it is (`ddr`, `hbm`), of whose channels
    it has the one of that number, or any."""

    kind: str
    channel: int | None = None

    @classmethod
    def of(cls, word: str) -> "Location | None":
        """That of a word; None for other words."""
        if word == CHIP:
            return cls(CHIP)
        found = re.fullmatch(r"(ddr|hbm)(?::(\d{1,4}))?", word)
        return cls(found[1], int(found[2]) if found[2] else None) if found else None

    @property
    def is_off(self) -> bool:
        """It is not the chip."""
        return self.kind != CHIP

    def __str__(self) -> str:
        return self.kind if self.channel is None else f"{self.kind}:{self.channel}"


def in_words(name: str, place: str) -> str:
    """That something lies there."""
    return f"{name} on chip" if place == CHIP else f"{name} in {place}"


class TensorPlaces(Choice[dict[str, str]]):
    """by tensor, or by array of one (`"A.vals"`), where it lies: on the `"chip"`, or off it in `"ddr"` or
    `"hbm"`, of several channels in the one of a number, as `"hbm:3"` ([memory.md](memory.md#placement))"""

    name = "place"
    by_default = "by `on_chip`"
    metavar = "A=ddr,X=chip"
    several = "A=ddr,chip"
    has_entries = True
    between = "+"
    help = (
        "Where tensors lie: T=chip, T=ddr, T=hbm, or T=hbm:3 for a channel, several with a + between them; "
        "off the chip is what --memory names, or a card's memory."
    )

    def check(self, value: Any) -> dict[str, str]:
        table = check_table(self.name, value, 'such as A = "ddr"')
        for name, word in table.items():
            if not isinstance(word, str) or Location.of(word) is None:
                raise InputError(f"'{name}' cannot lie in {shown(word)}; give {WORDS}.")
        return {name: str(Location.of(word)) for name, word in table.items()}

    def read(self, word: str) -> dict[str, str]:
        """`A=ddr+X=chip`, or with commas."""
        places: dict[str, str] = {}
        for entry in filter(None, word.replace("+", ",").split(",")):
            name, equals, place = (part.strip() for part in entry.partition("="))
            if not equals:
                raise InputError(f"place '{word}': give each tensor one place, as in A=ddr,X=chip.")
            check_once(self.name, name, places, place)
            places[name] = place
        return places

    def word(self, value: Mapping[str, str]) -> str:
        return "+".join(f"{name}={place}" for name, place in value.items())

    def with_entry(self, value: Mapping[str, str], entry: str, word: str) -> dict[str, str]:
        return {**value, entry: word}

    def columns(self, value: Mapping[str, str]) -> dict[str, str]:
        return {f"{self.name}.{name}": word for name, word in value.items()}

    def said(self, value: Mapping[str, str]) -> Any:
        yield from (in_words(name, place) for name, place in value.items())

    def with_numbers(self, value: dict[str, str], names: Iterable[str]) -> dict[str, str]:
        return table_with_numbers(value, names)

    def apply(self, program: Program, value: Mapping[str, str], *, is_open: bool) -> Program:
        for name in value:
            # Names that passes give to what they add are not known yet.
            if not is_open and name.partition(".")[0] not in program.tensors:
                raise InputError(
                    f"There is no tensor '{name}' to place{did_you_mean(name, program.tensors)}; the program "
                    f"has {', '.join(program.tensors)}."
                )
        return program


CHOICE = TensorPlaces()
