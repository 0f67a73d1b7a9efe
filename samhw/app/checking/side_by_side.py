"""One program under several schedules, simulated on the same data, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from samhw.app.checking.measure import Measure, measure_compiled
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.errors import ScheduleError
from samhw.graph import Arch, Design
from samhw.graph.numerics import ValueType
from samhw.targets.backends import off_chip_tensors

__all__ = ["Known", "Outcome", "compare"]

Layouts = tuple[Mapping[str, str], Mapping[str, str]]

Known = tuple[tuple[Design, tuple[str, ...], Layouts], Measure]
"""A design with the tensors that it has off chip if there is a memory, and how data are split and ordered for
it; and what it takes."""


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
    value: ValueType | None = None,
    arch: Arch | None = None,
    known: list["Known"] | None = None,
    **options: Any,
) -> Iterator[Outcome]:
    """The outcome of each schedule, as soon as it is known.

    Schedules that are compiled to one design, on data in one form, have one measure, the same object, since
    it is run once.

    Args:
        known: the designs that have been measured, with the same options, to which this adds others.
        options: of `measure_compiled`.
    """
    known = [] if known is None else known
    for schedule in schedules:
        try:
            compiled = compile_workload(workload, schedule, value=value, arch=arch)
            design = compiled.design, off_chip_tensors(compiled), (schedule.split, schedule.permute_rows)
            found = next((measure for other, measure in known if other == design), None)
            if found is None:
                found = measure_compiled(workload, compiled, **options)
                known.append((design, found))
        except ScheduleError as error:
            yield Outcome(schedule, None, str(error))
        else:
            yield Outcome(schedule, found)
