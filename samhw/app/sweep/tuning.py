"""`samhw tune`: schedules that a search finds, those of them worth a simulation, and the best of these."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from samhw.app.checking import Verdict
from samhw.app.checking.energy import expected_energy
from samhw.app.checking.measure import pareto_front
from samhw.app.workload import Workload, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler import AUTO, Compiled, asked_types
from samhw.compiler.search import Job, Room
from samhw.compiler.search.explore import Explored, explore
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.words import counted, html_section, html_table, in_columns

__all__ = [
    "OBJECTIVES",
    "Objective",
    "Trial",
    "Tuned",
    "cost_of",
    "search",
    "shortlist",
    "written_one",
]

Objective = Literal["cycles", "area-delay", "energy", "edp"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
_OF_ENERGY = ("energy", "edp")
"""The objectives that energy is a part of."""


def cost_of(objective: Objective) -> Callable[[Explored], float]:
    """What is to become small: the cycles, their product with the LUTs, the energy, or its product with the
    cycles. What is larger than its budget comes after all else, the smallest first."""

    def cost(one: Explored) -> float:
        if one.share > 1:
            return 1e24 * one.share
        match objective:
            case "area-delay":
                return one.cycles * one.luts
            case "energy":
                return one.energy
            case "edp":
                return one.energy * one.cycles
        return one.cycles

    return cost


def search(
    workload: Workload,
    schedule: Schedule,
    budget: float,
    objective: Objective,
    *,
    grown: Iterable[str] = (),
    area: str | None = None,
    confirm: int = 8,
    value: ValueType | None = None,
    arch: Arch | None = None,
    entries: Mapping[str, int] | None = None,
    memory: OffChipMemory | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[list[Explored], int]:
    """What is worth a simulation, as `shortlist` has it, of the schedules that half of a budget in seconds
    finds by estimate (the other half is for simulations), and how many these are.

    Args:
        schedule: whose fields stay as they are, but for the level of fusion.
        grown: the choices by which a design may be enlarged, such as `lanes`.
        area: what the design may take, as --area; what fills an area is then tried too.
        confirm: how many of the best are simulated.
        value, arch, entries: as for `job_of`.
        memory: what holds tensors off chip.
        progress: as for `explore`.

    Raises:
        InputError: for an area that there is not, and if no schedule can be lowered.
    """
    room = Room.of(grown, area)
    given = replace(schedule, fuse=AUTO)
    job = job_of(workload, given, value=value, arch=arch, entries=entries, room=room)
    job = replace(job, memory=memory)
    energy = _energy_for(objective, job)
    found = explore(job, budget / 2, cost_of(objective), progress=progress, energy=energy)
    return shortlist(found, confirm), len(found)


def _energy_for(objective: Objective, job: Job) -> Callable[[Compiled, Schedule], float] | None:
    """What a run under a schedule is expected to take, in picojoules; None where the objective has no use for
    it."""
    if objective not in _OF_ENERGY:
        return None

    def energy(compiled: Compiled, schedule: Schedule) -> float:
        known = job.statistics(schedule)
        return 0.0 if known is None else expected_energy(compiled, known)

    return energy


@dataclass(frozen=True)
class Trial:
    """A schedule that has been simulated.

    Attributes:
        found: as the search has found it.
        cycles: that the run took.
        verdict: what the check says of its results.
        unproved: the elements of which the check proves nothing.
        energy: an estimate of what the run takes, in picojoules.
    """

    found: Explored
    cycles: int
    verdict: Verdict
    unproved: int = 0
    energy: float = 0.0

    @property
    def checked(self) -> bool:
        """The check has passed, and proves something."""
        return self.verdict.is_proof

    @property
    def status(self) -> str:
        """The verdict in words."""
        return self.verdict.in_words(self.unproved)

    def to_json(self) -> dict[str, Any]:
        """The trial for JSON."""
        return {
            "cycles": self.cycles,
            "expected_cycles": round(self.found.cycles),
            "luts": round(self.found.luts),
            "energy_pj": self.energy,
            "regions": self.found.regions,
            "status": str(self.verdict),
            "checked": self.checked,
            "unproved": self.unproved,
            "schedule": self.found.schedule.to_json(),
        }


@dataclass(frozen=True)
class Tuned:
    """What a search has come to.

    Attributes:
        data: the name of the data.
        trials: that were simulated; the first one is the program as it is written.
        looked: how many designs were estimated.
        objective: what was to become small.
        types: of single tensors, as --types has them.
    """

    data: str
    trials: tuple[Trial, ...]
    looked: int
    objective: Objective
    types: str = ""

    @property
    def on(self) -> str:
        """The data and the types, in words."""
        return f"{self.data}, {self.types.replace(',', ', ')}" if self.types else self.data

    @property
    def written(self) -> Trial:
        """The program as it is written."""
        return self.trials[0]

    @property
    def best(self) -> Trial:
        """The one that was searched for, which is on the front: of those that cost the same to a thousandth
        the fastest, and then the cheapest."""
        cost = cost_of(self.objective)
        costs = [
            cost(replace(trial.found, cycles=trial.cycles, energy=trial.energy)) for trial in self._allowed
        ]
        near = [t for t, own in zip(self._allowed, costs, strict=True) if own <= 1.001 * min(costs)]
        return min(near, key=lambda trial: (trial.cycles, self.price(trial)))

    @property
    def front(self) -> list[Trial]:
        """The trials than which no other takes both fewer cycles and fewer LUTs, or less energy where that is
        the objective, the fastest first. Those that may not be the best are left out."""
        return pareto_front(self._allowed, lambda trial: (trial.cycles, self.price(trial)))

    @property
    def by_cycles(self) -> list[Trial]:
        """The trials, the fastest first; of equal ones the smallest."""
        return sorted(self.trials, key=lambda trial: (trial.cycles, trial.found.luts))

    def grid(self) -> list[list[str]]:
        """Headings, and a row for each trial of `by_cycles`."""
        rows = [
            ["cycles", "expected", "LUTs", "nJ", "regions", f"front of {self.bought}", "status", "schedule"]
        ]
        front = self.front
        labels = _differences([trial.found.schedule for trial in self.trials])
        for trial in self.by_cycles:
            found = trial.found
            marks = [
                "written" if trial is self.written else "",
                "best" if trial is self.best else "",
                labels[found.schedule],
            ]
            rows.append(
                [
                    f"{trial.cycles:,}",
                    f"{found.cycles:,.0f}",
                    f"{found.luts:,.0f}",
                    f"{trial.energy / 1e3:,.1f}",
                    str(found.regions),
                    "yes" if trial in front else "",
                    trial.status,
                    ", ".join(filter(None, marks)),
                ]
            )
        return rows

    def __repr__(self) -> str:
        best = f"best {self.best.cycles:,} cycles, {self.cost_in_words(self.best)}"
        tried = f"{len(self.trials)} of {counted(self.looked, 'design')} simulated"
        return f"<Tuned on {self.on} for {self.objective}: {best}; {tried}>"

    def __str__(self) -> str:
        return in_columns(self.grid())

    def _repr_html_(self) -> str:
        return html_section(f"{self.on}: cycles and LUTs", html_table(self.grid()))

    @property
    def by_energy(self) -> bool:
        """Energy is a part of the objective."""
        return self.objective in _OF_ENERGY

    @property
    def bought(self) -> str:
        """The two quantities of the front, in words."""
        return f"cycles and {'energy' if self.by_energy else 'LUTs'}"

    def price(self, trial: Trial) -> float:
        """What cycles are bought with: LUTs, or picojoules."""
        return trial.energy if self.by_energy else trial.found.luts

    @property
    def currency(self) -> str:
        """What a price counts, as an axis is called."""
        return "picojoules of an ASIC, by estimate" if self.by_energy else "LUTs of an ECP5, estimated"

    def cost_in_words(self, trial: Trial) -> str:
        """What a trial takes besides cycles, by estimate."""
        luts = f"{trial.found.luts:,.0f} LUTs"
        return f"{trial.energy / 1e3:,.1f} nJ and {luts}" if self.by_energy else luts

    @property
    def _allowed(self) -> list[Trial]:
        """Those of right results that fit their budget, as far as there are any."""
        right = [trial for trial in self.trials if trial.checked] or list(self.trials)
        return [trial for trial in right if trial.found.share <= 1] or right

    def dumps(self, command: str) -> str:
        """The best schedule as a file, which says in comments what it was found by."""
        best, written = self.best, self.written
        lines = [
            f"Found by: {command}",
            f"On {self.on}: {best.cycles:,} cycles with about {self.cost_in_words(best)} of an ECP5. As",
            f"it is written the program takes {written.cycles:,} cycles with {self.cost_in_words(written)}.",
            f"Cost: {self.objective}. {self.looked:,} designs were estimated by exact statistics of these",
            f"data, and {len(self.trials)} simulated.",
        ]
        if best.found.caveat:
            lines.append(f"LUTs: {best.found.caveat}.")
        return "".join(f"# {line}\n" for line in lines) + best.found.schedule.dumps()

    def to_json(self) -> dict[str, Any]:
        """What `samhw tune --json` writes."""
        front = self.front
        types = {name: kind.name for name, kind in asked_types(self.types).items()}
        return {
            "data": self.data,
            **({"types": types} if types else {}),
            "objective": self.objective,
            "looked": self.looked,
            "best": self.best.to_json(),
            "trials": [{**trial.to_json(), "front": trial in front} for trial in self.trials],
        }


def shortlist(found: Sequence[Explored], count: int) -> list[Explored]:
    """What is worth a simulation: the program as it is written, the best by estimate, and the front of cycles
    and LUTs, or energy.

    Args:
        found: the best first.
        count: of the best, and of the front, from its one end to the other.
    """
    front = pareto_front(found, lambda one: (one.cycles, one.energy or one.luts))
    if len(front) > count:
        front = [front[place * (len(front) - 1) // max(count - 1, 1)] for place in range(count)]
    return list({id(one): one for one in (written_one(found), *found[:count], *front)}.values())


def written_one(found: Sequence[Explored]) -> Explored:
    """The program as it is written; or where that is impossible, the first that is there."""
    return next((one for one in found if one.is_written), found[0])


def _differences(schedules: Sequence[Schedule]) -> dict[Schedule, str]:
    """Of each schedule its regions, and what else not all of them have."""
    flat = []
    for schedule in schedules:
        fields: dict[str, str] = {}
        for name, value in schedule.to_json().items():
            entries = value if isinstance(value, Mapping) else {}
            fields |= {f"{name} {entry}": _said(inner) for entry, inner in entries.items()}
            if not isinstance(value, Mapping):
                fields[name] = _said(value)
        flat.append(fields)
    names = dict.fromkeys(name for fields in flat for name in fields)
    differ = [n for n in names if n != "fuse" and len({fields.get(n) for fields in flat}) > 1]
    return {
        schedule: "; ".join([fields.get("fuse", ""), *(f"{n} {fields[n]}" for n in differ if n in fields)])
        for schedule, fields in zip(schedules, flat, strict=True)
    }


def _said(value: object) -> str:
    """A value of a schedule: regions as `T1+U1,T2`."""
    if not isinstance(value, list):
        return str(value)
    return ",".join("+".join(one) if isinstance(one, list) else str(one) for one in value)
