"""`--schedule auto`: of some schedules, the one that is expected to take the fewest cycles.

The candidates are levels and rules of fusion, the brackets that take less work, other formats of
intermediates, and other orders than those that statements were written with. Each is compiled as a user's own
schedule would be, and nothing is simulated. The program as it is written is always among them, and stands
unless something else is expected to be faster.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, Lowerings
from samhw.compiler.search.job import Job
from samhw.compiler.search.tried import LARGER, AutoChoice, Search, candidates_of, regions_line
from samhw.errors import InputError

__all__ = ["choose"]

STAGES = (
    *(("fuse", "levels"), ("brackets", "likely"), ("formats", "turned"), ("formats", "zeros")),
    *(
        ("formats", "full"),
        ("brackets", "unlikely"),
        ("fuse", "others"),
        ("order", "other"),
        ("fuse", "moved"),
    ),
)
"""What is tried one after the other, as choices and their stages: what wins most often comes first."""

LARGER_STAGES = (
    *(("blocks", "larger"), ("parallel", "more"), ("lanes", "more"), ("deal", "ranges")),
    ("permute_rows", "even"),
)
"""What makes the best of these larger, as far as there is room."""


STEPS = 4_000
"""The steps that a choice may take in any program: about two seconds of a processor."""

TIMES = 16
"""How many times the steps of the program as it is written it may take in a large one."""


def choose(job: Job, compiled: Callable[[Schedule], Compiled], lowerings: Lowerings) -> AutoChoice:
    """The schedule that is expected to take the fewest cycles.

    Args:
        compiled: what compiles the job under a schedule.
        lowerings: what it has lowered, with the steps that this took.

    Raises:
        InputError: if none of the candidates can be lowered, for the first reason.
    """
    search = Search(job, compiled, lowerings)
    best = first = _accepted(search)
    notes: list[str] = []
    lowerings.most = max(STEPS, TIMES * lowerings.steps)
    for stage in STAGES:
        best = _stage(search, best, notes, *stage)
    best = _stage(search, best, notes, "share_hardware", "folded")
    best = _within(search, best, notes)
    for stage in LARGER_STAGES:
        best = _stage(search, best, notes, *stage)
    first, best = search.coupled(first), _waiting(search, best, notes)
    blocks = candidates_of("blocks")
    assert blocks is not None
    notes += blocks.unasked(search, best)
    budget = job.room.budget
    if budget is not None and (caveat := best.area_in(budget.family).caveat):
        notes.append(f"area: {caveat}")
    if search.is_short:
        notes.append(f"stopped: after graphs of {lowerings.steps:,} nodes, with more left to try")
    lowerings.most = inf
    line = regions_line(first, best, fits=budget is not None)
    return replace(best, why=(line, *notes))


def _stage(search: Search, best: AutoChoice, notes: list[str], choice: str, name: str) -> AutoChoice:
    candidates = candidates_of(choice)
    assert candidates is not None
    found: AutoChoice = candidates.STAGES[name](search, best, notes)
    return found


def _accepted(search: Search) -> AutoChoice:
    """The program as it is written; or, if that cannot be lowered, the first other way that can."""
    first: InputError | None = None
    for permute in dict.fromkeys((search.given.permute, True)):
        for fuse in ("partial", "none", "kinds", "full"):
            found = search.outcome(replace(search.given, fuse=fuse, permute=permute))
            if isinstance(found, AutoChoice):
                return found
            first = first or found
    assert first is not None
    raise first


def _within(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """The fastest of what was tried that is no larger than it may be; or the smallest."""
    budget = search.job.room.budget
    if budget is None or search.has_room(best):
        return best
    found = search.fastest_first()
    least = next(filter(search.has_room, found), None)
    if least is not None:
        luts = least.area_in(budget.family).use.luts
        notes.append(f"area: about {luts:,.0f} LUTs; what is faster takes more than {budget}")
        return least
    least = min(found, key=lambda one: one.share(budget))
    luts = least.area_in(budget.family).use.luts
    notes.append(f"area: about {luts:,.0f} LUTs, the least that was found, and more than {budget}")
    return least


def _waiting(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """The best one where rows wait for each other: with queues, or another candidate if no queues are long
    enough for this one."""
    found = _stage(search, best, notes, "queues", "long enough")
    for way in search.fastest_first():
        if way.cycles >= LARGER * found.cycles:
            break
        if search.has_room(way) and search.coupled(way).cycles < LARGER * found.cycles:
            brackets = candidates_of("brackets")
            assert brackets is not None
            notes[:] = brackets.instead(search, found, way)
            found = search.coupled(way)
    return found
