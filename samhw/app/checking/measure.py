"""A workload compiled and simulated in one way: what that takes, and what the check has found; and one
program under several schedules, on the same data, side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from samhw.app.checking.check_run import check
from samhw.app.checking.energy import energy_of
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, area_of
from samhw.compiler.placement import arrays_off_chip
from samhw.errors import ScheduleError
from samhw.graph import Arch, Design, MemoryRole, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.sim import Result, account, bottleneck, operations, traffic
from samhw.targets.backends import MODEL, check_places, run

__all__ = ["Known", "Measure", "Outcome", "compare", "measure", "measure_compiled", "pareto_front"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Measure:
    """What a run took. Counts are over all regions."""

    regions: int
    cycles: int
    firings: int
    """Of all nodes, each counted by its busiest actor."""
    operations: int
    """On values; for floating point the FLOPs."""
    bytes_read: float
    """From memories into the graph."""
    bytes_written: float
    """From the graph into memories."""
    bytes_moved: int | None
    """By off-chip memory, in whole lines; None if there is none."""
    seconds: float
    """Wall time of the simulator."""
    status: str
    """The check's `Verdict`."""
    checked: bool
    """The check has passed, and proves something."""
    max_abs_error: float
    """Greatest difference from NumPy's result."""
    unproved: int
    """Elements for which that proves nothing, as for `Check`."""
    starved: int
    """Cycles that nodes waited for a token, added up over all nodes."""
    blocked: int
    """Cycles that nodes waited for a slot, added up over all nodes."""
    spaced: int
    """Cycles that nodes waited for an update of the same place, added up over all nodes."""
    fetching: int
    """Cycles that nodes waited for off-chip memory, added up over all nodes."""
    energy_pj: float
    """An estimate of the energy of an ASIC, in picojoules (`samhw.app.checking.energy`)."""
    luts: int
    """That the design is expected to take of an ECP5."""
    bottleneck: str
    """What limits the longest region, in words."""


def measure(
    workload: Workload,
    schedule: Schedule | None = None,
    *,
    value: ValueType | None = None,
    arch: Arch | None = None,
    depth: int | None = None,
    memory: OffChipMemory | None = None,
    **options: Any,
) -> Measure:
    """Compiles a workload, simulates it and compares the result with NumPy's.

    Args:
        schedule, value, arch: as for `compile_workload`.
        depth: of every channel between nodes, in tokens, instead of the compiler's.
        memory: what holds the tensors that lie off chip, if there is such a memory.
        options: of the simulator, as for `simulate`.

    Raises:
        InputError: for a workload that cannot be compiled or run; a `ScheduleError` if another
            schedule could.
        RunError: for a run that ends with an error, such as a deadlock or an overflow.
    """
    compiled = compile_workload(workload, schedule, value=value, arch=arch, memory=memory)
    if depth is not None:
        compiled = _with_depth(compiled, depth)
    return measure_compiled(workload, compiled, memory=memory, **options)


def measure_compiled(
    workload: Workload, compiled: Compiled, *, memory: OffChipMemory | None = None, **options: Any
) -> Measure:
    """As `measure`, of what has been compiled already."""
    check_places(compiled, MODEL, memory)
    result = run(compiled, workload.tensors, memory=memory, **options)
    found = check(workload, compiled, result.outputs)
    firings = work = moved = 0
    read = written = 0.0
    waits = dict.fromkeys(("starved", "blocked", "spaced", "fetching"), 0)
    longest: tuple[int, str] = (-1, "")
    for graph, region in zip(compiled.design.runs, result.regions, strict=True):
        statistics = region.statistics
        assert statistics is not None
        firings += sum(node.firings for node in statistics.nodes.values())
        work += sum(operations(graph, statistics).values())
        moved += statistics.memory.bytes if statistics.memory else 0
        for name, words in traffic(graph, compiled.arch, statistics).items():
            if graph.memory[name].role is MemoryRole.INPUT:
                read += words.bytes
            else:
                written += words.bytes
        for cause, cycles in _waits(statistics).items():
            waits[cause] += cycles
        if region.cycles > longest[0]:
            said = bottleneck(graph, statistics)
            several = len(result.regions) > 1
            longest = region.cycles, f"Region {graph.name}: {said.of_region}" if several else str(said)
    return Measure(
        regions=len(result.regions),
        cycles=result.cycles,
        firings=firings,
        operations=work,
        bytes_read=read,
        bytes_written=written,
        bytes_moved=None if memory is None else moved,
        seconds=result.seconds,
        status=str(found.verdict),
        checked=found.verdict.is_proof,
        max_abs_error=found.max_abs_error,
        unproved=found.unproved,
        **waits,
        energy_pj=round(energy_of(compiled, result).pj, 3),
        luts=round(area_of(compiled, "ecp5").use.luts),
        bottleneck=longest[1],
    )


def _with_depth(compiled: Compiled, depth: int) -> Compiled:
    regions = tuple(
        replace(region, graph=region.graph.with_depths({c.name: depth for c in region.graph.channels}))
        for region in compiled.regions
    )
    return replace(compiled, regions=regions)


def _waits(result: Result) -> dict[str, int]:
    accounts = [account(node, result.cycles).causes for node in result.nodes.values()]
    names = {"starved": "starved", "blocked": "blocked", "spaced": "spaced", "fetching": "memory"}
    return {name: sum(own[cause] for own in accounts) for name, cause in names.items()}


Layouts = tuple[Mapping[str, str], Mapping[str, str]]

Known = tuple[tuple[Design, Mapping[str, int], Layouts], Measure]
"""A design with the arrays that it has off chip if there is a memory, and how data are split and ordered for
it; and what it takes."""


REFUSED = "refused"
"""The status of what makes no sense, such as a schedule that streams cannot follow."""


@dataclass(frozen=True)
class Outcome:
    """What became of a schedule: a measure, or the reason why it is impossible."""

    schedule: Schedule
    measure: Measure | None
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """One entry of what `samhw compare --json` prints."""
        schedule = self.schedule.to_json()
        return {
            "fuse": schedule["fuse"],
            "iteration": schedule["iteration"],
            "order": schedule.get("order", []),
            "schedule": schedule,
            **(asdict(self.measure) if self.measure else {"status": REFUSED, "error": self.error}),
        }


def compare(
    workload: Workload,
    schedules: Sequence[Schedule],
    *,
    value: ValueType | None = None,
    arch: Arch | None = None,
    memory: OffChipMemory | None = None,
    known: list["Known"] | None = None,
    **options: Any,
) -> Iterator[Outcome]:
    """The outcome of each schedule, as soon as it is known.

    Schedules that are compiled to one design, on data in one form, have one measure, the same object, since
    it is run once.

    Args:
        memory: as for `measure`.
        known: the designs that have been measured, with the same options, to which this adds others.
        options: of `measure_compiled`.
    """
    known = [] if known is None else known
    for schedule in schedules:
        try:
            compiled = compile_workload(workload, schedule, value=value, arch=arch, memory=memory)
            arrays = {} if memory is None else arrays_off_chip(compiled, memory)
            design = compiled.design, arrays, (schedule.split, schedule.permute_rows)
            found = next((measure for other, measure in known if other == design), None)
            if found is None:
                found = measure_compiled(workload, compiled, memory=memory, **options)
                known.append((design, found))
        except ScheduleError as error:
            yield Outcome(schedule, None, str(error))
        else:
            yield Outcome(schedule, found)


def pareto_front(found: Iterable[_T], point: Callable[[_T], tuple[float, float]]) -> list[_T]:
    """Those that no other one beats: none has less of one coordinate and no more of the other. By the first
    coordinate, which rises, while the second falls; of equal ones the first.

    Args:
        point: both coordinates of one of them, of which less is better.
    """
    best: list[_T] = []
    for one in sorted(found, key=point):
        if not best or point(one)[1] < point(best[-1])[1]:
            best.append(one)
    return best
