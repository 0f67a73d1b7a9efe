"""Runs a design: its regions, one after another."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from samhw.errors import InputError, RunError
from samhw.graph import Arch, Design, Graph, MemoryRole, OffChip, validate_design
from samhw.sim.engine import UNLIMITED
from samhw.sim.off_chip import MemorySystem
from samhw.sim.result import Result
from samhw.sim.simulate import WHOLE, InterruptedRunError, simulate

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
    trace: bool | Collection[str] = False,
    window: tuple[int, int] = WHOLE,
    limit: int = UNLIMITED,
    **options: Any,
) -> Iterator[SimulatedRegion]:
    """Runs the sequence of a design, each region on what those before it have written.

    Arguments, options and errors are those of `simulate`. `memories` has the words of the design's INPUT
    memories, and off-chip memory goes on through all regions. `window` and `limit` are cycles of the whole
    run, while a region's result has cycles of its own, and `trace` has channels by `Design.label`. Where
    there are several regions, the error of a run says which one it comes from.
    """
    validate_design(design)
    channels = _traced_channels(design, trace)
    system = None if memory is None else MemorySystem(design, arch, memory)
    available = dict(memories)
    start = 0
    for number in design.turns:
        region = design.regions[number]
        inputs = {m.name for m in region.memories if m.role is MemoryRole.INPUT}
        words = {name: array for name, array in available.items() if name in inputs}
        begin, end = _left(window[0], start), _left(window[1], start)
        try:
            result = simulate(
                region,
                arch,
                words,
                extents,
                memory=system,
                # Where all of the window has passed, nobody needs to see tokens.
                trace=channels[number] if end else False,
                window=(begin, end),
                limit=_left(limit, start),
                **options,
            )
        except RunError as error:
            if len(design.runs) > 1 and not isinstance(error, InterruptedRunError):
                error.within(f"Region {region.name}")
            raise
        yield SimulatedRegion(region, words, result)
        available |= result.memories
        start += result.cycles + 1


def _traced_channels(design: Design, trace: bool | Collection[str]) -> list[bool | list[str]]:
    """The channels to trace of each region, by their own names."""
    if isinstance(trace, bool):
        return [trace] * len(design.regions)
    labels = {
        design.label(region, channel.name): (region, channel.name) for region, channel in design.channels
    }
    if unknown := sorted(set(trace) - labels.keys()):
        form = "region.node.out->node.in" if len(design.regions) > 1 else "node.out->node.in"
        raise InputError(f"There is no channel {unknown[0]!r} to trace; the form is '{form}'.")
    wanted = [labels[label] for label in labels if label in trace]
    return [[name for of, name in wanted if of == region] for region in range(len(design.regions))]


def _left(cycle: int, start: int) -> int:
    """A cycle of the run in those of a region, or 0 if the region starts behind it."""
    return cycle if cycle == UNLIMITED else max(cycle - start, 0)


def simulate_regions(
    design: Design,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    **options: Any,
) -> tuple[Result, ...]:
    """The result of each region of a design, as `simulated_regions` runs them, with its options."""
    return tuple(run.result for run in simulated_regions(design, arch, memories, extents, **options))


def total_cycles(cycles: Sequence[int]) -> int:
    """The cycles of a run from those of its regions (docs/timing.md, "Regions")."""
    return sum(cycles) + len(cycles) - 1
