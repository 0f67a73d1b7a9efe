"""What is known of the stored coordinates of a program's inputs: one question, and several ways to answer."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from samhw.cost.statistics.support import Support, onto
from samhw.tensors import Tensor
from samhw.tensors.ranges import even_ranges

__all__ = [
    "KINDS",
    "Dealt",
    "Kind",
    "RowCounts",
    "Stock",
    "TensorStatistics",
    "block_coordinates",
    "stored_coordinates",
]

Kind = Literal["uniform", "degrees", "sampled", "exact"]
RowCounts = Sequence[NDArray[np.float64]]
"""For each of several supports, how many coordinates each row has."""

_ALL = 0.99
"""The share of coordinates from which on rows are all that there are, and no sample."""

KINDS: tuple[Kind, ...] = ("uniform", "degrees", "sampled", "exact")


@dataclass(frozen=True)
class Stock:
    """What is known of a tensor without its coordinates: the extent of each mode, and how many coordinates it
    stores where its levels are compressed."""

    shape: tuple[int, ...]
    entries: float

    def in_blocks(self, block: tuple[int, ...]) -> "Stock":
        """The same of its blocks, where each element is there with the same probability."""
        if not block:
            return self
        share = self.entries / max(1.0, prod(map(float, self.shape)))
        shape = tuple(-(-extent // size) for extent, size in zip(self.shape, block, strict=True))
        return Stock(shape, prod(map(float, shape)) * (1 - (1 - min(share, 1.0)) ** prod(block)))


@dataclass(frozen=True)
class Dealt:
    """Coordinates that lanes share: those of each fiber are dealt to them in turn.

    Attributes:
        of: what is dealt, over `index` and all indices outside of it.
        lanes: how many there are.
        is_even: they have ranges instead, with about as much work in each.
    """

    index: str
    of: Support
    lanes: int
    is_even: bool = False


class TensorStatistics(ABC):
    """What is known of the stored coordinates of inputs.

    What was counted is kept, so that another design for the same data asks again for nothing.
    """

    kind: Kind
    is_bound: bool = False
    """Counts are upper bounds that hold for sure, instead of what is expected."""

    def __init__(self) -> None:
        self._counts: dict[Support, float] = {}
        self._busiest: dict[tuple[Support, tuple[Dealt, ...]], float] = {}
        self._shares: dict[tuple[Support, Dealt], float] = {}
        self._row_counts: dict[tuple[tuple[Support, ...], tuple[str, ...]], RowCounts | None] = {}

    @property
    @abstractmethod
    def stocks(self) -> Mapping[str, Stock]:
        """The tensors that something is known of, by name."""

    def count(self, support: Support, indices: Collection[str] | None = None) -> float:
        """How many distinct coordinates a support has, over all of its indices or some of them.

        Raises:
            KeyError: for a stored tensor that nothing is known of.
        """
        asked = support if indices is None else onto(support, indices)
        known = self._counts.get(asked)
        if known is None:
            known = self._counts[asked] = self._counted(asked)
        return known

    def fiber(self, support: Support, outer: Collection[str]) -> float:
        """How many coordinates a fiber has on average: of those over the outer indices that have any."""
        return self.count(support) / max(self.count(support, outer), 1.0)

    def busiest(self, support: Support, dealt: Sequence[Dealt]) -> float:
        """How many of a support's coordinates the busiest lane has, where those of some of its indices are
        dealt; by statistics without coordinates as many as every other lane.

        Raises:
            KeyError: as `count` does.
        """
        own = [one for one in dealt if one.index in support.indices]
        even = prod(self._share_of_ranges(support, one) for one in own if one.is_even)
        key = support, tuple(one for one in own if not one.is_even)
        if not key[1]:
            return self.count(support) * even
        if key not in self._busiest:
            self._busiest[key] = self._most_dealt(*key)
        return self._busiest[key] * even

    def _share_of_ranges(self, support: Support, dealt: Dealt) -> float:
        """The share of a support's coordinates that the greatest of some ranges of rows has. A row is in one
        range, so that a long one leaves little to the other lanes."""
        key = support, dealt
        if key not in self._shares:
            self._shares[key] = max(1 / dealt.lanes, self._greatest_range(support, dealt))
        return self._shares[key]

    def _greatest_range(self, support: Support, dealt: Dealt) -> float:
        total, found = self.count(support), self.by_row([support], (dealt.index,))
        if found is None or not total or not len(found[0]):
            return 0.0
        (rows,) = found
        if np.sum(rows) < _ALL * total:  # Of a sample the longest row is known alone.
            return float(np.max(rows) / total)
        begins = even_ranges([np.ceil(np.maximum(rows, 1)).astype(np.int64)], dealt.lanes)
        assert begins is not None, "ranges without limits have room for all rows"
        sums = np.concatenate([[0], np.cumsum(rows)])
        return float(np.max(np.diff(sums[begins])) / total)

    def _most_dealt(self, support: Support, dealt: tuple[Dealt, ...]) -> float:
        """The count of the busiest lane."""
        return self.count(support) / prod(one.lanes for one in dealt)

    def by_row(self, supports: Sequence[Support], outer: Sequence[str]) -> RowCounts | None:
        """For each support, how many coordinates each row has, row by row; of all rows that any support has,
        or of a sample with neighbours beside each other. None where all rows are alike, or nothing is known
        of single ones.

        Args:
            outer: the indices of the rows, outermost first, which all supports have.

        Raises:
            KeyError: as `count` does.
        """
        key = tuple(supports), tuple(outer)
        if key not in self._row_counts:
            self._row_counts[key] = self._by_row(*key)
        return self._row_counts[key]

    def _by_row(self, supports: tuple[Support, ...], outer: tuple[str, ...]) -> RowCounts | None:
        return None

    @abstractmethod
    def _counted(self, support: Support) -> float:
        """The count of a support over all of its indices."""


def stored_coordinates(tensor: Tensor, *, is_mask: bool = False) -> NDArray[np.int64]:
    """The coordinates that a tensor stores in compressed levels, of shape (rank, n): zeros that are stored
    count, but for a mask, and zeros that only fill a dense level do not."""
    innermost = tensor.format.levels[-1:]
    coords, _ = tensor.to_coo(drop_zeros=is_mask or any(level.is_full for level in innermost))
    return coords


def block_coordinates(coordinates: NDArray[np.int64], block: tuple[int, ...]) -> NDArray[np.int64]:
    """The blocks of these sizes that have any of some coordinates (rank, n)."""
    if not block:
        return coordinates
    found: NDArray[np.int64] = np.unique(coordinates // np.array(block)[:, None], axis=1)
    return found
