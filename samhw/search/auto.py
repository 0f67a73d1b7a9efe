"""`--schedule auto`: of some schedules, the one that is expected to take the fewest cycles.

The candidates are levels and rules of fusion, the brackets that take less work, and other formats of
intermediates. Each is decided as a user's own schedule would be, and nothing is simulated. The program as it
is written is always among them, and stands unless something else is expected to be clearly faster.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from samhw.brackets import apply_brackets
from samhw.errors import InputError
from samhw.frontend import Capacity, Program
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.passes import Lowerable
from samhw.schedule import FusionLevel, FusionRule, Schedule
from samhw.search.brackets import BracketChoice, bracket_choices
from samhw.search.choose import Choice
from samhw.search.compile import decide, make_lowerable
from samhw.search.modules import module_regions
from samhw.search.work import Sizes, work_of

__all__ = ["AutoChoice", "Request", "choose_schedule"]

CLEARLY = 0.95
"""What the expected cycles must come down to before anything but the program as it is written is taken."""

NEARLY = 0.97
"""What those of a candidate must come down to before it is taken in the place of one before it."""

SMALL = 16
"""Up to how many statements the levels of fusion that seldom win are tried too."""

FULL, EMPTY = 0.5, 0.02
"""How dense an intermediate is before it is stored dense, and how sparse before its rows are compressed."""


@dataclass(frozen=True)
class Request:
    """What a schedule is chosen for.

    Attributes:
        program: with the extents of its data, if there are some.
        schedule: what is given; the fields that choose are open.
        capacity: the room that a build under a schedule needs.
        stored: by input, how many values it stores, where data say so.
        entries: by tensor, the entries of its compressed levels in place of those of `capacity`.
        scopes: of a program that was made of a module of PyTorch, as for `module_regions`.
    """

    program: Program
    schedule: Schedule
    capacity: Callable[[Schedule], Capacity]
    value: ValueType | None
    arch: Arch
    stored: Mapping[str, int]
    entries: Mapping[str, int] | None = None
    scopes: Mapping[str, str] | None = None


@dataclass(frozen=True)
class AutoChoice:
    """What was chosen.

    Attributes:
        schedule: without anything that is left to be chosen automatically.
        cycles: what is expected of it.
        why: what was chosen and why, a line each.
        first: what the first pass takes.
        lowerable, choice, value: the program behind the passes, what is decided about it, and the type of its
            values.
    """

    schedule: Schedule
    cycles: float
    why: tuple[str, ...]
    first: Lowerable
    lowerable: Lowerable
    choice: Choice
    value: ValueType


def choose_schedule(request: Request) -> AutoChoice:
    """The schedule that is expected to take the fewest cycles.

    Raises:
        InputError: if none of the candidates can be lowered, for the first reason.
    """
    return _Auto(request).choice()


@dataclass(frozen=True)
class _Candidate:
    schedule: Schedule
    first: Lowerable
    lowerable: Lowerable
    choice: Choice
    value: ValueType

    @property
    def cycles(self) -> float:
        """What is expected of all regions."""
        return self.choice.cycles

    def because(self, *why: str) -> AutoChoice:
        return AutoChoice(
            self.schedule, self.cycles, why, self.first, self.lowerable, self.choice, self.value
        )


class _Auto:
    def __init__(self, request: Request) -> None:
        self.request = request
        self.known: dict[str, _Candidate | InputError] = {}
        self.program = request.program
        self.given = replace(request.schedule, fuse="partial")

    def choice(self) -> AutoChoice:
        written = self.written()
        best = self.best_regions(written, written)
        brackets, notes = self.brackets(), []
        for bracket in brackets:
            schedule = replace(
                best.schedule, brackets={**best.schedule.brackets, bracket.result: bracket.text}
            )
            found = self.best_regions(self.tried(schedule) or best, written)
            if found.cycles < NEARLY * best.cycles:
                notes.append(_bracket_line(bracket, best.cycles, found.cycles))
                best = found
        found = self.with_formats(best)
        if found.cycles < NEARLY * best.cycles:
            changed = {n: f for n, f in found.schedule.formats.items() if f != best.schedule.formats.get(n)}
            notes.append(
                f"formats: {', '.join(f'{n} {f}' for n, f in changed.items())}, by their expected density "
                f"({_cycles(found.cycles)} in place of {best.cycles:,.0f})"
            )
            best = found
        if best is written or not best.cycles < CLEARLY * written.cycles:
            return self.unchanged(written, best)
        first = (
            f"regions: {best.schedule.fuse_text()} ({_cycles(best.cycles)}; {written.cycles:,.0f} as written)"
        )
        return best.because(first, *notes)

    def unchanged(self, written: _Candidate, best: _Candidate) -> AutoChoice:
        """The program as it is written, with the reason."""
        others = "nothing else is expected to be faster"
        if best is not written:
            others = f"{best.schedule} is expected to take {best.cycles:,.0f}, which is too near to tell"
        return written.because(f"as written ({_cycles(written.cycles)}): {others}")

    def written(self) -> _Candidate:
        """The program as it is written; or, if that cannot be lowered, the first other way that can."""
        first: InputError | None = None
        for permute in dict.fromkeys((self.given.permute, True)):
            for fuse in ("partial", "none", "kinds", "full"):
                found = self.outcome(replace(self.given, fuse=fuse, permute=permute))
                if isinstance(found, _Candidate):
                    self.given = replace(self.given, permute=permute)
                    return found
                first = first or found
        assert first is not None
        raise first

    def best_regions(self, best: _Candidate, written: _Candidate) -> _Candidate:
        """The best of all ways to group the statements of a schedule's brackets."""
        for fuse in self.levels():
            found = self.tried(replace(best.schedule, fuse=fuse))
            if found is not None and found.cycles < NEARLY * best.cycles:
                best = found
        return best

    def levels(self) -> Iterator[FusionLevel | FusionRule]:
        yield from ("partial", "full")
        if self.request.scopes is not None:
            yield "module"
        if len(self.program.statements) <= SMALL:
            yield from ("kinds", "none")

    def brackets(self) -> list[BracketChoice]:
        """What may be gained, the most first; nothing where brackets are given."""
        if self.given.brackets:
            return []
        found = bracket_choices(self.program, self.sizes())
        return sorted(found, key=lambda choice: choice.after - choice.before)

    def sizes(self) -> Sizes:
        capacity = self.request.capacity(self.given)
        return Sizes.of_entries(self.program, capacity, self.request.stored)

    def with_formats(self, best: _Candidate) -> _Candidate:
        """The same with other formats of its intermediates, where they are denser or sparser than stored."""
        try:
            program = best.schedule.apply(self.program).bind({})
            densities = work_of(program, self.sizes()).densities
        except InputError:
            return best
        formats = {}
        for decl in program.intermediates:
            if decl.name in self.given.formats or decl.rank != 2 or decl.format.block:
                continue
            order = decl.format.mode_order
            stored = "" if order == (0, 1) else " @ (1, 0)"
            if not decl.format.is_all_dense and densities[decl.name] > FULL:
                formats[decl.name] = f"dense{stored}"
        if not formats:
            return best
        return self.tried(replace(best.schedule, formats={**best.schedule.formats, **formats})) or best

    # Candidates

    def tried(self, schedule: Schedule) -> _Candidate | None:
        found = self.outcome(schedule)
        return found if isinstance(found, _Candidate) else None

    def outcome(self, schedule: Schedule) -> _Candidate | InputError:
        """A schedule with what is expected of it, or why it cannot be."""
        key = repr(schedule)
        if key not in self.known:
            try:
                self.known[key] = self.decided(self.resolved(schedule))
            except InputError as error:
                self.known[key] = error
        return self.known[key]

    def decided(self, schedule: Schedule) -> _Candidate:
        request = self.request
        first = make_lowerable(
            self.program, schedule, capacity=request.capacity(schedule), entries=request.entries
        )
        return _Candidate(schedule, first, *decide(first, schedule, request.value, request.arch))

    def resolved(self, schedule: Schedule) -> Schedule:
        """With lists in the place of `module`."""
        if schedule.fuse != "module" or self.request.scopes is None:
            return schedule
        program = apply_brackets(self.program, schedule.brackets)
        return replace(schedule, fuse=module_regions(program, self.request.scopes))


def _cycles(cycles: float) -> str:
    return f"about {cycles:,.0f} cycles"


def _bracket_line(choice: BracketChoice, before: float, after: float) -> str:
    less = choice.before / max(1.0, choice.after)
    return (
        f"brackets: {choice.result} = {choice.text}, {less:.1f} times less work ({_cycles(after)} in place "
        f"of {before:,.0f})"
    )
