"""What an einsum is lowered for, and which coordinates that lets be added to its own."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["Fill", "Goal"]


class Fill(Enum):
    """Which coordinates are added to those that the operands have at a row."""

    NONE = "none"
    EVERYWHERE = "all where there are values everywhere"
    ALL = "all"


@dataclass(frozen=True)
class Goal:
    """What the values are: a result, an intermediate or the operand of a reduction.

    Attributes:
        name: for scanners that stand for it.
        dense: the indices whose level is dense.
        is_stored: a dense level is written, so that it needs every coordinate.
    """

    name: str
    dense: frozenset[str] = frozenset()
    is_stored: bool = False

    def fill(self, index: str) -> Fill:
        """What is added at the row of an index."""
        if index not in self.dense:
            return Fill.NONE
        return Fill.ALL if self.is_stored else Fill.EVERYWHERE
