"""What schedules of one program take, side by side: the command line prints it, and notebooks show it."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from io import StringIO
from typing import Any

from samhw.app.checking import Outcome, Verdict
from samhw.app.checking.measure import Measure
from samhw.app.report.time import gigabytes_per_second, say_clock, say_time, time_report
from samhw.choices.schedule import Schedule
from samhw.compiler import asked_types
from samhw.words import html_section, html_table, html_text

__all__ = ["Compared", "Comparison"]


@dataclass(frozen=True)
class Compared:
    """The schedules that give one design, or that are refused alike."""

    name: str
    measure: Measure | None
    refusal: str
    """Why there is no measure."""
    schedules: tuple[Schedule, ...]


@dataclass(frozen=True)
class Comparison:
    """The outcomes of schedules of one program on the same data."""

    program: str
    data: str
    value: str
    """The value type."""
    outcomes: tuple[Outcome, ...]
    period: float | None = None
    """Of the clock, in ns; None without one."""
    memory: str = ""
    """What lies off chip, in words; empty if nothing does."""
    energy: bool = False
    """Whether `grid` has estimates of energy."""
    types: str = ""
    """The types of single tensors, as --types has them."""

    @property
    def title(self) -> str:
        """What is compared, in a line."""
        memory = f", {self.memory}" if self.memory else ""
        clock = f", at {say_clock(self.period)}" if self.period is not None else ""
        kinds = ", ".join(filter(None, (self.value, self.types.replace(",", ", "))))
        return f"{self.program} on {self.data}, {kinds}{memory}{clock}"

    @property
    def good(self) -> bool:
        """No result is wrong."""
        return not any(row.measure and row.measure.result == Verdict.WRONG for row in self.rows)

    @cached_property
    def rows(self) -> tuple[Compared, ...]:
        """One for each design, and one for schedules that are refused alike but for the level of fusion."""
        groups: dict[object, list[Outcome]] = {}
        for outcome in self.outcomes:
            refused = outcome.refusal, str(replace(outcome.schedule, fuse="none"))
            groups.setdefault(refused if outcome.measure is None else id(outcome.measure), []).append(outcome)
        return tuple(
            _compared(tuple(outcome.schedule for outcome in alike), alike[0]) for alike in groups.values()
        )

    @property
    def first(self) -> Measure | None:
        """The measure that speedups are over; None if every schedule is refused."""
        return next((row.measure for row in self.rows if row.measure), None)

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why schedules are refused; `grid` has their numbers in this list, from 1."""
        return tuple(dict.fromkeys(row.refusal for row in self.rows if row.measure is None))

    def to_json(self) -> dict[str, Any]:
        """What `samhw compare --json` prints."""
        return {
            "program": self.program,
            "data": self.data,
            "value": self.value,
            **(
                {"types": {name: kind.name for name, kind in asked_types(self.types).items()}}
                if self.types
                else {}
            ),
            "outcomes": [{**outcome.to_json(), **self._time_of(outcome)} for outcome in self.outcomes],
        }

    def csv(self) -> str:
        """A row for each schedule: what it is, and what it took or why it is refused; with a clock its time
        in seconds too, and the rate of off-chip memory in GB/s."""
        figures = [one.name for one in fields(Measure)]
        timed = [] if self.period is None else [*time_report(0, self.period), "gigabytes_per_second"]
        output = StringIO()
        table = csv.writer(output, lineterminator="\n")
        table.writerow(["program", "data", "value", "types", "schedule", *figures, *timed, "refused"])
        for outcome in self.outcomes:
            measure = outcome.measure
            held = [getattr(measure, name) if measure else "" for name in figures]
            about = [self.program, self.data, self.value, self.types]
            time = self._time_of(outcome)
            held += [time.get(name, "") for name in timed]
            table.writerow([*about, outcome.schedule, *held, outcome.refusal])
        return output.getvalue()

    def _time_of(self, outcome: Outcome) -> dict[str, Any]:
        """What JSON says of an outcome's time, and of the rate of off-chip memory."""
        measured = outcome.measure
        if measured is None or self.period is None:
            return {}
        report = time_report(measured.cycles, self.period)
        if measured.bytes_moved is not None:
            rate = gigabytes_per_second(measured.bytes_moved, measured.cycles, self.period)
            report["gigabytes_per_second"] = rate
        return report

    def grid(self) -> list[list[str]]:
        """Texts by rows, headings first: a row for each of `rows`, with the speedup over `first`."""
        rate = any(row.measure and row.measure.bytes_moved is not None for row in self.rows)
        time = ["time"] if self.period is not None else []
        moved = (["moved off chip"] if rate else []) + (["GB/s"] if rate and self.period is not None else [])
        counts = ["firings", "operations", "bytes read", "written"]
        energy = ["nJ, estimated"] if self.energy else []
        grid = [["schedule", "regions", "cycles", *time, "speedup", *energy, *counts, *moved, "result"]]
        for row in self.rows:
            if row.measure is None:
                refused = f"refused {self.refusals.index(row.refusal) + 1}"
                grid.append([row.name, *[""] * (len(grid[0]) - 2), refused])
            else:
                grid.append([row.name, *self._cells(row.measure, rate)])
        return grid

    def _cells(self, m: Measure, rate: bool) -> list[str]:
        """What `grid` says of a measure."""
        assert self.first is not None
        cells = [str(m.regions), f"{m.cycles:,}"]
        if self.period is not None:
            cells.append(say_time(m.cycles, self.period))
        cells.append(f"{self.first.cycles / m.cycles:.2f}")
        cells += [f"{m.energy_pj / 1e3:,.1f}"] if self.energy else []
        cells += [f"{n:,}" for n in (m.firings, m.operations, int(m.bytes_read), int(m.bytes_written))]
        moved = m.bytes_moved or 0
        if rate:
            cells.append(f"{moved:,}")
        if rate and self.period is not None:
            cells.append(f"{gigabytes_per_second(moved, m.cycles, self.period):.2f}")
        return [*cells, Verdict(m.result).in_words(m.unproved)]

    def __repr__(self) -> str:
        return f"<Comparison of {self.title}: {len(self.rows)} designs>"

    def _repr_html_(self) -> str:
        refused = "\n".join(f"refused {n}: {why}" for n, why in enumerate(self.refusals, 1))
        return html_section(self.title, html_table(self.grid()) + (html_text(refused) if refused else ""))


def _compared(schedules: tuple[Schedule, ...], first: Outcome) -> Compared:
    return Compared(_name(schedules), first.measure, first.refusal, schedules)


def _name(schedules: Sequence[Schedule]) -> str:
    """Schedules in a row: once where they differ in the level of fusion alone."""
    first = schedules[0]
    if len({str(replace(schedule, fuse=first.fuse)) for schedule in schedules}) > 1:
        return " = ".join(map(str, schedules))
    levels = " = ".join(dict.fromkeys(schedule.word("fuse") for schedule in schedules))
    return str(first).replace(first.word("fuse"), levels, 1)
