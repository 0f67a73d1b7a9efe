"""An SDRAM chip beside a design, which has its controller (docs/memory.md, "SDRAM")."""

from dataclasses import asdict, dataclass
from typing import Any

from samhw.errors import InputError, shown

__all__ = ["SdramChip"]

_FASTEST_PS, _SLOWEST_PS = 13_300, 50_000
"""The periods of a clock between which the chip's data come in time, and a refresh is a small part of all."""


@dataclass(frozen=True)
class SdramChip:
    """A chip, by the numbers of the Micron MT48LC16M16A2, the slowest of those that a ULX3S is sold with.

    `cycle_ps` is the period of the design's clock, which is the chip's. `figures` is what LiteDRAM calls a
    chip with its times. `latency` are the clocks from a read command to its data (CL).

    Raises:
        InputError: for a clock that is too fast or too slow.
    """

    cycle_ps: int = 20_000
    figures: str = "MT48LC16M16"
    bank_bits: int = 2
    row_bits: int = 13
    column_bits: int = 9
    word_bytes: int = 2
    latency: int = 2

    def __post_init__(self) -> None:
        if type(self.cycle_ps) is not int or not _FASTEST_PS <= self.cycle_ps <= _SLOWEST_PS:
            raise InputError(
                f"The SDRAM cannot have a clock of {shown(self.cycle_ps)} ps; give --clock from "
                f"{_FASTEST_PS / 1000:g} to {_SLOWEST_PS / 1000:g} ns."
            )

    @property
    def address_bits(self) -> int:
        """Bits of the number of a word."""
        return self.bank_bits + self.row_bits + self.column_bits

    @property
    def size(self) -> int:
        """The bytes that it holds."""
        return self.word_bytes << self.address_bits

    def to_json(self) -> dict[str, Any]:
        """A JSON object, whose items are the arguments of this class."""
        return asdict(self)
