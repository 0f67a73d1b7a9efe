"""Runs a design: its regions, as its sequence has them."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from samhw.errors import InputError, RunError
from samhw.graph import (
    Arch,
    Design,
    Graph,
    MemoryRole,
    OffChip,
    Parallel,
    Repeat,
    Run,
    Steps,
    memory_name,
    validate_design,
)
from samhw.graph.sequence import check_steps, total_of
from samhw.graph.spec import StoredArray
from samhw.sim.engine import UNLIMITED
from samhw.sim.off_chip import MemorySystem
from samhw.sim.result import Result, joined_results
from samhw.sim.simulate import WHOLE, InterruptedRunError, simulate
from samhw.sim.stores import zeros

__all__ = ["SimulatedRegion", "joined", "simulate_regions", "simulated_regions", "total_cycles"]


@dataclass(frozen=True)
class SimulatedRegion:
    """A run of a region: its graph, the words of its input memories, and what it gave."""

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
    """Runs the sequence of a design, each region on what the runs before it have written; gives one run after
    another, of a region that is repeated several.

    Arguments, options and errors are those of `simulate`. `memories` has the words of the design's INPUT
    memories, and off-chip memory goes on through all regions. `window` and `limit` are cycles of the whole
    run, while a region's result has cycles of its own, and `trace` has channels by `Design.label`. Where
    there are several regions, the error of a run says which one it comes from.
    """
    validate_design(design)
    if memory is not None and design.is_parallel:
        raise InputError(
            f"Regions of {design.name} run side by side, and a memory off the chip serves regions that run "
            "one after another; leave out the memory or the parallel steps."
        )
    channels = _traced_channels(design, trace)
    system = None if memory is None else MemorySystem(design, arch, memory)
    check_steps(design.sequence, extents)
    available = dict(memories)
    steps = {name: zeros(design.memory[name]) for name in _written_in_steps(design)}

    def simulated(number: int, at: Mapping[str, int], start: int) -> SimulatedRegion:
        region = design.regions[number]
        inputs = [m.name for m in region.memories if m.role is MemoryRole.INPUT]
        words = {name: (available if name in available else steps)[name] for name in inputs}
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
                steps=at,
                kept={name: array for name, array in steps.items() if name not in inputs},
                **options,
            )
        except RunError as error:
            if len(design.runs) > 1 and not isinstance(error, InterruptedRunError):
                error.within(f"Region {region.name}")
            raise
        # Of what is written step by step all that has been.
        whole = {
            name: steps[name][: max(len(new), len(available.get(name, ())))]
            for name, new in result.memories.items()
            if name in steps
        }
        result = replace(result, memories={**result.memories, **whole})
        available.update(result.memories)
        return SimulatedRegion(region, words, result)

    yield from _in_time(design.sequence, extents, simulated)
    if system is not None:
        system.write_log()


def _in_time(
    steps: Steps,
    extents: Mapping[str, int],
    simulated: Callable[[int, Mapping[str, int], int], SimulatedRegion],
    at: Mapping[str, int] | None = None,
    cycle: int = 0,
) -> Generator[SimulatedRegion, None, int]:
    """The runs of regions that steps make, which begin in a cycle; gives the one in which they end. Bodies
    side by side do not wait for each other, so each is run by itself.

    Args:
        simulated: runs a region, at these values of the indices of repeats, from a cycle on.
    """
    at = at or {}
    for place, step in enumerate(steps):
        begin = cycle + bool(place)
        match step:
            case Run(region):
                yield (run := simulated(region, at, begin))
                cycle = begin + run.result.cycles
            case Repeat(index, extent, body):
                for value in range(extents[extent]):
                    cycle = yield from _in_time(body, extents, simulated, {**at, index: value}, begin)
                    begin = cycle + 1
            case Parallel(bodies):
                ends = []
                for own in bodies:
                    ends.append((yield from _in_time(own, extents, simulated, at, begin)))
                cycle = max(ends)
    return cycle


def _written_in_steps(design: Design) -> frozenset[str]:
    """The memories of which a repeated region writes a step at a time."""
    tensors = [tensor for region in design.regions for tensor in region.tensors if tensor.is_step]
    return frozenset(
        memory_name(tensor.stored, StoredArray.VALS) for tensor in tensors if tensor.role is MemoryRole.OUTPUT
    )


def _traced_channels(design: Design, trace: bool | Collection[str]) -> list[bool | list[str]]:
    """The channels to trace of each region, by their own names."""
    if trace and design.is_parallel:
        raise InputError(
            f"Regions of {design.name} run side by side, and tokens are recorded of regions that run one "
            "after another; leave out the trace or the parallel steps."
        )
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
    """A cycle of the run in those of a region, or 0 if the region starts after it."""
    return cycle if cycle == UNLIMITED else max(cycle - start, 0)


def simulate_regions(
    design: Design,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    **options: Any,
) -> tuple[Result, ...]:
    """The result of each region of a design, in the order of its turns: that of its runs together, as
    `simulated_regions` makes them, with its options."""
    return tuple(run.result for run in joined(simulated_regions(design, arch, memories, extents, **options)))


def joined(runs: Iterable[SimulatedRegion]) -> list[SimulatedRegion]:
    """The runs of each region as one, in the order in which regions first run. Its words are those of the
    first one; its cycles are those of all runs, with one for each change from one to the next."""
    found: dict[str, list[SimulatedRegion]] = {}
    for run in runs:
        found.setdefault(run.graph.name, []).append(run)
    return [replace(own[0], result=joined_results([run.result for run in own])) for own in found.values()]


def total_cycles(design: Design, cycles: Sequence[int]) -> int:
    """The cycles of a run from those of its regions, in the order of turns (docs/timing.md, "Regions")."""
    return total_of(design.sequence, dict(zip(design.turns, cycles, strict=True)))
