"""The order in which a run goes through the regions of a design: a tree of steps."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from samhw.errors import InputError

__all__ = [
    "Parallel",
    "Repeat",
    "Run",
    "Step",
    "Steps",
    "beside",
    "check_steps",
    "first_of",
    "in_turn",
    "most_at_a_time",
    "runs_of",
    "sequence_of",
    "starts_of",
    "text_of",
    "times_of",
    "total_of",
    "walk",
]

T = TypeVar("T", int, float)


@dataclass(frozen=True)
class Run:
    """Runs a region, by its number."""

    region: int

    def __str__(self) -> str:
        return f"run {self.region}"


@dataclass(frozen=True)
class Repeat:
    """Goes through the steps of a body once for each value of an index, from 0 up.

    Attributes:
        index: the variable that takes these values: the name of the repeat, of which a design has but one.
        extent: which of the design's extents says how many values the index has in a run.
        body: the steps.
    """

    index: str
    extent: str
    body: "Steps"

    def __str__(self) -> str:
        return f"repeat {self.index} < {self.extent} {{ {text_of(self.body)} }}"


@dataclass(frozen=True)
class Parallel:
    """Goes through several bodies side by side, and ends when all of them have."""

    bodies: tuple["Steps", ...]

    def __str__(self) -> str:
        return f"parallel {{ {' | '.join(map(text_of, self.bodies))} }}"


Step = Run | Repeat | Parallel
"""What a sequence has one after another."""

Steps = tuple[Step, ...]
"""A sequence, or one inside of a step."""


def text_of(steps: Steps) -> str:
    """A sequence in one line, such as ``run 0; repeat t < n { run 1; run 2 }``."""
    return "; ".join(map(str, steps))


def walk(steps: Steps) -> Iterator[Step]:
    """All steps of a sequence, each before those inside of it, in the order in which a run first comes to
    them."""
    for step in steps:
        yield step
        match step:
            case Repeat():
                yield from walk(step.body)
            case Parallel():
                for body in step.bodies:
                    yield from walk(body)


def in_turn(steps: Steps) -> Iterator[int]:
    """The regions of a sequence, each once, in the order in which a run first comes to them; those of a body
    that runs beside others before those of the next body."""
    return (step.region for step in walk(steps) if isinstance(step, Run))


def first_of(steps: Steps) -> tuple[int, ...]:
    """The regions that some steps begin with: several, if they begin with a parallel step."""
    match steps[0]:
        case Run(region):
            return (region,)
        case Repeat(_, _, body):
            return first_of(body)
        case Parallel(bodies):
            return tuple(region for body in bodies for region in first_of(body))
    raise TypeError(f"{steps[0]!r} is no step")


def beside(steps: Steps) -> dict[int, frozenset[int]]:
    """For each region those that may be under way in the same cycle."""
    found = {region: frozenset[int]() for region in in_turn(steps)}
    for step in walk(steps):
        if isinstance(step, Parallel):
            bodies = [frozenset(in_turn(body)) for body in step.bodies]
            every = frozenset[int]().union(*bodies)
            for body in bodies:
                found |= {region: found[region] | (every - body) for region in body}
    return found


def most_at_a_time(steps: Steps, needs: Mapping[int, Counter[str]]) -> Counter[str]:
    """Of what each region needs of some things, by their names, the most that steps need at a time: bodies
    side by side need it together."""
    found = Counter[str]()
    for step in steps:
        match step:
            case Run(region):
                found |= needs[region]
            case Repeat(_, _, body):
                found |= most_at_a_time(body, needs)
            case Parallel(bodies):
                found |= sum((most_at_a_time(body, needs) for body in bodies), Counter[str]())
    return found


def total_of(steps: Steps, cycles: Mapping[int, T]) -> T:
    """The cycles of a run (docs/timing.md, "Regions").

    Args:
        cycles: of each region: of all its runs, with one for each but the first.
    """
    found: list[T] = []
    for step in steps:
        match step:
            case Run(region):
                found.append(cycles[region])
            case Repeat(_, _, body):
                found.append(total_of(body, cycles))
            case Parallel(bodies):
                found.append(max(total_of(body, cycles) for body in bodies))
    return sum(found[1:], found[0]) + len(found) - 1 if found else 0


def starts_of(steps: Steps, cycles: Mapping[int, int], begin: int = 0) -> dict[int, int]:
    """The cycle of a run in which each region first starts; `cycles` as for `total_of`."""
    found: dict[int, int] = {}
    for step in steps:
        match step:
            case Run(region):
                found[region] = begin
            case Repeat(_, _, body):
                found |= starts_of(body, cycles, begin)
            case Parallel(bodies):
                for own in bodies:
                    found |= starts_of(own, cycles, begin)
        begin += total_of((step,), cycles) + 1
    return found


def check_steps(steps: Steps, extents: Mapping[str, int]) -> None:
    """Raises `InputError` for a repeat that would make no step in a run with these extents."""
    for step in walk(steps):
        if isinstance(step, Repeat) and extents.get(step.extent) == 0:
            raise InputError(
                f"The repeat '{step.index}' would make no step, as the extent {step.extent} is 0; give "
                "data of one step or more."
            )


def runs_of(
    steps: Steps, extents: Mapping[str, int], at: Mapping[str, int] | None = None
) -> Iterator[tuple[int, Mapping[str, int]]]:
    """The runs of regions that a sequence makes, in their order, each with the values of the indices of the
    repeats around it. Those of bodies that run side by side come body by body.

    Args:
        extents: of the run.
        at: the values of the indices around these steps.
    """
    at = at or {}
    for step in steps:
        match step:
            case Run(region):
                yield region, at
            case Repeat(index, extent, body):
                for value in range(extents[extent]):
                    yield from runs_of(body, extents, {**at, index: value})
            case Parallel(bodies):
                for own in bodies:
                    yield from runs_of(own, extents, at)


def times_of(steps: Steps, extents: Mapping[str, int]) -> Counter[int]:
    """How many runs of each region a sequence makes.

    Args:
        extents: of the run.
    """
    found: Counter[int] = Counter()
    for step in steps:
        match step:
            case Run(region):
                found[region] += 1
            case Repeat(_, extent, body):
                own = times_of(body, extents)
                found.update({region: extents[extent] * times for region, times in own.items()})
            case Parallel(bodies):
                for own_steps in bodies:
                    found.update(times_of(own_steps, extents))
    return found


def sequence_of(repeats: Sequence[Repeat | None]) -> Steps:
    """The sequence of regions of which some are repeated.

    Args:
        repeats: for each region in its order what repeats it, without a body. What is repeated together
            stands together, but for regions that run once, which come before it then.
    """
    around = {repeat: [n for n, own in enumerate(repeats) if own == repeat] for repeat in repeats if repeat}
    steps: list[Step] = []
    done: set[int] = set()
    for n, repeat in enumerate(repeats):
        if n in done:
            continue
        if repeat is None:
            steps.append(Run(n))
            continue
        own = around[repeat]
        once = [between for between in range(n, own[-1]) if repeats[between] is None]
        steps += map(Run, once)
        steps.append(Repeat(repeat.index, repeat.extent, tuple(map(Run, own))))
        done.update(own, once)
    return tuple(steps)
