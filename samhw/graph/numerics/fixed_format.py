"""Two's complement words as numbers: what integers and fixed point have in common."""

from dataclasses import dataclass
from functools import cached_property

from samhw.graph.numerics.lanes import Bits, clip, select
from samhw.graph.numerics.valuetype import OVERFLOW

__all__ = ["FixedFormat"]


@dataclass(frozen=True)
class FixedFormat:
    """Two's complement words of `width` bits, `fraction` of them after the point."""

    width: int
    fraction: int
    saturates: bool
    """What happens to a result out of range: it becomes the nearest in range, or `OVERFLOW`."""

    @cached_property
    def lowest(self) -> int:
        """The least signed word."""
        return -(1 << self.width - 1)

    @cached_property
    def highest(self) -> int:
        """The greatest signed word."""
        return (1 << self.width - 1) - 1

    @cached_property
    def one(self) -> int:
        """The word of 1, or the greatest if that is below 1."""
        return min(1 << self.fraction, self.highest)

    def signed(self, word: Bits) -> Bits:
        """The word as a signed integer."""
        return (word ^ -self.lowest) + self.lowest

    def saturate(self, exact: Bits) -> Bits:
        """The word of the number in range that is nearest to a signed integer."""
        return clip(exact, self.lowest, self.highest) & (1 << self.width) - 1

    def finish(self, exact: Bits) -> Bits:
        """The word of a signed integer, or what stands for one that is out of range."""
        word = self.saturate(exact)
        return word if self.saturates else select(self.signed(word) == exact, word, OVERFLOW)
