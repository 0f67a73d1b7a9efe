"""One region: the ways to share and the orders that it may have, and the first that streams can follow."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import prod

from samhw.compiler import LoweredRegion, Scope, assembled, lower_fused, lower_region
from samhw.compiler.lowering import TOO_DEEP
from samhw.compiler.passes import Lowerable, compress_result, copy_in_region
from samhw.compiler.search.spaces import OrderSpace, spaces
from samhw.errors import InputError, ScheduleError
from samhw.graph import levels
from samhw.lang.decision import Refusal, RegionDecision
from samhw.lang.fusion import check_order, ways_to_share

__all__ = ["Candidate", "RegionSearch"]

DEEP_ORDERS = 2
"""In how many orders a region's loops are nested too deep before no other one is tried."""


@dataclass(frozen=True)
class Candidate:
    """A way to make a region that can be lowered.

    Attributes:
        decision: what is decided.
        main: the region itself, lowered.
        cycles: what is expected of it and of the regions that it needs beside it: copies, and those that make
            results of compressed levels.
    """

    decision: RegionDecision
    main: LoweredRegion
    cycles: float


class RegionSearch:
    """Looks for a way to make a region.

    Args:
        scope: of the program, with its region among the program's.
    """

    def __init__(self, scope: Scope):
        self._scope = scope
        self._schedule = scope.lowerable.schedule

    def best(self, lowerable: Lowerable, number: int) -> Candidate | Refusal:
        """The first way that streams can follow: of the ways to share the one that shares most, and of its
        orders the one that is closest to the program's text.

        Raises:
            InputError: for what no decision would make possible.
        """
        region = lowerable.program.regions[number]
        results = region.written
        try:
            lowerable, made = copy_in_region(lowerable, number)
        except ScheduleError as error:
            return Refusal.of(error, region.written)
        numbers = list(range(made.start, made.stop))
        place = self._main(lowerable, numbers)
        if place is None:
            return self._with_others(lowerable, numbers, None, RegionDecision(results, region.label))
        compressed: list[str] = []
        notes: list[str] = []
        while True:
            found = self._first(self._scope.of(lowerable), place)
            if not isinstance(found, Refusal):
                break
            if found.result is None:
                return found
            result = results[lowerable.program.regions[place].written.index(found.result)]
            lowerable, name = compress_result(lowerable, place, found.result)
            numbers.append(numbers[-1] + 1)
            compressed.append(result)
            notes.append(f"stores {result} as {name}, from which the next region makes it: {found.cause}")
        space, main = found
        decision = RegionDecision(
            results, region.label, main.order, space.region.sharing, tuple(compressed), "; ".join(notes)
        )
        return self._with_others(lowerable, [n for n in numbers if n != place], main, decision)

    def _main(self, lowerable: Lowerable, numbers: list[int]) -> int | None:
        """Which of the regions has loops to order; none for a reshape, or a transposition by a reducer."""
        for number in numbers:
            region = lowerable.program.regions[number]
            written = region.statements[0].lhs.tensor
            if (
                region.label is not None
                and not region.reshapes
                and region.is_plain
                and written not in lowerable.copies
            ):
                return number
        return None

    def _with_others(
        self, lowerable: Lowerable, others: list[int], main: LoweredRegion | None, decision: RegionDecision
    ) -> Candidate | Refusal:
        """The candidate with what is beside its main region, if all of that can be lowered."""
        scope = self._scope.of(lowerable)
        regions = [] if main is None else [main]
        for number in others:
            found = lower_region(scope, number)
            if isinstance(found, Refusal):
                return found
            regions.append(found)
        cycles = sum(region.expected.cycles for region in regions)
        return Candidate(decision, main or regions[0], cycles)

    def _first(self, scope: Scope, number: int) -> tuple[OrderSpace, LoweredRegion] | Refusal:
        """The first way to share, and the region in the first order, that streams can follow; or the first
        refusal."""
        refusal: Refusal | None = None
        misnamed: InputError | None = None
        for space in self._spaces(scope, number):
            try:
                found = space if isinstance(space, Refusal) else self._in_order(scope, number, space)
            except InputError as error:
                # An order may name the indices that another way to share has.
                misnamed = misnamed or error
                continue
            if not isinstance(found, Refusal):
                assert isinstance(space, OrderSpace)
                return space, found
            refusal = refusal or found
        if refusal is None:
            assert misnamed is not None
            raise misnamed
        return refusal

    def _spaces(self, scope: Scope, number: int) -> Iterator[OrderSpace | Refusal]:
        region = scope.program.regions[number]
        share = self._schedule.share
        return spaces(
            scope.program, region, ways_to_share(region, recomputed=share == "none"), scope.recomputed
        )

    def _in_order(self, scope: Scope, number: int, space: OrderSpace) -> LoweredRegion | Refusal:
        """The region in the first order that streams can follow, of as many as are to be tried."""
        asked = space.of.order
        try:
            if asked is not None:
                candidates = [check_order(space.region, space.constrained, asked)]
            else:
                candidates = list(islice(space.orders(), self._schedule.attempts))
        except ScheduleError as error:
            return Refusal.of(error, scope.program.regions[number].written)
        refusal: Refusal | None = None
        deep = 0
        for order in candidates:
            found = lower_fused(scope, number, space.region, order)
            if not isinstance(found, Refusal):
                found = self._as_asked(scope, found)
            if not isinstance(found, Refusal):
                return found
            refusal = refusal or found
            deep += found.cause == TOO_DEEP
            if deep == DEEP_ORDERS:
                break
        assert refusal is not None
        return refusal

    def _as_asked(self, scope: Scope, found: LoweredRegion) -> LoweredRegion | Refusal:
        """The region, if it can have what the schedule asks of it beside its order."""
        for computation in found.computations:
            if self._schedule.share_of(computation.tensor) == "buffer" and not computation.is_once:
                return Refusal(
                    f"'share' keeps {computation.tensor} in a buffer, but streams do not allow it: "
                    f"{computation.why}",
                    ("choose another order", f"'{computation.tensor} = \"store\"'"),
                    found.region.written,
                )
        # No channel holds more than all that its stream may have, each fiber with a stop.
        most = (prod(found.extent[i] + 1 for i in around) for around in set(levels(found.graph).values()))
        if self._schedule.lanes or max(most) > scope.arch.deepest:
            whole = assembled(scope, found)
            if isinstance(whole, Refusal):
                return whole
        return found
