"""What a build has for its host beyond the registers and memories of every build."""

import re
from dataclasses import dataclass
from typing import Self

from samhw.errors import InputError, shown
from samhw.words import did_you_mean

__all__ = ["PLAIN_HOST", "HostOptions"]

_ID_BITS = 4
"""Of AXI4, unless somebody asks for others."""
_MOST_ID_BITS = 32
_FLAGS = ("clock", "interrupt", "pingpong", "recovery", "counters")


@dataclass(frozen=True)
class HostOptions:
    """The choices of docs/host_port.md, "More for a host"; by default none.

    Raises:
        InputError: for a width of IDs that there is not.
    """

    id_bits: int = 0
    """The width of AXI4's IDs; 0 for a port of AXI4-Lite, which has none."""
    clock: bool = False
    """The port has a clock and a reset of its own."""
    interrupt: bool = False
    """An interrupt, with the registers that enable and clear it."""
    pingpong: bool = False
    """Two banks of inputs and results: one for the host while a run works on the other."""
    recovery: bool = False
    """CONTROL ends a run and clears an error."""
    counters: bool = False
    """Registers count what the actors of each node spend a run on."""

    def __post_init__(self) -> None:
        if not 0 <= self.id_bits <= _MOST_ID_BITS:
            raise InputError(f"IDs of AXI4 have 1 to {_MOST_ID_BITS} bits; give axi4:N such an N.")

    @property
    def bursts(self) -> bool:
        """The port is one of AXI4."""
        return self.id_bits > 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """From words, as in `axi4:8,interrupt`.

        Raises:
            InputError: for another word, one that is there twice, or a width of IDs that there is not.
        """
        chosen: dict[str, int] = {}
        for word in filter(None, text.split(",")):
            field, value = _choice(word)
            if field in chosen:
                raise InputError(f"--host names '{word.partition(':')[0]}' twice; leave one out.")
            chosen[field] = value
        return cls(chosen.pop("id_bits", 0), **dict.fromkeys(chosen, True))


PLAIN_HOST = HostOptions()
"""What a build has unless somebody asks for more: AXI4-Lite alone."""


def _choice(word: str) -> tuple[str, int]:
    """The field that a word names, and its value."""
    if word in _FLAGS:
        return word, True
    found = re.fullmatch(r"axi4(?::(\d{1,9}))?", word)
    if found is None:
        known = ("axi4", *_FLAGS)
        hint = did_you_mean(word, known)
        raise InputError(
            f"There is no {shown(word)} for a host{hint}; choose among axi4, axi4:BITS, {', '.join(_FLAGS)}."
        )
    bits = int(found[1] or _ID_BITS)
    return "id_bits", bits or -1  # No bits at all are too few, and mean another port elsewhere.
