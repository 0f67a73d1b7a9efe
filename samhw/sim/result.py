"""What a run gives: cycles, memories, traces, and where the cycles went."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samhw.graph import Token
from samhw.sim.machine import Machine, Queue

__all__ = ["ActorStats", "ChannelStats", "NodeStats", "Result", "Trace", "channel_stats", "node_stats"]

Trace = list[tuple[int, Token]]
"""(cycle of the pop, token) for each token of a channel, in order."""


@dataclass(frozen=True)
class ActorStats:
    """How an actor spent the run. Between two firings it waits first for heads, then for slots, then for its
    stall pattern; the cycles of each wait count for the channel that came last."""

    firings: int
    last: int
    """Cycle of the last firing."""
    starved: Mapping[str, int]
    """Cycles waited for a token, by the name of the channel that it came through."""
    blocked: Mapping[str, int]
    """Cycles waited for a slot, by the name of the channel that was full."""
    stalled: int
    """Cycles held back by the stall pattern."""


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
    high_water: int
    """Greatest number of slots taken in one cycle."""
    mean: float
    """Slots taken, averaged over the cycles of the run."""


@dataclass(frozen=True)
class Result:
    """A run that ended.

    Attributes:
        cycles: number of the cycle in which the last writer fired on DONE.
        memories: the words written to each OUTPUT memory, as bit patterns; its length is what was written.
        nodes: statistics of each node, by name.
        channels: statistics of each channel, by name.
        traces: the tokens of each traced channel, by name.
    """

    cycles: int
    memories: Mapping[str, NDArray[np.int64]]
    nodes: Mapping[str, NodeStats]
    channels: Mapping[str, ChannelStats]
    traces: Mapping[str, Trace]


def node_stats(machine: Machine) -> dict[str, NodeStats]:
    """The statistics of all nodes after a run."""
    actors: dict[str, dict[str, ActorStats]] = {}
    for worker in machine.workers:
        actors.setdefault(worker.node, {})[worker.actor.name] = ActorStats(
            firings=worker.firings,
            last=worker.last,
            starved={queue.name: queue.starved for queue in worker.inputs.values()},
            blocked={queue.name: queue.blocked for queues in worker.outputs for queue in queues},
            stalled=worker.stalled,
        )
    return {node: NodeStats(stats) for node, stats in actors.items()}


def channel_stats(queue: Queue, cycles: int) -> ChannelStats:
    """The statistics of a channel after a run of that many cycles."""
    # A token takes a slot in the cycle of its push, `latency` cycles on its way, and until its pop.
    taken = queue.dwell + queue.popped * (queue.latency + 1)
    return ChannelStats(queue.popped, queue.high, taken / cycles)
