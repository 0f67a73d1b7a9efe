"""What a run gives: cycles, memories, traces, and where the cycles went; or the error that it ends with."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError, RunError
from samhw.graph import Graph, Token
from samhw.graph.liveness import DeadlockError, deadlock
from samhw.sim.machine import Machine
from samhw.sim.memory_stats import MemoryStats, joined_memory
from samhw.sim.step import CAPACITY, COMMITTED, NONE, OVERFLOW, RANGE, fault, fault_cause
from samhw.sim.worker import Queue, Worker

__all__ = [
    "DISORDERED",
    "LATE",
    "ActorStats",
    "ChannelStats",
    "NodeStats",
    "Passage",
    "Result",
    "Trace",
    "channel_stats",
    "joined_results",
    "node_stats",
    "raise_failure",
    "raise_fault",
]

Trace = list[tuple[int, Token]]
"""(cycle of the pop, token) for each token of a channel, in order."""


class Passage(NamedTuple):
    """A token that has gone through a channel, where it took a slot from its push to its pop."""

    pushed: int
    """Cycle of the push."""
    popped: int
    """Cycle of the pop."""
    token: Token


@dataclass(frozen=True)
class ActorStats:
    """How an actor spent the run. Between two firings it waits first for heads, then for slots, then for the
    spacing, then for its stall pattern; the cycles of the first two
    count for the channel that came last."""

    firings: int
    last: int
    """Cycle of the last firing."""
    starved: Mapping[str, int]
    """Cycles waited for a token, by the name of the channel that it came through."""
    blocked: Mapping[str, int]
    """Cycles waited for a slot, by the name of the channel that was full."""
    spaced: int
    """Cycles waited for the last update of the same key (docs/timing.md, spacing), or for a bank's turn."""
    stalled: int
    """Cycles held back by the stall pattern."""
    late: Mapping[str, int] = field(default_factory=dict)
    """Cycles waited for a token's data from off-chip memory, after the latency of its channel, by the name of
    the channel; `starved` leaves them out."""

    @property
    def memory(self) -> int:
        """All cycles waited for off-chip memory."""
        return sum(self.late.values())


@dataclass(frozen=True)
class NodeStats:
    """A node's actors by name. Channels inside the node are named `<node>/<link>`."""

    actors: Mapping[str, ActorStats]

    @property
    def firings(self) -> int:
        """Firings of its busiest actor: the cycles that the node needs at full rate."""
        return max(actor.firings for actor in self.actors.values())


@dataclass(frozen=True)
class ChannelStats:
    """What went through a channel. A token takes a slot from the cycle of its push to that of its pop."""

    tokens: int
    payloads: int
    """The tokens that are VAL or EMPTY."""
    empties: int
    """The tokens that are EMPTY."""
    high_water: int
    """Greatest number of slots taken in one cycle."""
    mean: float
    """Slots taken, averaged over the cycles of the run."""


@dataclass(frozen=True)
class Result:
    """A run that ended.

    Attributes:
        cycles: number of the cycle in which the last writer fired on DONE, or in which the last line was
            written off chip, if that is later.
        memories: the words written to each OUTPUT memory, as bit patterns; its length is what was written.
        nodes: statistics of each node, by name.
        channels: statistics of each channel, by name.
        passages: the tokens of each traced channel, by name, in order.
        memory: what off-chip memory did, if tensors lie there.
        uncompiled: of a long run that was simulated without machine code, what kept it from that; else empty.
        start: the cycle of a design's run in which the start of this one was accepted.
        parts: of several runs as one, each of them.
    """

    cycles: int
    memories: Mapping[str, NDArray[np.int64]]
    nodes: Mapping[str, NodeStats]
    channels: Mapping[str, ChannelStats]
    passages: Mapping[str, list[Passage]]
    memory: MemoryStats | None = None
    uncompiled: str = ""
    start: int = 0
    parts: tuple["Result", ...] = ()

    def __repr__(self) -> str:
        return f"<Result: {self.cycles:,} cycles, {len(self.nodes)} nodes and {len(self.channels)} channels>"

    @cached_property
    def traces(self) -> Mapping[str, Trace]:
        """Of `passages`, for each channel (cycle of the pop, token)."""
        return {
            name: [(passage.popped, passage.token) for passage in passages]
            for name, passages in self.passages.items()
        }

    def occupancy(self, channel: str) -> NDArray[np.int64]:
        """A histogram of a channel: entry n is the number of cycles in which n of its slots were taken.

        Raises:
            InputError: if the run did not record all tokens of the channel.
        """
        passages = self.passages.get(channel, [])
        if channel not in self.channels or len(passages) < self.channels[channel].tokens:
            raise InputError(
                f"The run did not record all tokens of {channel!r}; trace this channel, and without a window."
            )
        pushed = np.array([passage.pushed for passage in passages], np.int64)
        freed = np.array([passage.popped + 1 for passage in passages], np.int64)
        steps = np.zeros(max(self.cycles, *freed) + 1, np.int64)
        np.add.at(steps, pushed, 1)
        np.add.at(steps, freed, -1)
        return np.bincount(np.cumsum(steps)[1 : self.cycles + 1])


def node_stats(machine: Machine) -> dict[str, NodeStats]:
    """The statistics of all nodes after a run."""
    actors: dict[str, dict[str, ActorStats]] = {}
    for worker in machine.workers:
        actors.setdefault(worker.node, {})[worker.actor.name] = ActorStats(
            firings=worker.firings,
            last=worker.last,
            starved={queue.name: queue.starved for queue in worker.inputs.values()},
            blocked={queue.name: queue.blocked for queues in worker.outputs for queue in queues},
            spaced=worker.spaced,
            stalled=worker.stalled,
            late={queue.name: queue.late for queue in worker.inputs.values() if queue.off_chip},
        )
    return {node: NodeStats(stats) for node, stats in actors.items()}


def channel_stats(queue: Queue, cycles: int) -> ChannelStats:
    """The statistics of a channel after a run of that many cycles."""
    # A token takes a slot from the cycle of its push to that of its pop.
    taken = queue.dwell + queue.popped
    vals, _, empties, _ = queue.kinds
    return ChannelStats(queue.popped, vals + empties, empties, queue.high, taken / max(cycles, 1))


def joined_results(results: Sequence[Result]) -> Result:
    """Runs of one graph, one after another, as one, with a cycle for each change from one to the next. The
    words are those that the last one has left."""
    if len(results) == 1:
        return results[0]
    starts = [0]
    for result in results[:-1]:
        starts.append(starts[-1] + result.cycles + 1)
    cycles = starts[-1] + results[-1].cycles
    return Result(
        cycles,
        results[-1].memories,
        {name: _joined_node([r.nodes[name] for r in results], starts) for name in results[0].nodes},
        {name: _joined_channel([r.channels[name] for r in results], results) for name in results[0].channels},
        {
            name: [
                Passage(passage.pushed + start, passage.popped + start, passage.token)
                for result, start in zip(results, starts, strict=True)
                for passage in result.passages[name]
            ]
            for name in results[0].passages
        },
        joined_memory([result.memory for result in results], cycles),
        next((result.uncompiled for result in results if result.uncompiled), ""),
        results[0].start,
        tuple(results),
    )


def _joined_node(stats: Sequence[NodeStats], starts: Sequence[int]) -> NodeStats:
    return NodeStats(
        {name: _joined_actor([s.actors[name] for s in stats], starts) for name in stats[0].actors}
    )


def _joined_actor(stats: Sequence[ActorStats], starts: Sequence[int]) -> ActorStats:
    return ActorStats(
        firings=sum(s.firings for s in stats),
        last=starts[-1] + stats[-1].last,
        starved=_sums(s.starved for s in stats),
        blocked=_sums(s.blocked for s in stats),
        spaced=sum(s.spaced for s in stats),
        stalled=sum(s.stalled for s in stats),
        late=_sums(s.late for s in stats),
    )


def _sums(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    names: dict[str, int] = {}
    for own in counts:
        total.update(own)
        names |= dict.fromkeys(own, 0)
    return {name: total[name] for name in names}


def _joined_channel(stats: Sequence[ChannelStats], results: Sequence[Result]) -> ChannelStats:
    cycles = sum(result.cycles for result in results)
    return ChannelStats(
        sum(s.tokens for s in stats),
        sum(s.payloads for s in stats),
        sum(s.empties for s in stats),
        max(s.high_water for s in stats),
        sum(s.mean * result.cycles for s, result in zip(stats, results, strict=True)) / max(cycles, 1),
    )


# How a run fails: the first error of its nodes, or a deadlock, as an exception.


DISORDERED = (
    "its fibers or their coordinates are not stored in ascending order; check the tensors of this run."
)
"""What is wrong with a protocol error of a scanner."""

BEYOND_LIMIT = 15
LATE = fault(BEYOND_LIMIT, 0)
"""What takes the place of a firing that would come after the run's last cycle."""


def raise_failure(graph: Graph, machine: Machine) -> None:
    """Raises what kept a run, in which nothing can fire any more, from its end; returns if all is well."""
    raise_fault(graph, machine.workers)
    writers = {node.name for node in graph.writers()}
    if not all(worker.state[COMMITTED] for worker in machine.workers if worker.node in writers):
        raise _deadlock(graph, machine)


def raise_fault(graph: Graph, workers: list[Worker]) -> None:
    """Raises `RunError` for the first error in time; returns if there is none."""
    faults = [(worker.fault[0], i) for i, worker in enumerate(workers) if worker.fault is not None]
    if faults:
        raise _fault(graph, workers[min(faults)[1]])


def _fault(graph: Graph, worker: Worker) -> RunError:
    assert worker.fault is not None
    cycle, word = worker.fault
    where = f"node {worker.node!r} in cycle {cycle}"
    cause = fault_cause(word)
    if cause == BEYOND_LIMIT:
        return RunError(
            f"Node {worker.node!r} would fire in cycle {cycle}, after the run's limit; give a higher one."
        )
    if cause == OVERFLOW:
        value = graph.result_type(graph.node[worker.node])
        return RunError(
            f"overflow at {where}: a result leaves the range of {value}; "
            "scale the data or choose a wider type (--value)."
        )
    if cause == CAPACITY:
        return RunError(
            f"capacity at {where}: its memory is full; build with a greater capacity (--capacity)."
        )
    heads = ", ".join(f"{name} = {token}" for name, token in worker.heads())
    if cause == RANGE:
        return RunError(
            f"range at {where}: a coordinate or reference lies beyond its extent or memory ({heads}); "
            "check the tensors and extents of this run."
        )
    if graph.node[worker.node].spec.finds_disorder:
        return RunError(f"protocol at {where}: {DISORDERED}")
    return RunError(
        f"protocol at {where}: its input streams do not agree in structure ({heads}); "
        "feed it streams of one iteration space."
    )


def _deadlock(graph: Graph, machine: Machine) -> DeadlockError:
    empty: set[str] = set()
    full: set[str] = set()
    for worker in machine.workers:
        if worker.pending is None:
            empty.update(queue.name for queue in _lacking(worker))
        else:
            full.update(queue.name for _, queue in worker.pending[2] if not queue.spare and not queue.free)
    return deadlock(graph, empty, full)


def _lacking(worker: Worker) -> list[Queue]:
    """The inputs whose missing heads a worker at rest needs."""
    needs = worker.actor.step(
        worker.kind, worker.data, worker.state, worker.memory, worker.out_kind, worker.out_data
    )
    return [worker.inputs[i] for i, kind in enumerate(worker.kind) if kind == NONE and needs >> i & 1]
