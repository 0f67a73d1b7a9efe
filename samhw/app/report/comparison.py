"""What schedules of one program take, side by side: the command line prints it, and notebooks show it."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from io import StringIO
from types import SimpleNamespace
from typing import Any

from samhw.app.checking import Outcome, Verdict
from samhw.app.checking.check_run import UNPROVED
from samhw.app.checking.measure import REFUSED, Measure
from samhw.app.report.time import gigabytes_per_second, say_clock, say_time, time_report
from samhw.choices.choice import Choice
from samhw.choices.schedule import CHOICES, DEFAULT, Schedule
from samhw.compiler import asked_types
from samhw.words import html_section, html_table, html_text

__all__ = ["Compared", "Comparison"]


_NOTHING = SimpleNamespace(status=REFUSED)
"""What a schedule that is refused has of a measure."""

Said = Mapping[str, str]
"""What a schedule is in words, by choice."""


@dataclass(frozen=True)
class Compared:
    """The schedules that give one design, or that are refused alike."""

    name: str
    """The schedules in words, without what all of a comparison have."""
    measure: Measure | None
    error: str
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
        return not any(row.measure and row.measure.status == Verdict.WRONG for row in self.rows)

    @cached_property
    def rows(self) -> tuple[Compared, ...]:
        """One for each design, and one for schedules that are refused alike but for the level of fusion."""
        return tuple(self._compared(numbers) for numbers in self._groups)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The outcomes of each row."""
        groups: dict[object, list[int]] = {}
        for number, outcome in enumerate(self.outcomes):
            refused = outcome.error, str(replace(outcome.schedule, fuse="none"))
            groups.setdefault(refused if outcome.measure is None else id(outcome.measure), []).append(number)
        return list(groups.values())

    def _compared(self, numbers: Sequence[int]) -> Compared:
        first, schedules = self.outcomes[numbers[0]], [self.outcomes[n].schedule for n in numbers]
        name = _name([self._said[1][n] for n in numbers])
        return Compared(name or str(first.schedule), first.measure, first.error, tuple(schedules))

    @property
    def common(self) -> str:
        """What all schedules have, in words, which the names of `rows` leave out; empty where they are
        equal."""
        common, own = self._said
        return common if any(own) else ""

    @cached_property
    def _said(self) -> tuple[str, list[Said]]:
        common, own = _said([outcome.schedule for outcome in self.outcomes])
        if len(self._groups) == 1:
            return common, own
        alike = _indifferent([[own[number] for number in numbers] for numbers in self._groups])
        rest = [{name: words for name, words in said.items() if name not in alike} for said in own]
        return ", ".join(filter(None, [*alike.values(), common])), list(rest)

    @property
    def first(self) -> Measure | None:
        """The measure that speedups are over; None if every schedule is refused."""
        return next((row.measure for row in self.rows if row.measure), None)

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why schedules are refused; `grid` has their numbers in this list, from 1."""
        return tuple(dict.fromkeys(row.error for row in self.rows if row.measure is None))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the words of `grid` refer to: the refusals by number, and what is unproved."""
        refused = (f"refused {number}: {why}" for number, why in enumerate(self.refusals, 1))
        unproved = any(row.measure and row.measure.unproved for row in self.rows)
        return *refused, *([f"unproved elements: {UNPROVED}"] if unproved else [])

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
            "common": self.common,
            "outcomes": [self._row_json(row) for row in self.rows],
        }

    def _row_json(self, row: Compared) -> dict[str, Any]:
        """What JSON says of a row: of its first schedule, with those that give the same design."""
        told = Outcome(row.schedules[0], row.measure, row.error).to_json()
        same = [schedule.to_json() for schedule in row.schedules[1:]]
        return {"name": row.name, **told, "same": same, **self._time_of(row.measure)}

    def csv(self) -> str:
        """The rows of `grid`: what schedules are besides what all have in `common`, and what they took or why
        they are refused; with a clock the time in seconds too, and the rate of off-chip memory in GB/s."""
        figures = [one.name for one in fields(Measure)]
        timed = [] if self.period is None else [*time_report(0, self.period), "gigabytes_per_second"]
        output = StringIO()
        table = csv.writer(output, lineterminator="\n")
        about = ["program", "data", "value", "types", "common", "schedule"]
        table.writerow([*about, *figures, *timed, "error"])
        for row in self.rows:
            measure = row.measure
            held = [getattr(measure or _NOTHING, name, "") for name in figures]
            about = [self.program, self.data, self.value, self.types, self.common]
            time = self._time_of(measure)
            held += [time.get(name, "") for name in timed]
            table.writerow([*about, row.name, *held, row.error])
        return output.getvalue()

    def _time_of(self, measured: Measure | None) -> dict[str, Any]:
        """What JSON says of the time, and of the rate of off-chip memory."""
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
        taken = [*time, "speedup", "LUTs", *energy, *counts, *moved, "status"]
        grid = [["schedule", "regions", "cycles", *taken]]
        for row in self.rows:
            if row.measure is None:
                refused = f"refused {self.refusals.index(row.error) + 1}"
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
        cells += [f"{self.first.cycles / m.cycles:.2f}", f"{m.luts:,}"]
        cells += [f"{m.energy_pj / 1e3:,.1f}"] if self.energy else []
        cells += [f"{n:,}" for n in (m.firings, m.operations, int(m.bytes_read), int(m.bytes_written))]
        moved = m.bytes_moved or 0
        if rate:
            cells.append(f"{moved:,}")
        if rate and self.period is not None:
            cells.append(f"{gigabytes_per_second(moved, m.cycles, self.period):.2f}")
        return [*cells, Verdict(m.status).in_words(m.unproved)]

    def __repr__(self) -> str:
        return f"<Comparison of {self.title}: {len(self.rows)} designs>"

    def _repr_html_(self) -> str:
        notes = "\n".join(filter(None, [self.common and f"every schedule: {self.common}", *self.notes]))
        return html_section(self.title, html_table(self.grid()) + (html_text(notes) if notes else ""))


def _said(schedules: Sequence[Schedule]) -> tuple[str, list[Said]]:
    """What all of the schedules have, and by choice what each has besides."""
    common: list[str] = []
    own: list[dict[str, str]] = [{} for _ in schedules]
    for one in CHOICES if schedules else ():
        values = [getattr(schedule, one.name) for schedule in schedules]
        shared = _shared(one, values)
        if all(value == shared for value in values):
            common += _words(one, shared) if one.is_always_said or shared != _default(one) else ()
            continue
        common += _words(one, shared) if shared else ()
        for words, value in zip(own, values, strict=True):
            rest = {name: entry for name, entry in value.items() if name not in shared} if shared else value
            words[one.name] = _difference(one, rest, "other " if shared else "")
    return ", ".join(common), list(own)


def _shared(one: Choice[Any], values: Sequence[Any]) -> Any:
    """The value of a choice that all have, or the entries; nothing where there are none."""
    first = values[0]
    if all(value == first for value in values):
        return first
    if not (one.has_entries and all(isinstance(value, Mapping) for value in values)):
        return None
    return {k: entry for k, entry in first.items() if all(k in v and v[k] == entry for v in values)}


def _difference(one: Choice[Any], value: Any, other: str) -> str:
    """A value beside others, in words; also the default, of which a schedule's line says nothing."""
    if one.is_always_said or value != _default(one):
        return ", ".join(_words(one, value))
    name, word = one.name.replace("_", " "), one.word(value)
    if one.kind is bool or not word:
        return one.nothing or f"no {other}{name}"
    return f"{name} {word}"


def _default(one: Choice[Any]) -> Any:
    return getattr(DEFAULT, one.name)


def _words(one: Choice[Any], value: Any) -> tuple[str, ...]:
    return tuple(one.said(value))


def _indifferent(rows: Sequence[Sequence[Said]]) -> Said:
    """The choices that give one design whatever is chosen, such as the level of fusion of one statement: all
    that occurs of them occurs in each row, with all else that the row has."""
    found = {}
    for name in rows[0][0] if rows else ():
        every = list(dict.fromkeys(said[name] for row in rows for said in row))
        by_rest = [_by_rest(row, name) for row in rows]
        if all(values == set(every) for groups in by_rest for values in groups.values()):
            found[name] = " = ".join(every)
    return found


def _by_rest(row: Sequence[Said], name: str) -> dict[frozenset[tuple[str, str]], set[str]]:
    """The words of a choice by those of all others."""
    groups: dict[frozenset[tuple[str, str]], set[str]] = {}
    for said in row:
        groups.setdefault(frozenset({**said, name: ""}.items()), set()).add(said[name])
    return groups


def _name(alike: Sequence[Said]) -> str:
    """Schedules in a row: once where they differ in one choice alone, such as the level of fusion."""
    words = {name: list(dict.fromkeys(said[name] for said in alike)) for name in alike[0]}
    if sum(len(found) > 1 for found in words.values()) > 1:
        return " = ".join(dict.fromkeys(", ".join(said.values()) for said in alike))
    return ", ".join(" = ".join(found) for found in words.values())
