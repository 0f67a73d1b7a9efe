"""What a search for a schedule has tried: each schedule once, compiled, with what is expected of it; what
`--schedule auto` chooses, and what is said of a choice."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from types import ModuleType
from typing import Any

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, Lowerings, OutOfStepsError, area_of, estimate_compiled
from samhw.compiler.search.job import Job
from samhw.cost import BASE, AreaEstimate, Budget
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError
from samhw.graph.sequence import times_of, total_of
from samhw.installed import role

__all__ = [
    "CLEARLY",
    "LARGER",
    "AutoChoice",
    "Search",
    "Stage",
    "Start",
    "candidates_of",
    "expected_cycles",
    "gain_words",
    "regions_line",
    "size_words",
]


@dataclass(frozen=True)
class AutoChoice:
    """What was chosen.

    Attributes:
        schedule: in the words in which it was tried.
        compiled: the program under it.
        cycles: what is expected of a run.
        why: what was chosen and why, a line each.
    """

    schedule: Schedule
    compiled: Compiled
    cycles: float
    why: tuple[str, ...] = ()

    @cached_property
    def _areas(self) -> dict[str, AreaEstimate]:
        return {}

    @property
    def area(self) -> AreaEstimate:
        """What the design is expected to take of an ECP5."""
        return self.area_in(BASE)

    def area_in(self, family: str) -> AreaEstimate:
        """What it is expected to take of an FPGA of a family."""
        if family not in self._areas:
            self._areas[family] = area_of(self.compiled, family)
        return self._areas[family]

    def share(self, budget: Budget | None) -> float:
        """What the design is expected to take of a budget; more than 1 if that is too much."""
        return 0.0 if budget is None else budget.share(self.area_in(budget.family).use)

    @property
    def luts(self) -> float:
        """The LUTs that it is expected to take of an ECP5."""
        return self.area.use.luts


def expected_cycles(
    compiled: Compiled, statistics: TensorStatistics | None, *, rows_wait: bool = True
) -> float:
    """The cycles that a run on data of these statistics is expected to take; without any, one on as much as
    there is room for. `rows_wait` as for `estimate_compiled`."""
    if statistics is None:
        sequence = compiled.design.sequence
        times = times_of(sequence, compiled.design.extents)
        cycles = {
            number: times[number] * (region.expected.cycles + 1) - 1
            for number, region in enumerate(compiled.regions)
        }
        return total_of(sequence, cycles)
    return estimate_compiled(compiled, statistics, rows_wait=rows_wait).cycles


def regions_line(first: AutoChoice, best: AutoChoice, *, fits: bool) -> str:
    """The regions of the best one, beside the first that could be; `fits` where it has to be small too."""
    regions = f"regions: {best.schedule.word('fuse')}, about {best.cycles:,.0f} cycles"
    if best.schedule == first.schedule:
        fit = " and to fit" if fits else ""
        return f"{regions}; nothing else that was tried is expected to be faster{fit}"
    asked = "as written" if first.schedule.fuse == "partial" else f"with {first.schedule.word('fuse')}"
    return f"{regions} ({first.cycles:,.0f} {asked})"


def gain_words(before: float, after: float) -> str:
    """What is expected to be gained, in cycles."""
    return f"about {after:,.0f} cycles instead of {before:,.0f}"


def size_words(before: AutoChoice, after: AutoChoice) -> str:
    """What something larger gains, and takes."""
    return (
        f"{gain_words(before.cycles, after.cycles)}, and {after.luts:,.0f} LUTs instead of {before.luts:,.0f}"
    )


Stage = Callable[["Search", AutoChoice, list[str]], AutoChoice]
"""A step of a search: the best that is known, or what is better, with a line for each thing that it chose."""

CLEARLY = 0.99
"""What the expected cycles must come down to before a candidate is taken in the place of one before it."""

LARGER = 0.97
"""What they must come down to before a design with twice the lanes, or larger blocks, is; or one in which no
rows wait in the place of one that queues do not help enough."""

HOPELESS = 4.0
"""How many times the cycles of the best one a candidate takes, both with as much data as there is room for,
before it is not looked at with the data: exact counts take longest where much is computed again."""


@dataclass(frozen=True)
class Start:
    """A schedule from which a search goes on to what differs from it in one choice.

    Attributes:
        job: with the fields that are to stay.
        schedule: with nothing left open.
        compiled: the job under it.
        kept: what is found once for all points of a search, by name.
    """

    job: Job
    schedule: Schedule
    compiled: Compiled
    kept: dict[str, Any]

    @property
    def known(self) -> TensorStatistics | None:
        """What is known of the data."""
        return self.job.statistics(self.schedule)


def candidates_of(choice: str) -> ModuleType | None:
    """What a search knows of a choice: `STAGES` by name, and `neighbours` of a `Start`; None if it tries
    nothing."""
    return role("samhw.choices", choice, "candidates")


PART = 0.25
"""Of the steps that are left, how many one candidate may take: a dear one leaves some to those after it."""

_NOT_TRIED = InputError("It was not tried.")


class Search:
    """Candidates are compared as if rows waited for nobody: queues come last, where they can be had.

    Attributes:
        job: whose schedule is chosen.
        program: as it is written.
        given: the schedule with the fields that are to stay.
        kept: what stages find for later ones, by name.
        is_short: of steps, so that something was not tried.
    """

    def __init__(self, job: Job, compiled: Callable[[Schedule], Compiled], lowerings: Lowerings) -> None:
        self.job = job
        self.program = job.program
        self.given = replace(job.schedule, fuse="partial")
        self.kept: dict[str, Any] = {}
        self.is_short = False
        self._compiled = compiled
        self._lowerings = lowerings
        self._known: dict[Schedule, AutoChoice | InputError] = {}
        self._spent = 0
        self._least = inf
        self._smallest = 0.0

    def tried(self, schedule: Schedule) -> AutoChoice | None:
        """A schedule with what is expected of it; None if it cannot be."""
        found = self.outcome(schedule)
        return found if isinstance(found, AutoChoice) else None

    def seen(self, schedule: Schedule) -> AutoChoice | None:
        """The same, if it has been tried already."""
        found = self._known.get(schedule)
        return found if isinstance(found, AutoChoice) else None

    def aside(self, schedule: Schedule) -> AutoChoice | None:
        """As `tried`, of what is not asked for: it is said, and never chosen."""
        if schedule in self._known:
            return self.seen(schedule)
        kept = self._least, self._smallest
        found = self.tried(schedule)
        del self._known[schedule]
        self._least, self._smallest = kept
        return found

    def has(self, patience: float) -> bool:
        """Whether one more candidate leaves some patience."""
        return self._spent + len(self.program.statements) <= patience

    def has_room(self, way: AutoChoice) -> bool:
        """Whether a design is as small as it has to be."""
        return way.share(self.job.room.budget) <= 1

    def outcome(self, schedule: Schedule) -> AutoChoice | InputError:
        if schedule not in self._known:
            self._spent += len(self.program.statements)
            try:
                with self._lowerings.limited(PART, self._smallest):
                    compiled = self._compiled(schedule)
                    self._lowerings.take(nodes := len(compiled.design.nodes))
                self._smallest = min(self._smallest or nodes, nodes)
                cycles = self.expected(schedule, compiled)
                self._known[schedule] = AutoChoice(schedule, compiled, cycles)
            except InputError as error:
                self._known[schedule] = error
            except OutOfStepsError:
                self.is_short = True
                self._known[schedule] = _NOT_TRIED
        return self._known[schedule]

    def expected(self, schedule: Schedule, compiled: Compiled, *, rows_wait: bool = False) -> float:
        """The cycles on the data; on as much as there is room for, where there is no hope."""
        cycles = expected_cycles(compiled, None)
        self._least = min(self._least, cycles)
        if cycles > HOPELESS * self._least:
            return cycles
        return expected_cycles(compiled, self.job.statistics(schedule), rows_wait=rows_wait)

    def coupled(self, found: AutoChoice) -> AutoChoice:
        """The same, with what is expected where rows wait for each other."""
        return replace(found, cycles=self.expected(found.schedule, found.compiled, rows_wait=True))

    def fastest_first(self) -> list[AutoChoice]:
        """All that was tried and can be."""
        found = (way for way in self._known.values() if isinstance(way, AutoChoice))
        return sorted(found, key=lambda way: way.cycles)

    def grown(self, best: AutoChoice, larger: Callable[[AutoChoice], Iterable[Schedule]]) -> AutoChoice:
        """The best of what is larger, and of what is larger than that, as long as it is faster by enough,
        and there is room for it."""
        while True:
            tried = (self.tried(schedule) for schedule in larger(best))
            ways = [way for way in tried if way is not None and self.has_room(way)]
            found = min(ways, key=lambda way: way.cycles, default=best)
            if found.cycles >= LARGER * best.cycles:
                return best
            best = found
