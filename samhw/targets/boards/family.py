"""What boards with FPGAs of one family have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from amaranth.hdl import Elaboratable, Value

__all__ = ["CELLS", "Family", "Settings"]

CELLS = Path(__file__).parent / "cells"
"""Models of the cells of FPGAs, in Verilog, for emulation."""


@dataclass(frozen=True)
class Settings:
    """What makes a frequency: parameters of the PLL's cell."""

    frequency: float
    parameters: Mapping[str, float]


class Family(ABC):
    """A family of FPGAs.

    Attributes:
        block_bits: of a block memory, as `Device` counts them.
        cells: models of those of its cells that board tops use.
        bitstreams: its bitstreams are made by tools that pip installs.
    """

    block_bits: int
    cells: Path
    bitstreams: bool

    @abstractmethod
    def settings(self, source: float, wanted: float) -> Settings:
        """How a PLL makes, of `source` Hz, the greatest frequency up to `wanted`; raises `InputError` if it
        makes none."""

    @abstractmethod
    def pll(self, settings: Settings, source: Value, clock: Value, locked: Value) -> Elaboratable:
        """The PLL: drives `clock` and, when that is steady, `locked`."""
