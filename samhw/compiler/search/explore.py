"""A beam search over schedules by estimate, for those who have more time than `--schedule auto` takes.

It begins with the program as it is written and with what is chosen automatically, and goes on from the best
schedules that it knows to all that differ from them in one choice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import Any

from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import CHOICES, Schedule
from samhw.compiler import Compiled, Lowerings
from samhw.compiler.pipeline import candidates
from samhw.compiler.search.auto import choose
from samhw.compiler.search.job import Job
from samhw.compiler.search.tried import AutoChoice, Start, candidates_of, expected_cycles
from samhw.errors import InputError
from samhw.graph import Design

__all__ = ["Explored", "explore"]

BEAM = 6
"""From how many schedules the search goes on at a time."""

NAMES = tuple(one.name for one in CHOICES)

SPACE = ("share_hardware", "parallel")
"""The choices between hardware and time, which are tried at each level of fusion."""


@dataclass(frozen=True)
class Explored:
    """A schedule that was looked at.

    Attributes:
        schedule: with nothing left open.
        cycles: what is expected of a run.
        luts: that the design is expected to take of an ECP5.
        regions: how many regions it has.
        is_written: it is the program's own, but for what was given.
        caveat: what the LUTs leave out or guess, as in `AreaEstimate`.
        share: of the budget that the job has, if it has one; above 1 the design is too large.
    """

    schedule: Schedule
    cycles: float
    luts: float
    regions: int
    is_written: bool = False
    caveat: str = ""
    share: float = 0.0
    energy: float = 0.0
    """That is expected of a run, in picojoules; 0 where nobody asks for it."""


def explore(
    job: Job,
    seconds: float,
    cost: Callable[[Explored], float],
    *,
    progress: Callable[[int, float], None] | None = None,
    energy: Callable[[Compiled, Schedule], float] | None = None,
) -> list[Explored]:
    """The schedules that were found, each design once, the cheapest first.

    Args:
        job: with the fields of the schedule that are to stay.
        seconds: after which nothing more is looked at.
        cost: what is to become small.
        progress: is told how many schedules have been looked at, and the fewest cycles so far.
        energy: what a run of a design under a schedule is expected to take.

    Raises:
        InputError: if no schedule can be lowered.
    """
    return _Explorer(job, seconds, cost, progress, energy).found()


class _Explorer:
    def __init__(
        self,
        job: Job,
        seconds: float,
        cost: Callable[[Explored], float],
        progress: Callable[[int, float], None] | None,
        energy: Callable[[Compiled, Schedule], float] | None,
    ) -> None:
        self.energy = energy
        self.job = job
        self.lowerings = Lowerings()
        self.compile = candidates(job, self.lowerings)
        self.end = monotonic() + seconds
        self.cost = cost
        self.progress = progress
        self.known: dict[Schedule, Explored | None] = {}
        self.compiled: dict[Schedule, Compiled] = {}
        self.open: set[Schedule] = set()
        self.kept: dict[str, Any] = {}
        self.least = inf

    def found(self) -> list[Explored]:
        """All that was looked at."""
        choice = choose(self.job, self.compile, self.lowerings)
        self.take(choice)
        levels = [replace(self.job.schedule, fuse=fuse) for fuse in FUSION_LEVELS]
        for schedule in levels:
            self.look(schedule)
        for level in levels:
            for schedule in self.neighbours(level, SPACE) if level in self.compiled else ():
                if monotonic() < self.end:
                    self.look(schedule)
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
            (self.cost(found), len(text := repr(schedule)), text, schedule)
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
        share = choice.share(self.job.room.budget)
        energy = self.energy(choice.compiled, asked) if self.energy else 0.0
        self.known[asked] = Explored(
            used, choice.cycles, choice.luts, regions, written, choice.area.caveat, share, energy
        )
        self.compiled[asked] = choice.compiled
        self.open.add(asked)
        if self.progress:
            self.least = min(self.least, choice.cycles)
            self.progress(len(self.known), self.least)

    def neighbours(self, schedule: Schedule, choices: Sequence[str] = NAMES) -> Iterator[Schedule]:
        """What differs in one of some choices."""
        at = Start(self.job, schedule, self.compiled[schedule], self.kept)
        for name in choices:
            if (candidates := candidates_of(name)) is not None:
                yield from candidates.neighbours(at)
