"""`--schedule auto`: of some schedules, the one that is expected to take the fewest cycles.

The candidates are levels and rules of fusion, the brackets that take less work, other formats of
intermediates, and other orders than those that statements were written with. Each is compiled as a user's own
schedule would be, and nothing is simulated. The program as it is written is always among them, and stands
unless something else is expected to be faster.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from math import inf

from samhw.choices.schedule import MODULE, FusionLevel, FusionRule, Schedule, counts_text
from samhw.compiler import Compiled, add_queues
from samhw.compiler.search.auto_choice import (
    AutoChoice,
    bracket_line,
    expected_cycles,
    formats_line,
    layout_line,
    moves_from,
    orders_line,
    regions_line,
    size_words,
)
from samhw.compiler.search.blocks import larger_blocks
from samhw.compiler.search.brackets import WORTH, BracketChoice, bracket_choices
from samhw.compiler.search.job import Job
from samhw.compiler.search.lanes import more_lanes
from samhw.compiler.search.layouts import lane_loads, row_layouts
from samhw.compiler.search.modules import in_modules
from samhw.compiler.search.queues import fits, with_queues
from samhw.compiler.search.regroup import regroupings
from samhw.compiler.search.reorder import best_orders
from samhw.compiler.search.storage import turned_schedules
from samhw.compiler.search.work import work_of
from samhw.errors import InputError

__all__ = ["choose"]

CLEARLY = 0.99
"""What the expected cycles must come down to before a candidate is taken in the place of one before it."""

LARGER = 0.97
"""What they must come down to before a design with twice the lanes, or larger blocks, is; or one in which no
rows wait in the place of one that queues do not help enough."""

FUSED: tuple[FusionLevel, ...] = ("partial", "full")
"""The levels of fusion that win most often."""

ENOUGH = 0.998
"""What a longer queue's cycles must come down to before it is taken in the place of a shorter one."""

UNLIKELY = 1.5
"""How much of a statement's work a bracket may take at the most: more products may still take fewer cycles,
where regions run side by side that waited for each other."""

PATIENCE = 60
"""How many statements are compiled, over all candidates, before those that seldom win are left out. A
statement takes about 10 ms."""

PATIENCE_ORDERS = 90
"""How many before no further orders are tried."""

MOST_STARTS = 3
"""From how many of the best ways to group the statements one of them is moved."""

MOST_MOVES = 3
"""How many statements are moved by way of trial, those that may gain most, before the best one stays."""

HOPELESS = 4.0
"""How many times the cycles of the best one a candidate takes, both with as much data as there is room for,
before it is not looked at with the data: exact counts take longest where much is computed again."""

FULL = 0.5
"""How dense an intermediate with compressed levels is expected to be before it is stored dense."""


def choose(job: Job, compiled: Callable[[Schedule], Compiled]) -> AutoChoice:
    """The schedule that is expected to take the fewest cycles.

    Args:
        compiled: what compiles the job under a schedule.

    Raises:
        InputError: if none of the candidates can be lowered, for the first reason.
    """
    return _Auto(job, compiled).choice()


class _Auto:
    """Candidates are compared as if rows waited for nobody: queues come last, where they can be had."""

    def __init__(self, job: Job, compiled: Callable[[Schedule], Compiled]) -> None:
        self.job = job
        self.compiled = compiled
        self.program = job.program
        self.given = replace(job.schedule, fuse="partial")
        self.known: dict[Schedule, AutoChoice | InputError] = {}
        self.spent = 0
        self.least = inf

    def choice(self) -> AutoChoice:
        first = self.accepted()
        best = self.regrouped(first, FUSED if self.job.scopes is None else (*FUSED, MODULE))
        notes: list[str] = []
        likely, unlikely = self.brackets
        best = self.bracketed(best, likely, notes)
        found = self.turned(best)
        if found.cycles < CLEARLY * best.cycles:
            notes.append(formats_line(best, found, "so that what computes their operands streams"))
            best = found
        found = self.with_formats(best)
        if found.cycles < CLEARLY * best.cycles:
            notes.append(formats_line(best, found, "nearly full"))
            best = found
        best = self.bracketed(best, unlikely, notes, PATIENCE)
        best = self.regrouped(best, ("kinds", "none"), PATIENCE)
        found = self.reordered(best)
        if found.cycles < CLEARLY * best.cycles:
            notes.append(orders_line(best, found))
            best = found
        best = self.moved(best, notes)
        best = self.laned(self.blocked(self.within(best, notes), notes), notes)
        found = self.arranged(best, notes)
        if found is not best:  # Even lanes may be worth more of them.
            best = self.laned(found, notes)
        first, best = self.coupled(first), self.queued(best, notes)
        if self.job.room.luts is not None and best.area.caveat:
            notes.append(f"area: {best.area.caveat}")
        line = regions_line(first, best, fits=self.job.room.luts is not None)
        return replace(best, why=(line, *notes))

    def bracketed(
        self, best: AutoChoice, choices: Sequence[BracketChoice], notes: list[str], patience: float = inf
    ) -> AutoChoice:
        """With those of some brackets that are expected to help, each noted."""
        for bracket in choices:
            texts = {**best.schedule.brackets, bracket.result: bracket.text}
            for fuse in FUSED:
                if self.has(patience):
                    self.tried(replace(best.schedule, brackets=texts, fuse=fuse))
            ways = (self.seen(replace(best.schedule, brackets=texts, fuse=fuse)) for fuse in FUSED)
            plain = min(filter(None, ways), key=lambda way: way.cycles, default=best)
            further: list[str] = []
            found = self.moved(plain, further, below=best.cycles)
            if found.cycles < CLEARLY * best.cycles:
                notes += [bracket_line(bracket, best.cycles, plain.cycles), *further]
                best = found
        return best

    def accepted(self) -> AutoChoice:
        """The program as it is written; or, if that cannot be lowered, the first other way that can."""
        first: InputError | None = None
        for permute in dict.fromkeys((self.given.permute, True)):
            for fuse in ("partial", "none", "kinds", "full"):
                found = self.outcome(replace(self.given, fuse=fuse, permute=permute))
                if isinstance(found, AutoChoice):
                    return found
                first = first or found
        assert first is not None
        raise first

    def regrouped(
        self, best: AutoChoice, levels: Sequence[FusionLevel | FusionRule], patience: float = inf
    ) -> AutoChoice:
        """The best of some ways to group the statements."""
        for fuse in levels:
            if not self.has(patience):
                break
            found = self.tried(replace(best.schedule, fuse=fuse))
            if found is not None and found.cycles < CLEARLY * best.cycles:
                best = found
        return best

    @cached_property
    def brackets(self) -> tuple[list[BracketChoice], list[BracketChoice]]:
        """Those that take clearly less work, what is gained most first, and others. Nothing where brackets
        are given."""
        if self.given.brackets:
            return [], []
        found = bracket_choices(self.program, self.job.sizes(), UNLIKELY)
        found.sort(key=lambda choice: choice.after - choice.before)
        likely = [choice for choice in found if choice.after < WORTH * choice.before]
        return likely, [choice for choice in found if choice not in likely]

    def turned(self, best: AutoChoice) -> AutoChoice:
        """The same, or with everything fused, with inputs stored the other way round."""
        for fuse in FUSED[::-1]:
            for schedule in turned_schedules(self.program, replace(best.schedule, fuse=fuse)):
                found = self.tried(schedule)
                if found is not None:
                    best = min(best, found, key=lambda way: way.cycles)
                    break
        return best

    def reordered(self, best: AutoChoice) -> AutoChoice:
        """The same in other orders, whatever orders statements were written with; with these, in more or
        fewer regions."""
        if self.given.order:
            return best
        for fuse in (best.compiled.schedule.fuse, *FUSED[::-1], "none"):
            best = self.with_orders(best, replace(best.schedule, fuse=fuse, order={}))
        while True:
            found = best
            for other in regroupings(best.compiled.schedule):
                found = self.with_orders(found, replace(best.schedule, fuse=other.fuse, order=other.order))
            if found.cycles >= CLEARLY * best.cycles:
                return best
            best = found

    def with_orders(self, best: AutoChoice, schedule: Schedule) -> AutoChoice:
        """The better of what is known and another schedule in its best orders, as long as there is
        patience."""
        if not self.has(PATIENCE_ORDERS):
            return best
        orders = best_orders(self.program, schedule, self.cycles_with_patience)
        found = self.seen(replace(schedule, order=orders))
        return best if found is None or found.cycles >= CLEARLY * best.cycles else found

    def cycles_with_patience(self, schedule: Schedule) -> float | None:
        """What is expected of a schedule, as long as there is patience; None if it cannot be."""
        found = self.tried(schedule) if self.has(PATIENCE_ORDERS) else self.seen(schedule)
        return None if found is None else found.cycles

    def moved(self, best: AutoChoice, notes: list[str], below: float = inf) -> AutoChoice:
        """With statements that alone take long in a region in the one before or behind it, where something
        else may take as long; of the best one, or of one that was nearly as good in other regions. Nothing is
        tried that cannot take fewer cycles than `below`."""
        if self.given.order:
            return best
        program = replace(best.schedule, fuse="none", order={}).apply(self.program).bind({})
        points = work_of(program, self.job.sizes()).points
        while True:
            found = best
            starts = self.grouped_otherwise(best)
            ways = (way for start in starts for way in moves_from(start, program, points))
            likely = [way for way in ways if way[0] < CLEARLY * min(best.cycles, below)]
            for _, move, schedule in sorted(likely, key=lambda way: way[0])[:MOST_MOVES]:
                other = self.tried(schedule)
                if other is not None and other.cycles < CLEARLY * found.cycles:
                    found, moved = other, move
            if found is best:
                return best
            notes.append(
                f"moved: {moved.result} beside {moved.beside} (about {found.cycles:,.0f} cycles in place of "
                f"{best.cycles:,.0f})"
            )
            best = found

    def grouped_otherwise(self, best: AutoChoice) -> list[AutoChoice]:
        """The best one, and the next ones that differ from it in their regions alone."""
        found: dict[object, AutoChoice] = {}
        for way in self.fastest_first():
            if replace(way.schedule, fuse=best.schedule.fuse, order=best.schedule.order) == best.schedule:
                found.setdefault(way.compiled.schedule.fuse, way)
        return list(found.values())[:MOST_STARTS]

    def fastest_first(self) -> list[AutoChoice]:
        """All that was tried and can be."""
        found = (way for way in self.known.values() if isinstance(way, AutoChoice))
        return sorted(found, key=lambda way: way.cycles)

    def with_formats(self, best: AutoChoice) -> AutoChoice:
        """The same with dense levels for intermediates that are nearly full."""
        schedule = in_modules(best.schedule, self.program, self.job.scopes)
        program = schedule.apply(self.program).bind({})
        densities = work_of(program, self.job.sizes()).densities
        formats = {}
        for decl in program.intermediates:
            fmt = decl.format
            if decl.name in self.given.formats or fmt.is_all_dense or fmt.block or decl.rank > 2:
                continue
            if densities[decl.name] > FULL:
                modes = ", ".join(map(str, fmt.mode_order))
                formats[decl.name] = "dense" if decl.rank < 2 else f"dense @ ({modes})"
        if not formats:
            return best
        return self.tried(replace(best.schedule, formats={**best.schedule.formats, **formats})) or best

    def within(self, best: AutoChoice, notes: list[str]) -> AutoChoice:
        """The fastest of what was tried that is no larger than it may be; or the smallest."""
        room = self.job.room
        if self.has_room(best):
            return best
        found = self.fastest_first()
        least = next(filter(self.has_room, found), None)
        if least is not None:
            notes.append(f"area: about {least.luts:,.0f} LUTs; what is faster takes more than {room.luts:,}")
            return least
        least = min(found, key=lambda one: one.luts)
        notes.append(
            f"area: about {least.luts:,.0f} LUTs, the fewest that were found, and more than {room.luts:,}"
        )
        return least

    def blocked(self, best: AutoChoice, notes: list[str]) -> AutoChoice:
        """With blocks as long as larger ones are worth it and there is room for them."""
        if not self.job.room.blocks:
            return best
        found = self.grown(best, lambda way: larger_blocks(self.program, way.schedule, self.given))
        if found is not best:
            notes.append(f"blocks: {counts_text(found.schedule.blocks)}, {size_words(best, found)}")
        return found

    def laned(self, best: AutoChoice, notes: list[str]) -> AutoChoice:
        """With lanes as long as they are worth it and there is room for them."""
        if not self.job.room.lanes:
            return best
        found = self.grown(best, lambda way: more_lanes(way.schedule, way.compiled))
        if found is not best:
            notes.append(f"lanes: {counts_text(found.schedule.lanes)}, {size_words(best, found)}")
        return found

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

    def arranged(self, best: AutoChoice, notes: list[str]) -> AutoChoice:
        """With the rows that lanes share in other orders, or split, where lanes are uneven."""
        known = self.job.statistics(best.schedule)
        if known is None:
            return best
        for load in lane_loads(self.program, best.schedule, known):
            found = best
            for schedule in row_layouts(best.schedule, load):
                way = self.tried(schedule)
                if way is not None and self.has_room(way):
                    found = min(found, way, key=lambda way: way.cycles)
                if CLEARLY * found.cycles <= load.least * best.cycles:
                    break  # Nothing else can be clearly faster.
            if found.cycles < CLEARLY * best.cycles:
                notes.append(layout_line(load, best, found))
                best = found
        return best

    def coupled(self, found: AutoChoice) -> AutoChoice:
        """The same, with what is expected where rows wait for each other."""
        return replace(found, cycles=self.expected(found.schedule, found.compiled, rows_wait=True))

    def queued(self, best: AutoChoice, notes: list[str]) -> AutoChoice:
        """With queues that are no longer than they have to be, where parts of a region wait for each other's
        rows; or another candidate, if no queues are long enough for this one."""
        found = self.with_queues(best)
        if found.schedule != best.schedule:
            notes.append(
                f"queues: {counts_text(found.schedule.queues)}, as rows take unequal times (about "
                f"{found.cycles:,.0f} cycles in place of {self.coupled(best).cycles:,.0f})"
            )
        for way in self.fastest_first():
            if way.cycles >= LARGER * found.cycles:
                break
            if self.has_room(way) and self.coupled(way).cycles < LARGER * found.cycles:
                notes[:] = self.instead(found, way)
                found = self.coupled(way)
        return found

    def instead(self, before: AutoChoice, found: AutoChoice) -> list[str]:
        """What is said of a candidate that wins only since rows of another one wait."""
        after = self.coupled(found)
        taken = found.schedule.brackets.items()
        lines = [
            bracket_line(choice, before.cycles, after.cycles)
            for choice in chain(*self.brackets)
            if (choice.result, choice.text) in taken
        ]
        gain = f"about {after.cycles:,.0f} cycles in place of {before.cycles:,.0f}"
        return lines or [f"rows: wait for nobody in {found.schedule} ({gain})"]

    def with_queues(self, best: AutoChoice) -> AutoChoice:
        """With the queues that help, of which no channel becomes deeper than it may."""
        known = self.job.statistics(best.schedule)
        plain = self.coupled(best)
        if known is None or self.given.queues or best.cycles >= CLEARLY * plain.cycles:
            return plain
        longer = list(with_queues(best.schedule, best.compiled, known))
        most = next(filter(None, (self.fitting(way, best) for way in reversed(longer))), plain)
        if most.cycles >= CLEARLY * plain.cycles:
            return plain
        ways = filter(None, (self.fitting(way, best) for way in longer))
        return next(way for way in ways if ENOUGH * way.cycles <= most.cycles)

    def fitting(self, schedule: Schedule, best: AutoChoice) -> AutoChoice | None:
        """A schedule with queues, with what is expected where rows wait; None where they are too deep, or too
        large."""
        try:
            compiled = add_queues(best.compiled, schedule.queues)
        except InputError:
            return None
        if not fits(compiled, best.compiled):
            return None
        way = self.coupled(AutoChoice(schedule, compiled, best.cycles))
        return way if self.has_room(way) else None

    def tried(self, schedule: Schedule) -> AutoChoice | None:
        """A schedule with what is expected of it; None if it cannot be."""
        found = self.outcome(schedule)
        return found if isinstance(found, AutoChoice) else None

    def seen(self, schedule: Schedule) -> AutoChoice | None:
        """The same, if it has been tried already."""
        found = self.known.get(schedule)
        return found if isinstance(found, AutoChoice) else None

    def has(self, patience: float) -> bool:
        """Whether one more candidate leaves some patience."""
        return self.spent + len(self.program.statements) <= patience

    def has_room(self, way: AutoChoice) -> bool:
        """Whether a design is as small as it has to be."""
        return self.job.room.luts is None or way.luts <= self.job.room.luts

    def outcome(self, schedule: Schedule) -> AutoChoice | InputError:
        if schedule not in self.known:
            self.spent += len(self.program.statements)
            try:
                compiled = self.compiled(schedule)
                cycles = self.expected(schedule, compiled)
                self.known[schedule] = AutoChoice(schedule, compiled, cycles)
            except InputError as error:
                self.known[schedule] = error
        return self.known[schedule]

    def expected(self, schedule: Schedule, compiled: Compiled, *, rows_wait: bool = False) -> float:
        """The cycles on the data; on as much as there is room for, where there is no hope."""
        cycles = expected_cycles(compiled, None)
        self.least = min(self.least, cycles)
        if cycles > HOPELESS * self.least:
            return cycles
        return expected_cycles(compiled, self.job.statistics(schedule), rows_wait=rows_wait)
