"""How many orders of indices a region has (FuseFlow table 4), for each way to share what is fused."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import factorial

import networkx as nx

from samhw.errors import ScheduleError
from samhw.frontend import Program, Region
from samhw.fusion.fuse import FusedRegion, Sharing
from samhw.fusion.order import count_orders, orders, partial_order

__all__ = ["OrderSpace", "order_spaces"]


@dataclass(frozen=True)
class OrderSpace:
    """The orders of a region's indices, of which fewer are left with each further constraint."""

    region: FusedRegion
    stored: "nx.DiGraph[str]"
    """What the storage of tensors asks for."""
    constrained: "nx.DiGraph[str]"
    """What the statements' own orders ask for as well."""

    @property
    def indices(self) -> tuple[str, ...]:
        return tuple(self.constrained)

    @property
    def any_order(self) -> int:
        """The permutations of the indices."""
        return factorial(len(self.constrained))

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


def order_spaces(program: Program, region: Region) -> list[OrderSpace]:
    """The orders of one of the program's regions: as its intermediates share indices where they can, and
    where they share less, if that makes a difference."""
    spaces: list[OrderSpace] = []
    free = Region(tuple(replace(s, order=None) for s in region.statements))
    unordered = replace(program, regions=tuple(free if r == region else r for r in program.regions))
    for sharing in Sharing:
        try:
            fused = FusedRegion(program, region, sharing)
        except ScheduleError:  # Too many instances.
            break
        without = FusedRegion(unordered, free, sharing)
        space = OrderSpace(fused, partial_order(without), partial_order(fused))
        if not spaces or set(space.indices) != set(spaces[-1].indices):
            spaces.append(space)
    return spaces
