"""Runs a graph of several regions, one after another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from samhw.graph import Arch, Graph, MemoryRole, OffChip
from samhw.sim.off_chip import MemorySystem
from samhw.sim.result import Result
from samhw.sim.simulate import simulate

__all__ = ["SimulatedRegion", "simulate_regions", "simulated_regions", "total_cycles"]


@dataclass(frozen=True)
class SimulatedRegion:
    """A region's run: its graph, the words of its input memories, and what it gave."""

    graph: Graph
    memories: dict[str, NDArray[Any]]
    result: Result


def simulated_regions(
    graph: Graph,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    *,
    memory: OffChip | None = None,
    **options: Any,
) -> Iterator[SimulatedRegion]:
    """Runs the regions of a graph, each on what those before it have written.

    Arguments, options and errors are those of `simulate`; `memories` has the words of the whole graph's INPUT
    memories, and off-chip memory goes on through all regions.
    """
    system = None if memory is None else MemorySystem(graph, arch, memory)
    available = dict(memories)
    for region in graph.regions:
        inputs = {m.name for m in region.memories if m.role is MemoryRole.INPUT}
        words = {name: array for name, array in available.items() if name in inputs}
        result = simulate(region, arch, words, extents, memory=system, **options)
        yield SimulatedRegion(region, words, result)
        available |= result.memories


def simulate_regions(
    graph: Graph,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    *,
    memory: OffChip | None = None,
    **options: Any,
) -> tuple[Result, ...]:
    """The result of each region of a graph, as `simulated_regions` runs them."""
    runs = simulated_regions(graph, arch, memories, extents, memory=memory, **options)
    return tuple(run.result for run in runs)


def total_cycles(cycles: Sequence[int]) -> int:
    """The cycles of a run from those of its regions (docs/timing.md, "Regions")."""
    return sum(cycles) + len(cycles) - 1
