"""Where a region ends earlier than it was asked to: behind an intermediate that would be computed again and
again.

Where a use lies in another nest of loops than what computes an intermediate, no stream can serve it: a whole
tensor would have to wait. Then it is stored, and a region of its own goes on from there, if that is expected
to take fewer cycles than to compute it anew.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from samhw.compiler.computations import Computation
from samhw.compiler.region import CompiledRegion, RegionCompiler
from samhw.errors import InputError, ScheduleError

__all__ = ["split_regions"]

BETTER = 0.95
"""What the expected cycles must come down to before a region is split."""

RISE = 1.25
"""How many times more often an intermediate is computed than what reads it, where a region may end."""


def split_regions(compiler: RegionCompiler) -> tuple[CompiledRegion, ...]:
    """The regions of a program, compiled, some of them in several parts.

    Raises:
        InputError: for a region that cannot be lowered, with the reason and the way out.
    """
    parts = [_Splitter(compiler, number).parts() for number in range(len(compiler.program.regions))]
    if all(len(part) == 1 for part in parts):
        return tuple(region for part in parts for region in part)
    # Names, and what leaves a region, are those of the program in all of its parts.
    whole = compiler.of([region.region for part in parts for region in part])
    notes = (region.note for part in parts for region in part)
    return tuple(replace(whole.region(number), note=note) for number, note in enumerate(notes))


class _Splitter:
    """Of one region. Parts are `(start, stop)`, places in its statements."""

    def __init__(self, compiler: RegionCompiler, number: int):
        self._compiler = compiler
        self._number = number
        self._region = compiler.program.regions[number]
        self._share = compiler.schedule.share
        self._known: dict[tuple[int, int], CompiledRegion | InputError] = {}

    def parts(self) -> list[CompiledRegion]:
        """The region's parts in order; itself, if it is not split."""
        statements = self._region.statements
        ends = [
            n + 1
            for n, statement in enumerate(statements[:-1])
            if self._compiler.schedule.share_of(statement.lhs.tensor) == "store"
        ]
        if ends and self._region.order is not None:
            raise ScheduleError(
                f"'share' stores {statements[ends[0] - 1].lhs.tensor}, so that its region ends there, but "
                "the schedule gives the whole region an order; leave one of the two out."
            )
        places = [0, *ends, len(statements)]
        found = []
        for start, stop in pairwise(places):
            found += self._split(start, stop)
        return found

    def _split(self, start: int, stop: int) -> list[CompiledRegion]:
        """The statements as they run the fewest cycles, in one region or several."""
        whole = self._compiled(start, stop)
        if self._region.order is not None:
            self._check_all(whole)
        if self._share == "none" or self._region.order is not None:
            return [whole]
        options = [option for end in self._ends(whole, start, stop) if (option := self._at(start, end, stop))]
        best = min(options, key=lambda option: sum(part.expected.cycles for part in option), default=None)
        if best is None:
            self._check_all(whole)
            return [whole]
        cycles = sum(part.expected.cycles for part in best)
        if self._share != "all" and cycles > BETTER * whole.expected.cycles:
            return [whole]
        end = start + len(best[0].region.statements)
        first, *rest = [*self._split(start, end), *self._split(end, stop)]
        return [replace(first, note=first.note or _note(whole, best[0])), *rest]

    def _at(self, start: int, end: int, stop: int) -> list[CompiledRegion] | None:
        """Both parts, if the region can end there."""
        try:
            return [self._compiled(start, end), self._compiled(end, stop)]
        except InputError:
            return None

    def _compiled(self, start: int, stop: int) -> CompiledRegion:
        """A part of the region, compiled in a program that has it in a region of its own."""
        if (start, stop) not in self._known:
            try:
                self._known[start, stop] = self._compile(start, stop)
            except InputError as error:
                self._known[start, stop] = error
        found = self._known[start, stop]
        if isinstance(found, InputError):
            raise found
        return found

    def _compile(self, start: int, stop: int) -> CompiledRegion:
        statements = self._region.statements
        if (start, stop) == (0, len(statements)):
            return self._compiler.region(self._number)
        parts = [statements[:start], statements[start:stop], statements[stop:]]
        regions = [replace(self._region, statements=s, label=s[-1].lhs.tensor) for s in parts if s]
        others = self._compiler.program.regions
        program = [*others[: self._number], *regions, *others[self._number + 1 :]]
        return self._compiler.of(program).region(self._number + bool(start))

    def _ends(self, whole: CompiledRegion, start: int, stop: int) -> Iterator[int]:
        """Where the region may end: behind what is computed more often than what reads it, or right before
        its first reader."""
        place = {s.lhs.tensor: n for n, s in enumerate(self._region.statements[:stop])}
        times = {computation.tensor: computation.times for computation in whole.computations}
        ends = set()
        for computation in whole.computations:
            readers = [reader for reader in computation.readers if reader in place]
            if self._may_end_behind(computation) and computation.times > RISE * max(
                times.get(reader, 1.0) for reader in readers
            ):
                ends |= {place[computation.tensor] + 1, min(place[reader] for reader in readers)}
        yield from (end for end in sorted(ends) if start < end < stop)

    def _may_end_behind(self, computation: Computation) -> bool:
        asked = self._compiler.schedule.share_of(computation.tensor)
        return not computation.is_once and asked in ("auto", "all")

    def _check_all(self, whole: CompiledRegion) -> None:
        """Raises `ScheduleError` if something is computed twice although nothing may be."""
        for computation in whole.computations:
            if self._share == "all" and not computation.is_once:
                raise ScheduleError(
                    f"'share' is all, but {computation.tensor} would be computed more than once: "
                    f"{computation.why}; choose another order, end the fused region behind it, or take "
                    "'auto'."
                )


def _note(whole: CompiledRegion, first: CompiledRegion) -> str:
    """Why a region ends."""
    written = {s.lhs.tensor for s in first.region.statements}
    again = [c for c in whole.computations if c.tensor in written and not c.is_once]
    worst = max(again, key=lambda c: c.times * c.points)
    return (
        f"ends behind {first.region.statements[-1].lhs.tensor}: fused with what follows, {worst.tensor} "
        f'would be computed about {worst.times:.1f} times ({worst.why}); share = "none" fuses it'
    )
