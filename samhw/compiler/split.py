"""Where a region ends earlier than it was asked to: behind an intermediate that would be computed again and
again, and where streams cannot follow all of it at once.

Where a use lies in another nest of loops than what computes an intermediate, no stream can serve it: a whole
tensor would have to wait. Then it is stored, and a region of its own goes on from there, if that is expected
to take fewer cycles than to compute it anew. Where that is what streams cannot follow, nothing else will do.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from samhw.compiler.computations import Computation
from samhw.compiler.region import CompiledRegion, RegionCompiler
from samhw.errors import InputError, ScheduleError, StreamError
from samhw.frontend import Program, Region

__all__ = ["split_regions"]

BETTER = 0.95
"""What the expected cycles must come down to before a region is split."""

RISE = 1.25
"""How many times more often an intermediate is computed than what reads it, where a region may end."""

Piece = Sequence[CompiledRegion]
"""What some statements of a region have become: a region, and those that fill in results of it that it has
stored in compressed levels."""


def split_regions(compiler: RegionCompiler) -> tuple[Program, tuple[CompiledRegion, ...]]:
    """The regions of a program, compiled, some of them in several parts, and the program in those regions.

    Raises:
        InputError: for a region that cannot be lowered, with the reason and the way out.
    """
    splitters = []
    regions: list[Region] = []
    parts: dict[int, CompiledRegion] = {}
    for number, region in enumerate(compiler.program.regions):
        if compiler.is_view(number):
            # A statement of the program, from which extents follow, and no region of the design.
            regions.append(region)
            continue
        splitters.append(_Splitter(compiler, number))
        for part in splitters[-1].parts():
            parts[len(regions)] = part
            regions.append(part.region)
    if len(regions) == len(compiler.program.regions):
        return compiler.program, tuple(parts.values())
    # Names, and what leaves a region, are those of the program in all of its parts.
    written = {statement.lhs.tensor for region in regions for statement in region.statements}
    stand_ins = {
        name: of for splitter in splitters for name, of in splitter.stand_ins.items() if name in written
    }
    whole = compiler.with_stand_ins(stand_ins, regions) if stand_ins else compiler.of(regions)
    return whole.program, tuple(
        replace(whole.region(number), note=part.note) for number, part in parts.items()
    )


class _Splitter:
    """Of one region. Parts are `(start, stop)`, places in its statements.

    Attributes:
        stand_ins: the tensors that stand for results in compressed levels, each with a compiler of a program
            that has it.
    """

    def __init__(self, compiler: RegionCompiler, number: int):
        self.stand_ins: dict[str, RegionCompiler] = {}
        self._compiler = compiler
        self._number = number
        self._region = compiler.program.regions[number]
        self._share = compiler.schedule.share
        self._known: dict[tuple[int, int], Piece | InputError] = {}
        self._stands_for: dict[str, str] = {}

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
        found: list[CompiledRegion] = []
        for start, stop in pairwise(places):
            found += self._split(start, stop)
        return found

    def _split(self, start: int, stop: int) -> Piece:
        """The statements as they run the fewest cycles, in one region or several."""
        try:
            whole = self._compiled(start, stop)
        except StreamError as refusal:
            if self._share == "none" or self._region.order is not None or stop - start == 1:
                raise
            return self._split_refused(start, stop, refusal)
        if self._region.order is not None:
            self._check_all(whole[0])
        if self._share == "none" or self._region.order is not None:
            return whole
        cycles = {
            end: c for end in self._ends(whole[0], start, stop) if (c := self._cycles_at(start, end, stop))
        }
        if not cycles:
            self._check_all(whole[0])
            return whole
        end = min(cycles, key=cycles.__getitem__)
        if self._share != "all" and cycles[end] > BETTER * _cycles(whole):
            return whole
        return self._split_at(start, end, stop, self._computed_again(whole[0], start, end))

    def _split_refused(self, start: int, stop: int, refusal: StreamError) -> Piece:
        """The statements in several regions, since streams cannot follow one: the first one as long as it can
        be, or the last, whichever takes fewer cycles.

        Raises:
            InputError: if they cannot be followed statement by statement either.
        """
        prefix = _longest(lambda n: self._is_possible(start, start + n), stop - start)
        suffix = _longest(lambda n: self._is_possible(stop - n, stop), stop - start)
        why = f"streams cannot follow what comes behind in the same region ({_reason(refusal)})"
        options, refused = [], refusal
        ends = {start + prefix, stop - suffix} - {start, stop}
        for end in sorted(end for end in ends if self._may_end(start, end, stop)):
            try:
                options.append(self._split_at(start, end, stop, why))
            except StreamError as error:
                refused = error
        if not options:
            raise refused
        return min(options, key=_cycles)

    def _split_at(self, start: int, end: int, stop: int, why: str) -> Piece:
        """Both parts, each split further, with the reason why the first one ends."""
        *before, last = self._split(start, end)
        note = last.note or f"ends behind {self._region.statements[end - 1].lhs.tensor}: {why}"
        return [*before, replace(last, note=note), *self._split(end, stop)]

    # What may end where

    def _ends(self, whole: CompiledRegion, start: int, stop: int) -> Iterator[int]:
        """Where the region may end: behind what is computed more often than what reads it, or right before
        its first reader."""
        place = {s.lhs.tensor: n for n, s in enumerate(self._region.statements[:stop])}
        times = {computation.tensor: computation.times for computation in whole.computations}
        ends = set()
        for computation in whole.computations:
            readers = [name for reader in computation.readers if (name := self._original(reader)) in place]
            if self._may_end_behind(computation) and computation.times > RISE * max(
                times.get(reader, 1.0) for reader in readers
            ):
                ends |= {place[self._original(computation.tensor)] + 1, min(place[r] for r in readers)}
        yield from (end for end in sorted(ends) if start < end < stop)

    def _may_end_behind(self, computation: Computation) -> bool:
        asked = self._compiler.schedule.share_of(self._original(computation.tensor))
        return not computation.is_once and asked in ("auto", "all")

    def _may_end(self, start: int, end: int, stop: int) -> bool:
        """No intermediate that the schedule keeps in a region would leave it."""
        reads = {access.tensor for s in self._region.statements[end:stop] for access in s.reads}
        written = (s.lhs.tensor for s in self._region.statements[start:end])
        asked = (self._compiler.schedule.share_of(tensor) for tensor in reads.intersection(written))
        return not {"buffer", "anew"}.intersection(asked)

    def _cycles_at(self, start: int, end: int, stop: int) -> float | None:
        """What both parts are expected to take, if the region can end there."""
        try:
            return _cycles([*self._compiled(start, end), *self._compiled(end, stop)])
        except InputError:
            return None

    def _is_possible(self, start: int, stop: int) -> bool:
        return self._cycles_at(start, stop, stop) is not None

    def _check_all(self, whole: CompiledRegion) -> None:
        """Raises `ScheduleError` if something is computed twice although nothing may be."""
        for computation in whole.computations:
            if self._share == "all" and not computation.is_once:
                raise ScheduleError(
                    f"'share' is all, but {computation.tensor} would be computed more than once: "
                    f"{computation.why}; choose another order, end the fused region behind it, or take "
                    "'auto'."
                )

    def _computed_again(self, whole: CompiledRegion, start: int, end: int) -> str:
        """What a region that ends computes once, in place of again and again."""
        written = {s.lhs.tensor for s in self._region.statements[start:end]}
        again = [c for c in whole.computations if self._original(c.tensor) in written and not c.is_once]
        worst = max(again, key=lambda c: c.times * c.points)
        return (
            f"fused with what follows, {worst.tensor} would be computed about {worst.times:.1f} times "
            f'({worst.why}); share = "none" fuses it'
        )

    # Parts

    def _compiled(self, start: int, stop: int) -> Piece:
        """A part of the region, compiled in a program that has it in a region of its own."""
        if start == stop:
            return []
        if (start, stop) not in self._known:
            try:
                self._known[start, stop] = self._compile(start, stop)
            except InputError as error:
                self._known[start, stop] = error
        found = self._known[start, stop]
        if isinstance(found, InputError):
            raise found
        return found

    def _compile(self, start: int, stop: int) -> Piece:
        compiler, number = self._alone(start, stop)
        notes: list[str] = []
        while True:
            try:
                first = compiler.region(number)
            except StreamError as refusal:
                if refusal.result is None:
                    raise
                compiler, name = compiler.relaxed(number, refusal.result)
                self.stand_ins[name] = compiler
                self._stands_for[name] = refusal.result
                notes.append(
                    f"stores {refusal.result} as {name}, from which the next region makes it: "
                    f"{_reason(refusal)}"
                )
            else:
                filled = [compiler.region(number + n) for n in range(1, len(notes) + 1)]
                return [replace(first, note="; ".join(notes)) if notes else first, *filled]

    def _alone(self, start: int, stop: int) -> tuple[RegionCompiler, int]:
        """A compiler of the program in which a part is a region of its own, and that region's number."""
        statements = self._region.statements
        if (start, stop) == (0, len(statements)):
            return self._compiler, self._number
        parts = [statements[:start], statements[start:stop], statements[stop:]]
        regions = [replace(self._region, statements=s, label=s[-1].lhs.tensor) for s in parts if s]
        # Its last statement may make a tensor that a pass has put in the place of the result.
        regions[-1] = replace(regions[-1], label=self._region.label)
        others = self._compiler.program.regions
        program = [*others[: self._number], *regions, *others[self._number + 1 :]]
        return self._compiler.of(program), self._number + bool(start)

    def _original(self, tensor: str) -> str:
        """The result that a tensor stands for, or itself."""
        return self._stands_for.get(tensor, tensor)


def _cycles(part: Piece) -> float:
    return sum(region.expected.cycles for region in part)


def _longest(possible: Callable[[int], bool], most: int) -> int:
    """How many statements are possible, if fewer are wherever more are; 0 for none."""
    return bisect_left(range(1, most), True, key=lambda n: not possible(n))


def _reason(refusal: StreamError) -> str:
    """A refusal without its way out, which is taken."""
    return str(refusal).partition(";")[0]
