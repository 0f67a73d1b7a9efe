"""One program under several schedules, simulated on the same data, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from samhw.errors import ScheduleError
from samhw.frontend import FusionLevel
from samhw.graph import Arch, MemoryRole, OffChip
from samhw.sim import operations, traffic
from samhw.targets.run import check, compile_workload, run
from samhw.targets.workload import Workload

__all__ = ["Choice", "Measure", "Outcome", "compare"]


@dataclass(frozen=True)
class Choice:
    """A schedule: the level of fusion, the iteration space, and an order where the program is one region."""

    fuse: FusionLevel
    factored: bool = True
    order: tuple[str, ...] | None = None

    def __str__(self) -> str:
        words = [self.fuse, "factored" if self.factored else "global"]
        return ", ".join([*words, *(["order " + ",".join(self.order)] if self.order else [])])


@dataclass(frozen=True)
class Measure:
    """What a run took: `operations` on values (for floating point the FLOPs), bytes between graph and
    memories. `checked`: the result is right. `bytes_moved`: what off-chip memory has moved, whole lines, or
    None if there is none."""

    regions: int
    cycles: int
    firings: int
    operations: int
    bytes_read: float
    bytes_written: float
    checked: bool
    bytes_moved: int | None = None


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
    value: str,
    arch: Arch | None = None,
    memory: OffChip | None = None,
) -> Iterator[Outcome]:
    """The outcome of each choice, as soon as it is known; with tensors off chip, if `memory` says so."""
    for choice in choices:
        chosen = replace(workload, program=workload.program.with_fusion(choice.fuse))
        try:
            yield Outcome(choice, _measure(chosen, choice, value, arch, memory))
        except ScheduleError as error:
            yield Outcome(choice, None, str(error))


def _measure(
    workload: Workload, choice: Choice, value: str, arch: Arch | None, memory: OffChip | None
) -> Measure:
    compiled = compile_workload(
        workload, value=value, factored=choice.factored, order=choice.order, arch=arch
    )
    result = run(compiled, workload.tensors, memory=memory)
    firings = work = off_chip = 0
    read = written = 0.0
    for graph, region in zip(compiled.graph.regions, result.regions, strict=True):
        statistics = region.statistics
        assert statistics is not None
        firings += sum(node.firings for node in statistics.nodes.values())
        work += sum(operations(graph, statistics).values())
        off_chip += statistics.memory.bytes if statistics.memory else 0
        for name, moved in traffic(graph, compiled.arch, statistics).items():
            if graph.memory[name].role is MemoryRole.INPUT:
                read += moved.bytes
            else:
                written += moved.bytes
    return Measure(
        len(result.regions),
        result.cycles,
        firings,
        work,
        read,
        written,
        check(workload, compiled, result.outputs).good,
        None if memory is None else off_chip,
    )
