"""Cards by name, with their device and the memory that kernels reach through m_axi."""

from typing import NamedTuple

__all__ = ["CARDS", "Card", "memory_of", "part_of", "ram_of"]


class Card(NamedTuple):
    """What a card's makers say of it: AWS of the instances F1 and F2, AMD of the Alveo data center cards."""

    part: str
    """Its device, as Vitis calls it."""
    block_rams: int
    """Of 36 Kb (DS890; of the Alveo cards, their product pages' data sheets)."""
    ultra_rams: int
    """Of 288 Kb."""
    memory: str = ""
    """The banks that a link configuration joins a port to; empty where that is left to the platform."""

    @property
    def ram_bytes(self) -> int:
        """What its memories on the chip hold."""
        return (self.block_rams * 36 + self.ultra_rams * 288) * 1024 // 8


CARDS = {
    "f1": Card("xcvu9p-flgb2104-2-i", 2_160, 960),
    "f2": Card("xcvu47p-fsvh2892-2-e", 2_016, 960),
    "u50": Card("xcu50-fsvh2104-2-e", 1_344, 640, "HBM[0:31]"),
    "u55c": Card("xcu55c-fsvh2892-2L-e", 2_016, 960, "HBM[0:31]"),
    "u250": Card("xcu250-figd2104-2L-e", 2_688, 1_280, "DDR[0]"),
    "u280": Card("xcu280-fsvh2892-2L-e", 2_016, 960, "HBM[0:31]"),
}


def part_of(name: str) -> str:
    """The device of a card, or what is the name of none."""
    card = CARDS.get(name.lower())
    return card.part if card else name


def ram_of(part: str) -> int | None:
    """Bytes that the memories on a card's device hold; None for a device of no card."""
    return next((card.ram_bytes for card in CARDS.values() if card.part == part), None)


def memory_of(part: str) -> str:
    """The banks of the card that has the device; empty where none is known."""
    return next((card.memory for card in CARDS.values() if card.part == part), "")
