"""Cards by name, with their device and the memory that kernels reach through m_axi."""

from typing import NamedTuple

__all__ = ["CARDS", "Card", "memory_of", "part_of"]


class Card(NamedTuple):
    """What a card's makers say of it: AWS of the instances F1 and F2, AMD of the Alveo data center cards."""

    part: str
    """Its device, as Vitis calls it."""
    memory: str = ""
    """The banks that a link configuration joins a port to; empty where that is left to the platform."""


CARDS = {
    "f1": Card("xcvu9p-flgb2104-2-i"),
    "f2": Card("xcvu47p-fsvh2892-2-e"),
    "u50": Card("xcu50-fsvh2104-2-e", "HBM[0:31]"),
    "u55c": Card("xcu55c-fsvh2892-2L-e", "HBM[0:31]"),
    "u250": Card("xcu250-figd2104-2L-e", "DDR[0]"),
    "u280": Card("xcu280-fsvh2892-2L-e", "HBM[0:31]"),
}


def part_of(name: str) -> str:
    """The device of a card, or what is the name of none."""
    card = CARDS.get(name.lower())
    return card.part if card else name


def memory_of(part: str) -> str:
    """The banks of the card that has the device; empty where none is known."""
    return next((card.memory for card in CARDS.values() if card.part == part), "")
