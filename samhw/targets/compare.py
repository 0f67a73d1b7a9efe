"""One program under several schedules, simulated on the same data, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from samhw.compiler import AUTO
from samhw.errors import ScheduleError
from samhw.frontend import FusionLevel
from samhw.graph import Arch
from samhw.targets.measure import Measure, measure
from samhw.workload import Workload

__all__ = ["Choice", "Outcome", "compare"]


@dataclass(frozen=True)
class Choice:
    """A schedule: the level of fusion, the iteration space, an order where the program is one region, and
    permission to copy what is stored against it."""

    fuse: FusionLevel
    factored: bool = True
    order: tuple[str, ...] | None = None
    permute: bool = False

    def __str__(self) -> str:
        words = [self.fuse, "factored" if self.factored else "global"]
        return ", ".join([*words, *(["order " + ",".join(self.order)] if self.order else [])])


@dataclass(frozen=True)
class Outcome:
    """What became of a choice: a measure, or the reason why it is impossible."""

    choice: Choice
    measure: Measure | None
    refusal: str = ""

    def to_json(self) -> dict[str, Any]:
        """One entry of what `samhw compare --json` prints."""
        measured = asdict(self.measure) if self.measure else {"refused": self.refusal}
        return {
            "fuse": self.choice.fuse,
            "iteration": "factored" if self.choice.factored else "global",
            "order": list(self.choice.order or ()),
            **measured,
        }


def compare(
    workload: Workload,
    choices: Sequence[Choice],
    *,
    value: str = AUTO,
    arch: Arch | None = None,
    **options: Any,
) -> Iterator[Outcome]:
    """The outcome of each choice, as soon as it is known; `options` of the simulator, as for `simulate`."""
    for choice in choices:
        chosen = replace(workload, program=workload.program.with_fusion(choice.fuse))
        try:
            found = measure(
                chosen,
                value=value,
                factored=choice.factored,
                order=choice.order,
                permute=choice.permute,
                arch=arch,
                **options,
            )
        except ScheduleError as error:
            yield Outcome(choice, None, str(error))
        else:
            yield Outcome(choice, found)
