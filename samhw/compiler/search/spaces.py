"""What a search chooses from: the regions of a module tree, and the orders that the indices of a region may
have, for each way to share what is fused (FuseFlow table 4)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import factorial

from samhw.choices.fuse import MODULE
from samhw.choices.schedule import Schedule
from samhw.errors import ScheduleError
from samhw.lang import Access, Program, Region, Statement
from samhw.lang.brackets import apply_brackets
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

__all__ = ["OrderSpace", "free_spaces", "in_modules", "module_regions", "order_spaces", "spaces"]


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


# Regions by the module tree: what the operators of one module compute streams from one to the next.


def in_modules(schedule: Schedule, program: Program, scopes: Mapping[str, str] | None) -> Schedule:
    """The schedule with the regions that `module` stands for, if it has that.

    In a program that was not made of a module, and so has no `scopes`, it is refused where it is applied.
    """
    if schedule.fuse != MODULE or scopes is None:
        return schedule
    return replace(schedule, fuse=module_regions(apply_brackets(program, schedule.brackets), scopes))


def module_regions(program: Program, scopes: Mapping[str, str]) -> list[list[str]]:
    """For each region the results that it computes.

    Neighbouring statements of one module, and of those right inside of it, are a region. It ends before what
    would have something recomputed: an operand that lacks an index which stands outside of its own. Where
    streams end it, the search finds out.

    Args:
        scopes: for each result the module that computes it.
    """
    regions: list[list[Statement]] = []
    written: set[str] = set()
    for statement in program.statements:
        held = regions[-1] if regions else []
        if held and _home(statement, scopes) == _home(held[-1], scopes) and _joins(statement, held, written):
            held.append(statement)
        else:
            regions.append([statement])
            written = set()
        written.add(statement.lhs.tensor)
    return [[statement.lhs.tensor for statement in region] for region in regions]


def _home(statement: Statement, scopes: Mapping[str, str]) -> str:
    """The module that the operator's own module is right inside of."""
    return scopes.get(statement.lhs.tensor, "").rpartition(".")[0]


def _joins(statement: Statement, held: list[Statement], written: set[str]) -> bool:
    return (
        statement.joins(held)
        and (statement.mask is None or statement.mask.tensor not in written)
        and not any(
            access.tensor in written and _is_repeated(statement, access) for access in statement.reads
        )
    )


def _is_repeated(statement: Statement, access: Access) -> bool:
    """Whether an operand of the same region would be computed again and again."""
    if not access.variables:
        return False
    order = statement.order or statement.indices
    inner = max(map(order.index, access.variables))
    return any(index not in access.variables for index in order[:inner])
