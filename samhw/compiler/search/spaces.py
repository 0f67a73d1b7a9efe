"""The orders that a region's indices may have, for each way to share what is fused (FuseFlow table 4)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial

from samhw.errors import ScheduleError
from samhw.lang import Program, Region
from samhw.lang.decision import Refusal, Sharing
from samhw.lang.fusion import (
    FusedRegion,
    PartialOrder,
    count_orders,
    orders,
    outermost_orders,
    partial_order,
    swapped_orders,
)

__all__ = ["OrderSpace", "free_spaces", "order_spaces", "spaces"]


@dataclass(frozen=True)
class OrderSpace:
    """The orders of a region's indices, of which fewer are left with each further constraint."""

    program: Program
    of: Region
    region: FusedRegion

    @cached_property
    def constrained(self) -> PartialOrder:
        """What the storage of tensors and the statements' own orders ask for."""
        return partial_order(self.region)

    @cached_property
    def stored(self) -> PartialOrder:
        """What the storage of tensors alone asks for."""
        return partial_order(FusedRegion(*_unordered(self.program, self.of), self.region.sharing))

    @property
    def indices(self) -> tuple[str, ...]:
        return tuple(self.region.dimension)

    @property
    def any_order(self) -> int:
        """The permutations of the indices."""
        return factorial(len(self.indices))

    @property
    def kept_storage(self) -> int:
        """The orders that suit the storage of every tensor."""
        return count_orders(self.stored)

    @property
    def kept_all(self) -> int:
        """Those that suit the orders of the statements too."""
        return count_orders(self.constrained)

    def orders(self) -> Iterator[tuple[str, ...]]:
        """The latter, each when it is asked for. Raises `ScheduleError` where there are none."""
        return orders(self.region, self.constrained)

    def outermost(self) -> Iterator[tuple[str, ...]]:
        """The first of them for each index that can stand outermost. Raises as `orders` does."""
        return outermost_orders(self.region, self.constrained)

    def swapped(self, order: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Those that differ from an order of the same indices by two neighbours."""
        return swapped_orders(self.constrained, order)


def spaces(
    program: Program,
    region: Region,
    ways: Sequence[Sharing] = tuple(Sharing),
    recomputed: Collection[str] = (),
) -> Iterator[OrderSpace | Refusal]:
    """The orders of one of the program's regions for each way to share; or why a way is none, since it has
    too many instances.

    Args:
        recomputed: the intermediates that each use recomputes, however others share.
    """
    for sharing in ways:
        try:
            yield OrderSpace(program, region, FusedRegion(program, region, sharing, recomputed))
        except ScheduleError as error:
            yield Refusal.of(error, region.written)


def order_spaces(program: Program, region: Region) -> list[OrderSpace]:
    """The orders of one of the program's regions: as its intermediates share indices where they can, and
    where they share less, if that gives other indices."""
    found: list[OrderSpace] = []
    for space in spaces(program, region):
        if isinstance(space, Refusal):
            break
        if not found or set(space.indices) != set(found[-1].indices):
            found.append(space)
    return found


def free_spaces(program: Program, region: Region, reading: Collection[str] | None = None) -> list[OrderSpace]:
    """The same with the statements' own orders left open.

    Args:
        reading: keep the orders of statements that read none of these tensors.
    """
    return order_spaces(*_unordered(program, region, reading))


def _unordered(
    program: Program, region: Region, reading: Collection[str] | None = None
) -> tuple[Program, Region]:
    """A program without the orders of the statements of one of its regions, and that region."""
    free = region.without_orders(reading)
    return program.in_regions(free if r == region else r for r in program.regions), free
