"""One program under several schedules, simulated on the same data, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from samhw.compiler import AUTO
from samhw.errors import ScheduleError
from samhw.graph import Arch
from samhw.schedule import Schedule
from samhw.targets.measure import Measure, measure
from samhw.workload import Workload

__all__ = ["Outcome", "compare"]


@dataclass(frozen=True)
class Outcome:
    """What became of a schedule: a measure, or the reason why it is impossible."""

    schedule: Schedule
    measure: Measure | None
    refusal: str = ""

    def to_json(self) -> dict[str, Any]:
        """One entry of what `samhw compare --json` prints."""
        schedule = self.schedule.to_json()
        return {
            "fuse": schedule["fuse"],
            "iteration": schedule["iteration"],
            "order": schedule.get("order", []),
            "schedule": schedule,
            **(asdict(self.measure) if self.measure else {"refused": self.refusal}),
        }


def compare(
    workload: Workload,
    schedules: Sequence[Schedule],
    *,
    value: str = AUTO,
    arch: Arch | None = None,
    **options: Any,
) -> Iterator[Outcome]:
    """The outcome of each schedule, as soon as it is known; `options` of `measure`."""
    for schedule in schedules:
        try:
            found = measure(workload, schedule, value=value, arch=arch, **options)
        except ScheduleError as error:
            yield Outcome(schedule, None, str(error))
        else:
            yield Outcome(schedule, found)
