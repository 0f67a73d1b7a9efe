"""Cards by name, with their device and the memory that kernels reach through m_axi."""

import re
from typing import NamedTuple

__all__ = ["CARDS", "Banks", "Card", "is_device", "memory_of", "part_of", "ram_of"]


class Banks(NamedTuple):
    """What kernels reach through m_axi."""

    kind: str
    """As a link configuration calls it."""
    banks: int
    bank_bytes: int


class Card(NamedTuple):
    """What a card's makers say of it: AWS of the instances F1 and F2, AMD of the Alveo data center cards."""

    part: str
    """Its device, as Vitis calls it."""
    block_rams: int
    """Of 36 Kb (DS890; of the Alveo cards, their product pages' data sheets)."""
    ultra_rams: int
    """Of 288 Kb."""
    memory: Banks | None = None
    """None where that is left to the platform."""

    @property
    def ram_bytes(self) -> int:
        """What its memories on the chip hold."""
        return (self.block_rams * 36 + self.ultra_rams * 288) * 1024 // 8


CARDS = {
    "f1": Card("xcvu9p-flgb2104-2-i", 2_160, 960),
    "f2": Card("xcvu47p-fsvh2892-2-e", 2_016, 960),
    "u50": Card("xcu50-fsvh2104-2-e", 1_344, 640, Banks("HBM", 32, 256 << 20)),
    "u55c": Card("xcu55c-fsvh2892-2L-e", 2_016, 960, Banks("HBM", 32, 512 << 20)),
    "u250": Card("xcu250-figd2104-2L-e", 2_688, 1_280, Banks("DDR", 4, 16 << 30)),
    "u280": Card("xcu280-fsvh2892-2L-e", 2_016, 960, Banks("HBM", 32, 256 << 20)),
}


def part_of(name: str) -> str:
    """The device of a card, or what is the name of none."""
    card = CARDS.get(name.lower())
    return card.part if card else name


_DEVICE = re.compile(
    r"x[acq](7[akrsvz]|[aksvz]u|u|k|v[a-z]?|2v[a-z])\d+[a-z]*-?[a-z]{2,5}\d+-\w+(-\w+)*", re.IGNORECASE
)
"""How AMD names devices: family and size, package, speed grade."""


def is_device(name: str) -> bool:
    """Whether a device may have the name: there are thousands, and none is listed here but those of cards."""
    return _DEVICE.fullmatch(name) is not None


def ram_of(part: str) -> int | None:
    """Bytes that the memories on a card's device hold; None for a device of no card."""
    return next((card.ram_bytes for card in CARDS.values() if card.part == part), None)


def memory_of(part: str) -> Banks | None:
    """The memory of the card that has the device, where it is known."""
    return next((card.memory for card in CARDS.values() if card.part == part), None)
