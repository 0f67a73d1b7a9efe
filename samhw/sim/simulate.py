"""Runs a graph: from memories and extents to memories, cycles, statistics and traces."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError, InterruptedWorkError, RunError
from samhw.graph import Arch, Design, Endpoint, GrammarChecker, Graph, Kind, Node, OffChip, Token
from samhw.graph.validate import validate
from samhw.interpreter import no_collection
from samhw.sim.engine import UNLIMITED, Between
from samhw.sim.engines import Engine, Interrupt, execute
from samhw.sim.machine import Machine, build_graph
from samhw.sim.memory_stats import memory_stats
from samhw.sim.off_chip import MemorySystem
from samhw.sim.ports import Arbiter
from samhw.sim.result import Passage, Result, channel_stats, node_stats, raise_failure
from samhw.sim.stores import make_stores
from samhw.sim.worker import Stalls, Tap, Worker

__all__ = ["Completion", "GraphRun", "InterruptedRunError", "Progress", "simulate", "simulate_beside"]


# How much of a run is done, by what it has read and written.
#
# What a run has still to do nobody knows before it ends. But of some nodes it is known how often they fire in
# all:
#
# * A scanner whose references come straight from the root, or from another such scanner, visits every fiber
#   of its level exactly once; or its copies do so together, if lanes are between. Of each chain of such
#   scanners the innermost one counts time best: the nonzeros of a matrix, say, and not its rows.
# * The writer of the values of a dense tensor writes every element once. It tells how far a run is where
#   scanners are far ahead of it, such as before a softmax; but not where one sum goes over everything, and
#   nothing is written before the end.
#
# The one that is furthest behind is taken. That is a share of the data and not of the cycles: where there is
# more work at the end than at the beginning, a run takes longer than it seems, and where one sum goes over
# everything, the share is 1 while the sum is written.


class Completion:
    """The share of a run that is done, from 0 to 1."""

    def __init__(
        self,
        graph: Graph,
        machine: Machine,
        memories: Mapping[str, NDArray[Any]],
        extents: Mapping[str, int],
    ):
        """Arguments are those of the run; `machine` is what runs."""
        totals = _visited(graph, memories, extents) | _written(graph, extents)
        # Of a node's actors, the last one gives what it is for.
        last = {worker.node: worker for worker in machine.workers}
        copies: dict[str, list[Worker]] = defaultdict(list)
        for node in graph.nodes:
            copies[_original(node)].append(last[node.name])
        self._totals = [(copies[name], total) for name, total in totals.items()]

    def share(self) -> float | None:
        """About how much is done, or None for a graph that has no such node."""
        shares = (sum(worker.firings for worker in copies) / total for copies, total in self._totals)
        return min((min(1.0, share) for share in shares), default=None)


def _original(node: Node) -> str:
    """The node that a node is a copy of, or itself: copies in lanes share the work, and may go on one after
    the other, so they are counted together."""
    return node.copy_of or node.name


def _visited(
    graph: Graph, memories: Mapping[str, NDArray[Any]], extents: Mapping[str, int]
) -> dict[str, int]:
    """For the innermost scanners that visit all of their fibers once, about how often they fire: once for
    each coordinate and once for each fiber."""
    coordinates: dict[str, int] = {node.name: 1 for node in graph.nodes if not node.inputs}
    firings: dict[str, int] = {}
    sources = set[str]()
    # Chains are short, and nodes may come in any order.
    waiting = {_original(node): node for node in graph.nodes if node.spec.scans}
    while ready := [name for name, node in waiting.items() if _source(graph, node) in coordinates]:
        for name in ready:
            node = waiting.pop(name)
            source = _source(graph, node)
            given = node.spec.coordinates(node.params, coordinates[source], memories, extents)
            assert given is not None
            firings[name] = given + coordinates[source]
            coordinates[name] = given
            sources.add(source)
    return {name: count for name, count in firings.items() if name not in sources}


def _written(graph: Graph, extents: Mapping[str, int]) -> dict[str, int]:
    """For each writer of values of a dense tensor about how often it fires: once for each element, and once
    for each of its innermost fibers."""
    if any(_sums_everything(node) for node in graph.nodes):
        return {}
    arrays = Counter(memory.tensor for memory in graph.memories)
    firings = {}
    for binding in graph.tensors:
        if arrays[binding.name] == binding.shards:
            shape = [extents[index] for index in binding.indices]
            firings[binding.name] = prod(shape) + prod(shape[:-1])
    written = {
        _original(node): graph.memory[name].tensor
        for node in graph.nodes
        for param, name in node.memories.items()
        if node.spec.memories[param].written
    }
    return {name: firings[tensor] for name, tensor in written.items() if tensor in firings}


def _sums_everything(node: Node) -> bool:
    """No index stands outside of the one that a reducer sums over."""
    kept = node.spec.kept(node.params)
    return kept is not None and node.inputs[0].stream.depth - 1 - kept == 0


def _source(graph: Graph, node: Node) -> str:
    """The node that a scanner's references come from, and that distributes none of them to lanes."""
    while True:
        node = graph.node[graph.fanin[Endpoint(node.name, node.inputs[0].name)].source.node]
        if node.spec.distribution(node.params) is None:
            return _original(node)


WHOLE = (0, UNLIMITED)
"""The window that no cycle lies outside of."""


class Progress(NamedTuple):
    """How far a run is."""

    firings: int
    """All firings of this engine so far."""
    cycle: int
    """The latest cycle in which an actor has fired."""
    seconds: float
    """Since the start."""
    share: float | None = None
    """About how much is done, from 0 to 1 (`samhw.sim.completion`); None where nothing tells."""
    graph: str = ""
    """The name of what runs: of several regions, that of one."""


class InterruptedRunError(InterruptedWorkError):
    """A run that Ctrl-C has ended.

    Attributes:
        partial: the statistics, memories and traces so far. Actors run ahead of each other, so each has its
            own last cycle; `cycles` is the latest of all.
    """

    def __init__(self, partial: Result):
        super().__init__(f"The run was interrupted; its latest firing was in cycle {partial.cycles}.")
        self.partial = partial


class _Stop(Exception):
    """Leaves an engine."""


def simulate(
    graph: Graph,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    *,
    trace: bool | Collection[str] = False,
    window: tuple[int, int] = WHOLE,
    check: bool = False,
    stalls: Mapping[str, Sequence[bool]] | None = None,
    limit: int = UNLIMITED,
    engine: Engine = "auto",
    progress: Callable[[Progress], None] | None = None,
    memory: OffChip | MemorySystem | None = None,
    steps: Mapping[str, int] | None = None,
    kept: Mapping[str, NDArray[np.int64]] | None = None,
) -> Result:
    """Runs a graph to its end, cycle for cycle as in docs/timing.md.

    Args:
        graph: any graph that `validate` accepts; its channels have the latencies and depths given there.
        arch: gives the latencies inside of nodes.
        memories: words of each INPUT memory, as bit patterns; at most as many as it has.
        extents: the run's extent of each index of the graph.
        trace: the channels whose tokens to record, or True for all.
        window: the first cycle whose pops are recorded, and the cycle after the last one.
        check: check every stream against the grammar, and the order of coordinates where a node relies on it.
        stalls: for some roots and writers a pattern: the node must not fire in cycle t if pattern[t % len].
        limit: last cycle in which a firing may happen.
        engine: `plain` (Python), `compiled` (machine code), or `auto`, which begins with the one and goes on
            with the other. All give the same.
        progress: is told how far the run is some times a second.
        memory: the tensors that lie off chip, and in what (docs/memory.md); or a memory that has been in use
            before, and goes on. By default all tensors are on chip.
        steps: the step that each repeat around the graph is at, by its name.
        kept: OUTPUT memories that an earlier run has left, as arrays of their capacity, which this run goes
            on with and changes.

    Raises:
        InputError: if the graph is not sound; if memories, extents, channels or
            stalls do not fit it; or if the compiled engine is asked for and cannot run it.
        DeadlockError: if no node can fire before every writer has committed.
        InterruptedRunError: after Ctrl-C, with the statistics so far.
        RunError: overflow, capacity, protocol or range, whichever comes first; or the limit is exceeded.
    """
    if memory is not None and not isinstance(memory, MemorySystem):
        memory = MemorySystem(Design.of(graph), arch, memory)
    run = GraphRun(graph, memories, trace, steps or {}, kept or {})
    (result,) = simulate_beside(
        [run],
        arch,
        extents,
        memory=memory,
        window=window,
        check=check,
        stalls=stalls,
        limit=limit,
        engine=engine,
        progress=progress,
    )
    return result


class GraphRun(NamedTuple):
    """A graph that runs, with the arguments of `simulate` that are its own."""

    graph: Graph
    memories: Mapping[str, NDArray[Any]]
    trace: bool | Collection[str] = False
    steps: Mapping[str, int] = {}
    kept: Mapping[str, NDArray[np.int64]] = {}


@no_collection()
def simulate_beside(
    runs: Sequence[GraphRun],
    arch: Arch,
    extents: Mapping[str, int],
    *,
    memory: MemorySystem | None = None,
    window: tuple[int, int] = WHOLE,
    check: bool = False,
    stalls: Mapping[str, Sequence[bool]] | None = None,
    limit: int = UNLIMITED,
    engine: Engine = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> list[Result]:
    """Runs graphs side by side, all from one cycle on, which meet at a memory off chip alone; the result of
    each. Arguments and errors are those of `simulate`, and names what an error is about.

    Args:
        runs: in the order of their ports.
        stalls: of nodes of any of them.

    Raises:
        Each error of `simulate`; of several graphs, it names its own as a region.
    """
    for given in runs:
        validate(given.graph)
    if memory is not None:
        memory.begin()
    arbiter = None if memory is None else Arbiter(memory)
    running = [_started(given, arch, extents, arbiter, window, check) for given in runs]
    for name, pattern in (stalls or {}).items():
        _stall(running, name, pattern)
    whole = Machine([worker for run in running for worker in run.machine.workers], {}, arbiter)

    def results(cycles: Sequence[int], uncompiled: str = "") -> list[Result]:
        return [run.result(own, uncompiled) for run, own in zip(running, cycles, strict=True)]

    completion = [run.completion(extents) for run in running] if progress else []
    with Interrupt() as interrupt:
        between = _between(interrupt, progress, completion, runs[0].graph.name)
        try:
            uncompiled = execute(whole, engine, limit=limit, window=window, between=between)
            if interrupt.requested:  # Since the engine last asked: nobody else will be told of it.
                raise _Stop
        except _Stop:
            latest = [max(worker.last for worker in run.machine.workers) for run in running]
            raise InterruptedRunError(results(latest)[0]) from None
    if memory is not None:
        memory.check()
    _raise_first(running)
    ends = [run.end() for run in running]
    if memory is not None:
        memory.end(max(ends))
    found = results(ends, uncompiled)
    for run in running:
        run.machine.dissolve()
    return found


class _Running(NamedTuple):
    """A graph under way."""

    given: GraphRun
    machine: Machine
    outputs: Mapping[str, NDArray[np.int64]]
    passages: Mapping[str, list[Passage]]
    first: bool
    """It is the first of those that run side by side."""

    def completion(self, extents: Mapping[str, int]) -> Completion:
        return Completion(self.given.graph, self.machine, self.given.memories, extents)

    def end(self) -> int:
        """The cycle in which the last writer has committed, and with it the off-chip memory."""
        writers = {node.name for node in self.given.graph.writers()}
        # What a gather does is over in the next cycle.
        over = (w.last + (w.access is not None) for w in self.machine.workers if w.node in writers)
        return max(*over, *(access.latest for access in self.machine.accesses), 0)

    def result(self, cycles: int, uncompiled: str) -> Result:
        """What the run has given in these cycles."""
        machine = self.machine
        written, memory = machine.words_written(), None
        if machine.arbiter is not None:
            memory = memory_stats(machine.arbiter.system, machine.accesses, cycles, first=self.first)
        return Result(
            cycles=cycles,
            memories={name: array[: written.get(name, 0)] for name, array in self.outputs.items()},
            nodes=node_stats(machine),
            channels={name: channel_stats(queue, cycles) for name, queue in machine.channels.items()},
            passages=self.passages,
            memory=memory,
            uncompiled=uncompiled,
        )


def _started(
    run: GraphRun,
    arch: Arch,
    extents: Mapping[str, int],
    arbiter: Arbiter | None,
    window: tuple[int, int],
    check: bool,
) -> _Running:
    first = arbiter is None or not arbiter.accesses
    stores, outputs = make_stores(run.graph, run.memories, extents, run.steps, run.kept)
    machine = build_graph(run.graph, arch, stores, arbiter)
    passages = _tap(run.graph, machine, run.trace, window, check)
    return _Running(run, machine, outputs, passages, first)


def _raise_first(runs: Sequence[_Running]) -> None:
    """Raises the first error of all runs, or that of the first one that is in a deadlock."""

    def failing(run: _Running) -> float:
        return min((w.fault[0] for w in run.machine.workers if w.fault is not None), default=inf)

    order = sorted(range(len(runs)), key=lambda place: failing(runs[place]))
    for place in order:
        try:
            raise_failure(runs[place].given.graph, runs[place].machine)
        except RunError as error:
            if len(runs) > 1:
                error.within(f"Region {runs[place].given.graph.name}")
            raise


def _between(
    interrupt: Interrupt,
    progress: Callable[[Progress], None] | None,
    completion: Sequence[Completion],
    name: str,
) -> Between:
    start = time.perf_counter()

    def between(firings: int, cycle: int) -> None:
        if interrupt.requested:
            raise _Stop
        if progress is not None:
            shares = [share for own in completion if (share := own.share()) is not None]
            share = min(shares, default=None)
            progress(Progress(firings, cycle, time.perf_counter() - start, share, name))

    return between


def _stall(runs: Sequence[_Running], name: str, pattern: Sequence[bool]) -> None:
    known = [run for run in runs if name in run.given.graph.node]
    if not known or (known[0].given.graph.node[name].inputs and known[0].given.graph.node[name].outputs):
        raise InputError(f"There is no root or writer {name!r} to stall; name one.")
    if all(pattern):
        raise InputError(f"The stall pattern of {name!r} never lets it fire; let one cycle be False.")
    for run in known:
        for worker in run.machine.workers:
            # Its ports go on.
            if worker.node == name and worker.access is None:
                worker.gate = Stalls(tuple(map(bool, pattern)))


def _tap(
    graph: Graph, machine: Machine, trace: bool | Collection[str], window: tuple[int, int], check: bool
) -> dict[str, list[Passage]]:
    """Puts recorders and checkers on the channels; gives the records, which the run will fill."""
    wanted = set(machine.channels if trace is True else trace or ())
    if unknown := sorted(wanted - set(machine.channels)):
        raise InputError(f"There is no channel {unknown[0]!r} to trace; the form is 'node.out->node.in'.")
    if check and window != WHOLE:
        raise InputError("A check needs all tokens of a run; leave out the window or the check.")
    passages: dict[str, list[Passage]] = {name: [] for name in machine.channels if name in wanted}
    for channel in graph.channels:
        checker = None
        if check:
            sink = graph.node[channel.sink.node]
            in_order = sink.spec.ordered(channel.sink.port, sink.params)
            checker = GrammarChecker(graph.stream(channel).depth, ordered=in_order, name=channel.name)
        if checker is not None or channel.name in passages:
            machine.channels[channel.name].tap = _observer(passages.get(channel.name), window, checker)
    return passages


def _observer(passages: list[Passage] | None, window: tuple[int, int], checker: GrammarChecker | None) -> Tap:
    begin, end = window

    def tap(pushed: int, popped: int, kind: int, payload: int) -> None:
        token = Token(Kind(kind), payload)
        if checker is not None:
            checker.push(token)
        if passages is not None and begin <= popped < end:
            passages.append(Passage(pushed, popped, token))

    return tap
