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
from samhw.graph.sequence import check_steps, in_turn
from samhw.graph.spec import StoredArray
from samhw.sim.engine import UNLIMITED
from samhw.sim.off_chip import MemorySystem
from samhw.sim.result import Result, joined_results
from samhw.sim.simulate import WHOLE, GraphRun, InterruptedRunError, simulate_beside
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
    system = None if memory is None else MemorySystem(design, arch, memory)
    if system is not None:
        system.layout.check_bodies(design)
    design.check_extents(extents)
    check_steps(design.sequence, extents)
    run = _DesignRun(design, arch, memories, extents, system, trace, window, limit, options)
    fabric = {number: place for place, group in enumerate(design.groups) for number in group}
    yield from _in_time(
        design.sequence, extents, run.side_by_side, None if system is None else fabric.__getitem__
    )
    if system is not None:
        system.write_log()


class _DesignRun:
    """A run of a design: its regions run on what those before them have written. Arguments as of
    `simulated_regions`."""

    def __init__(
        self,
        design: Design,
        arch: Arch,
        memories: Mapping[str, NDArray[Any]],
        extents: Mapping[str, int],
        system: MemorySystem | None,
        trace: bool | Collection[str],
        window: tuple[int, int],
        limit: int,
        options: Mapping[str, Any],
    ) -> None:
        self._design = design
        self._arch = arch
        self._extents = extents
        self._system = system
        self._channels = _traced_channels(design, trace)
        self._window = window
        self._limit = limit
        self._options = options
        self._available = dict(memories)
        self._steps = {name: zeros(design.memory[name]) for name in _written_in_steps(design)}

    def side_by_side(
        self, numbers: Sequence[int], at: Mapping[str, int], start: int
    ) -> list[SimulatedRegion]:
        """Runs regions from a cycle on, at these values of the indices of repeats."""
        begin, end = (_left(cycle, start) for cycle in self._window)
        runs = [self._graph_run(number, at, end > 0) for number in numbers]
        try:
            results = simulate_beside(
                runs,
                self._arch,
                self._extents,
                memory=self._system,
                window=(begin, end),
                limit=_left(self._limit, start),
                **self._options,
            )
        except RunError as error:
            if len(self._design.runs) > 1 and len(runs) == 1 and not isinstance(error, InterruptedRunError):
                error.within(f"Region {runs[0].graph.name}")
            raise
        return [
            self._finished(number, own, result, start)
            for number, own, result in zip(numbers, runs, results, strict=True)
        ]

    def _graph_run(self, number: int, at: Mapping[str, int], traced: bool) -> GraphRun:
        region = self._design.regions[number]
        inputs = [m.name for m in region.memories if m.role is MemoryRole.INPUT]
        words = {name: (self._available if name in self._available else self._steps)[name] for name in inputs}
        kept = {name: array for name, array in self._steps.items() if name not in inputs}
        # Where all of the window has passed, nobody needs to see tokens.
        return GraphRun(region, words, self._channels[number] if traced else [], at, kept)

    def _finished(self, number: int, run: GraphRun, result: Result, start: int) -> SimulatedRegion:
        # Of what is written step by step all that has been.
        whole = {
            name: self._steps[name][: max(len(new), len(self._available.get(name, ())))]
            for name, new in result.memories.items()
            if name in self._steps
        }
        # After the window a run has recorded nothing, of the same channels as before.
        passages = {name: result.passages.get(name, []) for name in self._channels[number]}
        memories = {**result.memories, **whole}
        result = replace(result, memories=memories, passages=passages, start=start)
        self._available.update(result.memories)
        return SimulatedRegion(run.graph, dict(run.memories), result)


def _in_time(
    steps: Steps,
    extents: Mapping[str, int],
    simulated: Callable[[Sequence[int], Mapping[str, int], int], list[SimulatedRegion]],
    meeting: Callable[[int], int] | None,
    at: Mapping[str, int] | None = None,
    cycle: int = 0,
) -> Generator[SimulatedRegion, None, int]:
    """The runs of regions that steps make, which begin in a cycle; gives the one in which they end.

    Args:
        simulated: runs regions side by side, at these values of the indices of repeats, from a cycle on.
        meeting: bodies side by side meet at a memory: each is a region, and this gives the number of its
            fabric. Without a memory they do not wait for each other, and each is run by itself.
    """
    at = at or {}
    for place, step in enumerate(steps):
        begin = cycle + bool(place)
        match step:
            case Run(region):
                (run,) = simulated([region], at, begin)
                yield run
                cycle = begin + run.result.cycles
            case Repeat(index, extent, body):
                for value in range(extents[extent]):
                    inside = {**at, index: value}
                    cycle = yield from _in_time(body, extents, simulated, meeting, inside, begin)
                    begin = cycle + 1
            case Parallel(bodies) if meeting is None:
                ends = []
                for own in bodies:
                    ends.append((yield from _in_time(own, extents, simulated, meeting, at, begin)))
                cycle = max(ends)
            case Parallel():
                turns = list(in_turn((step,)))
                regions = sorted(turns, key=meeting)
                found = dict(zip(regions, simulated(regions, at, begin), strict=True))
                yield from (found[region] for region in turns)
                cycle = begin + max(run.result.cycles for run in found.values())
    return cycle


def _written_in_steps(design: Design) -> frozenset[str]:
    """The memories of which a repeated region writes a step at a time."""
    tensors = [tensor for region in design.regions for tensor in region.tensors if tensor.is_step]
    return frozenset(
        memory_name(tensor.stored, StoredArray.VALS) for tensor in tensors if tensor.role is MemoryRole.OUTPUT
    )


def _traced_channels(design: Design, trace: bool | Collection[str]) -> list[list[str]]:
    """The channels to trace of each region, by their own names."""
    if isinstance(trace, bool):
        return [[channel.name for channel in graph.channels if trace] for graph in design.regions]
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


def total_cycles(results: Iterable[Result]) -> int:
    """The cycles of a run from the results of its regions: of the last cycle that one of them takes."""
    return max(run.start + run.cycles for result in results for run in result.parts or (result,))
