"""Runs a design: its regions, one after another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from samhw.errors import RunError
from samhw.graph import Arch, Design, Graph, MemoryRole, OffChip, validate_design
from samhw.sim.off_chip import MemorySystem
from samhw.sim.result import Result
from samhw.sim.simulate import InterruptedRun, simulate

__all__ = ["SimulatedRegion", "simulate_regions", "simulated_regions", "total_cycles"]


@dataclass(frozen=True)
class SimulatedRegion:
    """A region's run: its graph, the words of its input memories, and what it gave."""

    graph: Graph
    memories: dict[str, NDArray[Any]]
    result: Result


def simulated_regions(
    design: Design,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    *,
    memory: OffChip | None = None,
    **options: Any,
) -> Iterator[SimulatedRegion]:
    """Runs the sequence of a design, each region on what those before it have written.

    Arguments, options and errors are those of `simulate`; `memories` has the words of the design's INPUT
    memories, and off-chip memory goes on through all regions. Where there are several regions, the error of a
    run says which one it comes from.
    """
    validate_design(design)
    system = None if memory is None else MemorySystem(design, arch, memory)
    available = dict(memories)
    for region in design.runs:
        inputs = {m.name for m in region.memories if m.role is MemoryRole.INPUT}
        words = {name: array for name, array in available.items() if name in inputs}
        try:
            result = simulate(region, arch, words, extents, memory=system, **options)
        except RunError as error:
            if len(design.runs) > 1 and not isinstance(error, InterruptedRun):
                error.within(f"Region {region.name}")
            raise
        yield SimulatedRegion(region, words, result)
        available |= result.memories


def simulate_regions(
    design: Design,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    *,
    memory: OffChip | None = None,
    **options: Any,
) -> tuple[Result, ...]:
    """The result of each region of a design, as `simulated_regions` runs them."""
    runs = simulated_regions(design, arch, memories, extents, memory=memory, **options)
    return tuple(run.result for run in runs)


def total_cycles(cycles: Sequence[int]) -> int:
    """The cycles of a run from those of its regions (docs/timing.md, "Regions")."""
    return sum(cycles) + len(cycles) - 1
