"""A beam search over schedules by estimate, for those who have more time than `--schedule auto` takes.

It begins with the program as it is written and with what is chosen automatically, and goes on from the best
schedules that it knows to all that differ from them in one choice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from time import monotonic

from samhw.choices.schedule import FUSION_LEVELS, FusionLevel, FusionRule, Schedule
from samhw.compiler import Compiled
from samhw.compiler.search.auto import choose
from samhw.compiler.search.auto_choice import AutoChoice, expected_cycles
from samhw.compiler.search.blocks import larger_blocks, smaller_blocks
from samhw.compiler.search.brackets import BracketChoice, bracket_choices
from samhw.compiler.search.job import Job
from samhw.compiler.search.lanes import more_lanes
from samhw.compiler.search.layouts import lane_loads, layouts_near, row_layouts
from samhw.compiler.search.pipeline import candidates
from samhw.compiler.search.queues import more_queues
from samhw.compiler.search.regroup import moves, regroupings
from samhw.compiler.search.spaces import OrderSpace, free_spaces
from samhw.compiler.search.storage import turned_schedules
from samhw.errors import InputError, ScheduleError
from samhw.graph import Design

__all__ = ["Explored", "explore"]

BEAM = 6
"""From how many schedules the search goes on at a time."""


@dataclass(frozen=True)
class Explored:
    """A schedule that was looked at.

    Attributes:
        schedule: with nothing left open.
        cycles: what is expected of a run.
        luts: that the design is expected to take of an ECP5.
        regions: how many regions it has.
        is_written: it is the program's own, but for what was given.
        caveat: what the LUTs leave out or guess, as `AreaEstimate` has it.
    """

    schedule: Schedule
    cycles: float
    luts: float
    regions: int
    is_written: bool = False
    caveat: str = ""


def explore(
    job: Job,
    seconds: float,
    cost: Callable[[float, float], float],
    *,
    progress: Callable[[int, float], None] | None = None,
) -> list[Explored]:
    """The schedules that were found, each design once, the cheapest first.

    Args:
        job: with the fields of the schedule that are to stay.
        seconds: after which nothing more is looked at.
        cost: what is to become small, of cycles and LUTs.
        progress: is told how many schedules have been looked at, and the fewest cycles so far.

    Raises:
        InputError: if no schedule can be lowered.
    """
    return _Explorer(job, seconds, cost, progress).found()


class _Explorer:
    def __init__(
        self,
        job: Job,
        seconds: float,
        cost: Callable[[float, float], float],
        progress: Callable[[int, float], None] | None,
    ) -> None:
        self.job = job
        self.compile = candidates(job)
        self.end = monotonic() + seconds
        self.cost = cost
        self.progress = progress
        self.known: dict[Schedule, Explored | None] = {}
        self.compiled: dict[Schedule, Compiled] = {}
        self.open: set[Schedule] = set()
        self.least = inf

    def found(self) -> list[Explored]:
        """All that was looked at."""
        choice = choose(self.job, self.compile)
        self.take(choice)
        for fuse in FUSION_LEVELS:
            self.look(replace(self.job.schedule, fuse=fuse))
        while monotonic() < self.end:
            beam = [schedule for schedule in self.ranked()[:BEAM] if schedule in self.open]
            if not beam:
                break
            for start in beam:
                self.open.discard(start)
                for schedule in self.neighbours(start):
                    if monotonic() >= self.end:
                        break
                    self.look(schedule)
        return self.distinct()

    def ranked(self) -> list[Schedule]:
        """All schedules that can be lowered, the cheapest first; of equal ones the shortest."""
        known = [
            (self.cost(found.cycles, found.luts), len(text := repr(schedule)), text, schedule)
            for schedule, found in self.known.items()
            if found is not None
        ]
        return [schedule for *_, schedule in sorted(known, key=lambda one: one[:3])]

    def distinct(self) -> list[Explored]:
        """Of schedules that give the same design, the first one."""
        designs: dict[tuple[float, float], list[tuple[Design, Explored]]] = {}
        for schedule in self.ranked():
            found, design = self.known[schedule], self.compiled[schedule].design
            assert found is not None
            alike = designs.setdefault((found.cycles, found.luts), [])
            for n, (other, first) in enumerate(alike):
                if other == design:
                    written = first.is_written or found.is_written
                    alike[n] = design, replace(first, is_written=written)
                    break
            else:
                alike.append((design, found))
        return [found for alike in designs.values() for _, found in alike]

    def look(self, schedule: Schedule) -> None:
        """Compiles a schedule, and estimates what it takes."""
        if schedule in self.known:
            return
        try:
            compiled = self.compile(schedule)
        except InputError:
            self.known[schedule] = None
            return
        self.take(AutoChoice(schedule, compiled, expected_cycles(compiled, self.job.statistics(schedule))))

    def take(self, choice: AutoChoice) -> None:
        used = replace(choice.compiled.schedule, attempts=choice.schedule.attempts)
        asked = choice.schedule
        written = asked == replace(self.job.schedule, fuse="partial")
        regions = len(choice.compiled.regions)
        self.known[asked] = Explored(used, choice.cycles, choice.luts, regions, written, choice.area.caveat)
        self.compiled[asked] = choice.compiled
        self.open.add(asked)
        if self.progress:
            self.least = min(self.least, choice.cycles)
            self.progress(len(self.known), self.least)

    @cached_property
    def brackets(self) -> list[BracketChoice]:
        """Those that are tried, more work or less; none where some are given."""
        if self.job.schedule.brackets:
            return []
        return bracket_choices(self.job.program, self.job.sizes(), worth=2.0)

    # What differs in one choice

    def neighbours(self, schedule: Schedule) -> Iterator[Schedule]:
        compiled = self.compiled[schedule]
        given = self.job.schedule
        levels: tuple[FusionLevel | FusionRule, ...] = (*FUSION_LEVELS, "kinds")
        yield from (replace(schedule, fuse=fuse, order=given.order) for fuse in levels)
        yield from self.rebracketed(schedule)
        yield from turned_schedules(self.job.program, schedule)
        if isinstance(schedule.share, str):
            yield from (replace(schedule, share=share) for share in ("auto", "all", "none"))
        yield replace(schedule, permute=not schedule.permute)
        for other in regroupings(compiled.schedule):
            yield replace(schedule, fuse=other.fuse, order=given.order or other.order)
        for other in self.moved(schedule, compiled):
            yield replace(schedule, fuse=other.fuse, order=given.order or other.order)
        yield from self.reordered(schedule, compiled)
        if self.job.room.lanes:
            yield from more_lanes(schedule, compiled)
        if self.job.room.blocks:
            yield from larger_blocks(self.job.program, schedule, given)
            yield from smaller_blocks(schedule, given)
        yield from layouts_near(schedule, given)
        known = self.job.statistics(schedule)
        if known is not None:
            for load in lane_loads(self.job.program, schedule, known):
                yield from row_layouts(schedule, load)
            yield from more_queues(schedule, compiled, known)

    def rebracketed(self, schedule: Schedule) -> Iterator[Schedule]:
        """With one bracket more, or one less."""
        given = self.job.schedule
        for choice in self.brackets:
            brackets = {**schedule.brackets, choice.result: choice.text}
            if choice.result in schedule.brackets:
                del brackets[choice.result]
            for fuse in ("partial", "full"):
                yield replace(schedule, brackets=brackets, fuse=fuse, order=given.order)

    def moved(self, schedule: Schedule, compiled: Compiled) -> Iterator[Schedule]:
        """With one statement in the region next to its own."""
        statements = replace(schedule, fuse="none", order={}).apply(self.job.program)
        return (move.schedule for move in moves(statements, compiled.schedule))

    def reordered(self, schedule: Schedule, compiled: Compiled) -> Iterator[Schedule]:
        """With another order of one region."""
        if self.job.schedule.order:
            return
        grouped = replace(schedule, fuse=compiled.schedule.fuse)
        known = schedule.order if isinstance(schedule.order, Mapping) else {}
        taken = compiled.schedule.order
        assert isinstance(taken, Mapping)
        try:
            program = replace(grouped, order={}).apply(self.job.program).bind({})
        except InputError:
            return
        for region in program.regions:
            if region.reshapes or not region.is_plain or region.label is None:
                continue
            for space in free_spaces(program, region):
                yield from (
                    replace(grouped, order={**known, region.label: order})
                    for order in _near(space, taken.get(region.label, ()))
                )


def _near(space: OrderSpace, order: Sequence[str]) -> list[tuple[str, ...]]:
    """The first orders of a space for each outermost index, and those next to one; none where storage leaves
    none."""
    try:
        found = list(space.outermost())
    except ScheduleError:
        return []
    return [*found, *space.swapped(order)] if set(order) == set(space.indices) else found
