"""The order in which a run goes through the regions of a design: a tree of steps.

The compiler makes sequences of `Run` alone, and these are all that the backends can follow: they ask for
`Design.turns`, which refuses the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from samhw.errors import InputError

__all__ = ["Parallel", "Repeat", "Run", "Step", "Steps", "in_turn", "text_of", "walk"]


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
        index: the variable that takes these values.
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


def in_turn(name: str, steps: Steps) -> Iterator[int]:
    """The regions of a sequence that runs one after another, each once.

    Args:
        name: that of the design, for the error.

    Raises:
        InputError: for a step that repeats others, or runs some in parallel.
    """
    for step in walk(steps):
        if not isinstance(step, Run):
            raise InputError(
                f"The sequence of {name} has the step '{step}', and no backend can repeat regions or run "
                "them in parallel yet; give it a sequence of runs alone."
            )
        yield step.region
