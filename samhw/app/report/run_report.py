"""What a run of a program tells, as one value, with how it came about; the command line prints it, in words
and as JSON, and pages show it."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from samhw.app.checking import Check, weakest
from samhw.app.checking.advice import Advised
from samhw.app.checking.energy import Energy
from samhw.app.checking.model_and_rtl import agree
from samhw.app.report.alike import alike_regions
from samhw.app.report.region_report import RegionReport, region_report
from samhw.app.report.run_statistics import Limit, limit, limits, told
from samhw.app.report.time import say_clock, say_time, seconds, time_report
from samhw.app.workload import SYNTHETIC, Workload
from samhw.choices.choice import AUTO
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.placement import off_chip_words, used_places
from samhw.cost import GREATEST_CLOCK
from samhw.graph import Design, Dram
from samhw.graph.sequence import starts_of
from samhw.targets.backends import Backend, RunResult
from samhw.version import __version__

if TYPE_CHECKING:
    from samhw.app.checking.cpu import AsFast, CpuRun

__all__ = ["BesideCpu", "InputReport", "Origin", "RunReport", "origin", "run_report"]


@dataclass(frozen=True)
class MemoryReport:
    """What a memory did over all regions of a run. Requests are for lines; rates are of all cycles."""

    name: str
    reads: int
    writes: int
    ahead: int
    """Lines that were read ahead,"""
    vain: int
    """and of these, those that nobody read."""
    row_hits: int
    """Bursts of a DRAM; 0 of another memory."""
    row_misses: int
    row_conflicts: int
    refresh_clocks: int
    """Clocks of the memory that requests waited for refreshes, summed over the requests."""
    bytes: int
    """Moved, in whole lines."""
    bytes_per_cycle: float
    peak_bytes_per_cycle: float
    gigabytes_per_second: float | None
    """Of a DRAM, which has a clock."""
    peak_gigabytes_per_second: float | None

    def to_json(self) -> dict[str, Any]:
        """What `samhw run --json` says under `memory`."""
        return asdict(self)

    def __str__(self) -> str:
        vain = f", {self.vain:,} in vain" if self.vain else ""
        text = (
            f"{self.name}: {self.reads:,} lines read{vain} and {self.writes:,} written, "
            f"{self.bytes_per_cycle:.1f} of {self.peak_bytes_per_cycle:.1f} bytes a cycle"
        )
        if self.gigabytes_per_second is None:
            return text
        bursts = self.row_hits + self.row_misses + self.row_conflicts
        rates = f"{self.gigabytes_per_second:.2f} of {self.peak_gigabytes_per_second:.1f} GB/s"
        return f"{text}, {rates}, {self.row_hits / max(bursts, 1):.0%} in open rows"


def memory_report(result: RunResult) -> MemoryReport | None:
    """What the memory did in a run of the simulator; None if all tensors were on chip."""
    regions = [r.statistics.memory for r in result.regions if r.statistics and r.statistics.memory]
    if not regions:
        return None
    channels = [channel for region in regions for channel in region.channels]
    masters = [master for region in regions for master in region.masters]
    ports = [port for region in regions for port in region.ports.values()]
    memory, peak = regions[0].memory, regions[0].peak
    moved = sum(region.bytes for region in regions) / max(result.cycles, 1)
    per_ns = 1e3 / memory.cycle_ps if isinstance(memory, Dram) else None
    return MemoryReport(
        name=memory.name,
        reads=sum(m.reads for m in masters),
        writes=sum(m.writes for m in masters),
        ahead=sum(p.ahead for p in ports),
        vain=sum(p.vain for p in ports),
        row_hits=sum(c.hits for c in channels),
        row_misses=sum(c.misses for c in channels),
        row_conflicts=sum(c.conflicts for c in channels),
        refresh_clocks=sum(c.refreshing for c in channels),
        bytes=sum(region.bytes for region in regions),
        bytes_per_cycle=moved,
        peak_bytes_per_cycle=peak,
        gigabytes_per_second=per_ns and moved * per_ns,
        peak_gigabytes_per_second=per_ns and peak * per_ns,
    )


@dataclass(frozen=True)
class Origin:
    """The command, the versions and the date of what is reported."""

    command: str
    """What was typed; empty for a call from Python."""
    versions: Mapping[str, str]
    """Of what the figures follow from, by name."""
    date: str
    """When it was made: day and time of UTC, as ISO 8601 has them."""

    def to_json(self) -> dict[str, Any]:
        """Its fields as they stand in a report."""
        return {"command": self.command, "versions": dict(self.versions), "date": self.date}


def origin(command: str = "") -> Origin:
    """That of what is reported now; `command` is what was typed."""
    versions = {
        "samhw": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    return Origin(command, versions, datetime.now(UTC).isoformat(timespec="seconds"))


@dataclass(frozen=True)
class BesideCpu:
    """A run beside the same program on a processor."""

    cpu: "CpuRun"
    cycles: int
    period: float
    """Of the hardware's clock, in ns."""
    clock: str
    """Where that clock comes from, in words."""
    wide: "AsFast | None"
    """The lanes that would be as fast; None where none are needed, or known."""

    @property
    def ratio(self) -> float:
        """How many times as fast the hardware is; below 1 it is slower."""
        return self.cpu.seconds / max(seconds(self.cycles, self.period), 1e-12)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        wide = asdict(self.wide) if self.wide else None
        own = {"ways": dict(self.cpu.ways), "machine": self.cpu.machine, "clock_hz": 1e9 / self.period}
        hardware = {"cycles": self.cycles, "times_as_fast": self.ratio, "as_fast": wide}
        return {"seconds": self.cpu.seconds, **hardware, **own}

    def lines(self) -> list[str]:
        """What it says, in sentences."""
        hardware = (
            f"the hardware {say_time(self.cycles, self.period)} at {say_clock(self.period)}, {self.clock}"
        )
        if self.ratio >= 1:
            return [str(self.cpu), f"{hardware}: {self.ratio:,.2f} times as fast"]
        lanes = str(self.wide) if self.wide else "no lanes that samhw considers, 64 at the most, are as fast"
        return [str(self.cpu), f"{hardware}: {1 / self.ratio:,.2f} times as long", lanes]


@dataclass(frozen=True)
class InputReport:
    """A tensor that a run was given."""

    name: str
    shape: tuple[int, ...]
    stored: int
    """Its elements that are stored."""


@dataclass(frozen=True)
class RunReport:
    """What a run of a program tells.

    The simulator runs every program; where a backend runs it too, `cycles` and the times are the backend's.
    Times are in seconds.
    """

    compiled: Compiled
    """What ran."""
    program: str
    data: str
    inputs: tuple[InputReport, ...]
    backend: str
    label: str
    """The backend's name in words."""
    took: str
    """What the backend took, in a line; empty for the simulator alone."""
    value: str
    """The value type."""
    types: Mapping[str, str]
    """The types of tensors that have others, by name."""
    fuse: object
    """The fusion that was asked for, for JSON."""
    schedule: Schedule
    """What was used, with everything that the search has chosen, and what lay off chip."""
    why: tuple[str, ...]
    """What was chosen of a schedule that was left open, and why."""
    regions: tuple[RegionReport, ...]
    cycles: int
    model_cycles: int
    seconds: float
    model_seconds: float
    build_seconds: float
    period: float | None
    """Of the clock, in ns; None without one."""
    check: Check | None
    """Of all runs, the worst; None if nothing was compared with NumPy."""
    agreed: bool
    """Simulator and backend took the same cycles in every region, and where nothing was compared with NumPy,
    stored the same words."""
    memory: MemoryReport | None
    """Off-chip memory, if there is one."""
    origin: Origin
    """The command, and when it ran."""
    advised: Advised | None = None
    """What was tried that may take fewer cycles; None if nothing was asked for."""
    energy: Energy | None = None
    """An estimate of its energy; None if nothing was asked for."""
    beside: BesideCpu | None = None
    """The same program by a processor; None if nothing was asked for."""

    @property
    def statements(self) -> list[str]:
        """As they were compiled, in words; those of equal layers once, with how many they are."""
        program, times = self.compiled.program, dict[str, int]()
        for group in told(self.regions):
            first, *others = (region.compiled.region.written for region in group.members)
            times |= dict.fromkeys(first, len(group.members))
            times |= dict.fromkeys(chain.from_iterable(others), 0)
        counts = ((statement, times.get(statement.lhs.tensor, 1)) for statement in program.statements)
        return [
            f"{statement}    {count} alike" if count > 1 else str(statement)
            for statement, count in counts
            if count
        ]

    @property
    def is_synthetic(self) -> bool:
        """The data are random, in the sizes of a set that is not there."""
        return SYNTHETIC in self.data

    @property
    def off_chip(self) -> str:
        """Which arrays lay off the chip, in words, and how many did not; a tensor of which all did by its own
        name. Empty without such a memory."""
        return off_chip_words(self.compiled.design, self.schedule) if self.memory else ""

    @property
    def operations(self) -> int:
        """On values, in all regions; on floating-point values, the FLOPs of the run."""
        return sum(region.operations for region in self.regions)

    @property
    def bytes(self) -> float:
        """Between memories and graphs, in all regions."""
        return sum(region.bytes for region in self.regions)

    @property
    def longest(self) -> RegionReport:
        """The region that takes the most cycles."""
        return max(self.regions, key=lambda region: region.model_cycles)

    @property
    def limit(self) -> str:
        """What keeps the run from being shorter, in a sentence: the bottleneck of its longest region."""
        return limit(self.regions, self.model_cycles)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What takes longest, the longest first."""
        return limits(self.regions, self.model_cycles)

    @property
    def beyond_measured_clocks(self) -> bool:
        """The clock is one that no design was measured to reach."""
        return self.period is not None and 1e3 / self.period > GREATEST_CLOCK * (1 + 1e-9)

    @property
    def good(self) -> bool:
        """Nothing that was looked at is wrong."""
        return self.agreed and (self.check is None or self.check.good)

    @property
    def checked(self) -> bool:
        """Nothing is wrong, and a check was made that proves something."""
        return self.agreed and self.check is not None and self.check.verdict.is_proof

    def to_json(self, *, details: bool = False) -> dict[str, Any]:
        """What `samhw run --json` prints; with `details`, as with --stats, more of each region."""
        found = self.check
        return {
            "program": self.program,
            "data": self.data,
            "backend": self.backend,
            "value": self.value,
            **({"types": dict(self.types)} if self.types else {}),
            "fuse": self.fuse,
            "schedule": self.schedule.to_json(),
            **({"why": list(self.why)} if self.why else {}),
            "regions": [region.to_json(details=details) for region in self.regions],
            "cycles": self.cycles,
            "model_cycles": self.model_cycles,
            "operations": self.operations,
            "bytes": self.bytes,
            "limit": self.limit,
            "limits": [one.to_json() for one in self.limits],
            **({"advice": self.advised.to_json()} if self.advised else {}),
            **({"energy": self.energy.to_json()} if self.energy else {}),
            **({"cpu": self.beside.to_json()} if self.beside else {}),
            **time_report(self.cycles, self.period),
            **({"beyond_measured_clocks": True} if self.beyond_measured_clocks else {}),
            "status": None if found is None else str(found.verdict),
            "checked": self.checked,
            "max_abs_error": None if found is None else found.max_abs_error,
            "unproved": None if found is None else found.unproved,
            **({"bound": found.bound, "plain_bound": found.plain_bound} if found and found.is_wider else {}),
            **({"sampled": found.sampled} if found and found.sampled else {}),
            "seconds": round(self.seconds, 4),
            "build_seconds": round(self.build_seconds, 2),
            **({"memory": self.memory.to_json()} if self.memory else {}),
            **self.origin.to_json(),
        }


def run_report(
    workload: Workload,
    compiled: Compiled,
    backend: Backend,
    runs: Sequence[RunResult],
    checks: Sequence[Check],
    *,
    asked: Schedule,
    period: float | None = None,
    command: str = "",
) -> RunReport:
    """What a run tells.

    Args:
        backend: that was asked for.
        runs: the simulator's, and after it that of the backend, if it is another one.
        checks: of each of the runs; none if they are not to be compared with NumPy.
        asked: the schedule that the user has given.
        period: of the clock, in ns, if the backend has none of its own.
        command: what was typed.
    """
    model, chosen = runs[0], runs[-1]
    alone = len(compiled.regions) == 1
    memory = memory_report(model)
    return RunReport(
        compiled=compiled,
        program=compiled.program.name,
        data=workload.name,
        inputs=tuple(InputReport(name, t.shape, t.nnz) for name, t in workload.tensors.items()),
        backend=backend.name,
        label=backend.label,
        took=backend.summary(chosen) if len(runs) > 1 else "",
        value=compiled.value.name,
        types={name: kind.name for name, kind in compiled.types.items()},
        fuse=asked.to_json()["fuse"],
        schedule=_used(compiled, model),
        why=compiled.why,
        regions=tuple(
            region_report(region, compiled.arch, ours, theirs.cycles, start, alone=alone, alike=alike)
            for region, ours, theirs, start, alike in zip(
                *(compiled.regions, model.regions, chosen.regions),
                *(_starts(compiled.design, model), alike_regions(compiled)),
                strict=True,
            )
        ),
        cycles=chosen.cycles,
        model_cycles=model.cycles,
        seconds=chosen.seconds,
        model_seconds=model.seconds,
        build_seconds=chosen.build_seconds,
        period=1e9 / chosen.clock if chosen.clock else period,
        check=_worst(checks) if checks else None,
        agreed=all(
            ours.cycles == theirs.cycles and (bool(checks) or agree(ours, theirs))
            for ours, theirs in zip(model.regions, chosen.regions, strict=True)
        ),
        memory=memory,
        origin=origin(command),
    )


def _used(compiled: Compiled, model: RunResult) -> Schedule:
    """The schedule that was used, with the place of all that is stored if there was a memory."""
    for region in model.regions:
        if region.statistics and region.statistics.memory:
            places = used_places(compiled, region.statistics.memory.memory)
            return replace(compiled.schedule, place=places, on_chip=AUTO)
    return compiled.schedule


def _starts(design: Design, model: RunResult) -> list[int]:
    """The cycle of the run in which each region starts (docs/timing.md, "Regions")."""
    cycles = {turn: region.cycles for turn, region in zip(design.turns, model.regions, strict=True)}
    starts = starts_of(design.sequence, cycles)
    return [starts[turn] for turn in design.turns]


def _worst(checks: Sequence[Check]) -> Check:
    """Several checks of the same results as one."""
    return Check(
        max(c.max_abs_error for c in checks),
        max(c.bound for c in checks),
        max(c.unproved for c in checks),
        {name: weakest(c.tensors[name] for c in checks) for name in checks[0].tensors},
        checks[0].sampled,
        plain_bound=checks[0].plain_bound,
        region_error=max(c.region_error for c in checks),
    )
