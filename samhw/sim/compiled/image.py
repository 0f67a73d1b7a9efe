"""A machine as records, and back: compiled code goes on wherever the plain engine stopped. It comes to actors
in an order, and to partitions that go on alone for a while."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.sim.compiled.actors import Actors
from samhw.sim.compiled.channels import ROWS, Channels
from samhw.sim.compiled.engine_code import many_address, phases_address
from samhw.sim.compiled.many_firings import SCRATCH
from samhw.sim.compiled.off_chip_image import LinesImage
from samhw.sim.compiled.records import NEVER, GraphRecord
from samhw.sim.machine_code import Table
from samhw.sim.ports import Arbiter
from samhw.sim.worker import Worker

__all__ = ["Image", "Partition", "partitions_of"]


def partitions_of(workers: Sequence[Worker]) -> list[list[Worker]]:
    """The workers, so ordered that channels lead forward, but for one in each circle; in partitions.

    What lies in a lane of the outermost index with lanes is a partition, and so is what lies outside of
    lanes. If streams come back from outside into lanes, what they come to are partitions of their own.
    Without lanes there is one partition.
    """
    order = _forward(workers)
    lane = _lanes_of(order)
    position = {worker: n for n, worker in enumerate(order)}
    # How often streams have come into a lane or out of one before they come to a worker.
    stage = dict.fromkeys(order, 0)
    for n, worker in enumerate(order):
        for consumer in _consumers(worker):
            if position[consumer] > n:
                changes = lane[consumer] != lane[worker]
                stage[consumer] = max(stage[consumer], stage[worker] + changes)

    def partition(worker: Worker) -> tuple[int, tuple[int, ...]]:
        return stage[worker], lane[worker]

    return [list(those) for _, those in groupby(sorted(order, key=partition), partition)]


def _lanes_of(workers: Sequence[Worker]) -> dict[Worker, tuple[int, ...]]:
    """For each worker the numbers of the lane that it is in, of the outermost index; none for those outside,
    and for scatters and gathers between many lanes."""
    numbers = {
        worker: tuple(number for index, number in worker.lane if index == worker.lane[0][0])
        for worker in workers
    }
    whole = max(map(len, numbers.values()), default=0)
    return {worker: lane if len(lane) == whole else () for worker, lane in numbers.items()}


def _forward(workers: Sequence[Worker]) -> list[Worker]:
    """The workers so ordered that channels lead forward, but for one in each circle."""
    seen: set[Worker] = set()
    finished: list[Worker] = []
    for start in sorted(workers, key=lambda worker: len(worker.inputs) > 0):
        if start in seen:
            continue
        seen.add(start)
        path = [(start, _consumers(start))]
        while path:
            worker, rest = path[-1]
            if rest:
                consumer = rest.pop()
                if consumer not in seen:
                    seen.add(consumer)
                    path.append((consumer, _consumers(consumer)))
            else:
                finished.append(worker)
                path.pop()
    return finished[::-1]


def _consumers(worker: Worker) -> list[Worker]:
    return [queue.consumer for queues in worker.outputs for queue in queues]


PHASE = 1 << 12
"""Firings of an actor in a phase, and so most tokens of a channel."""

NEAR = 1 << 22
"""Words of rows that are near enough. A phase that needs more of them is half as long."""

AHEAD = 512
"""Tokens by which a producer may run ahead of its channel's depth."""

ROOM = 1 << 10
"""Tokens that there is room for at first in channels that are deeper than that."""

WORTH = 8
"""This many times over actors are timed before assumptions are given up."""

COUNTS = {
    "actors": "actor_count",
    "channels": "channel_count",
    "entries": "entry_count",
    "exits": "exit_count",
}
"""The words of a graph's record that say how many words lie at another one's address."""


class Partition(NamedTuple):
    """A part of a graph that goes on alone for a while, or the whole graph."""

    address: int
    """That of its record."""
    channels: NDArray[np.int64]
    """The numbers of the channels that its actors push to or take from."""
    border: NDArray[np.int64]
    """Those of its actors that push to other partitions or take from them."""


class Image:
    """The records of workers and of the channels between them.

    Attributes:
        tapped: the channels that somebody watches, by number.
        whole: the graph.
        partitions: those that may go on alone, in an order in which most channels lead forward; none if there
            is but one, if somebody sees tokens, or if memories are off chip.
        code: address of the compiled `run_phases`.
    """

    def __init__(self, workers: Sequence[Worker], limit: int, arbiter: Arbiter | None, ahead: bool):
        """
        Args:
            workers: all of them.
            limit: the last cycle of a firing.
            arbiter: serves those that have memories off chip.
            ahead: producers may run ahead of the depths of channels, and cycles be assumed. Else nothing is
                found that cannot be timed, and everything is left in the end as it was when nobody could go
                on.
        """
        partitions = partitions_of(workers)
        workers = [worker for partition in partitions for worker in partition]
        position = {worker: n for n, worker in enumerate(workers)}
        queues = [queue for worker in workers for queue in worker.inputs.values()]
        self.tapped = [n for n, queue in enumerate(queues) if queue.tap is not None]
        self._limit = min(limit, NEVER - 1)
        self._channels = Channels(queues, PHASE, ROOM, AHEAD if ahead else 0)
        # What off-chip memory does is not assumed.
        careful = not ahead or (arbiter is not None and len(arbiter.accesses) > 0)
        self._actors = Actors(workers, position, self._channels.places(), PHASE, careful)
        self._producers = np.array([position[queue.producer] for queue in queues], np.int64)
        self._consumers = np.array([position[queue.consumer] for queue in queues], np.int64)
        self._channels.table.put(
            producer=self._actors.table.addresses[self._producers],
            consumer=self._actors.table.addresses[self._consumers],
        )
        self._lines: LinesImage | None = None
        if arbiter is not None and arbiter.accesses:
            self._lines = LinesImage(arbiter, self._channels.places(), PHASE)
            for worker, access in self._lines.addresses().items():
                self._actors.table["access"][position[worker]] = access
        self._scratch = np.empty(SCRATCH, np.int64)
        self._awake = np.empty(len(workers), np.int64)
        # What is seen of tokens, and what off-chip memory does, concerns all.
        alone = ahead and not self.tapped and self._lines is None and len(partitions) > 1
        ends = np.cumsum([0, *(len(partition) for partition in partitions)]).tolist()
        borders = [(0, len(workers)), *(pairwise(ends) if alone else ())]
        self._graphs = Table(GraphRecord, len(borders))
        self._graphs.put(
            history=self._actors.history,
            time_many=many_address(),
            scratch=self._scratch.ctypes.data,
            awake=self._awake.ctypes.data,
            limit=self._limit,
            careful=NEVER if careful else 0,
            can_be_careful=careful,
            worth=WORTH,
            **(self._lines.graph if self._lines else {}),
        )
        self._lists: list[NDArray[np.int64]] = []
        """Addresses that records of graphs hold the addresses of."""
        self.whole, *self.partitions = (self._put_partition(n, *border) for n, border in enumerate(borders))
        self.code = phases_address()

    def _put_partition(self, n: int, first: int, end: int) -> Partition:
        """Puts the actors from `first` on, up to `end`, and their channels into record n."""
        pushed_here = (first <= self._producers) & (self._producers < end)
        taken_here = (first <= self._consumers) & (self._consumers < end)
        lists = {
            "actors": self._actors.table.addresses[first:end],
            "channels": self._channels.table.addresses[pushed_here | taken_here],
            "entries": self._channels.table.addresses[taken_here & ~pushed_here],
            "exits": self._channels.table.addresses[pushed_here & ~taken_here],
        }
        for name, addresses in lists.items():
            self._graphs[name][n] = addresses.ctypes.data
            self._graphs[COUNTS[name]][n] = len(addresses)
        self._lists += lists.values()
        self._graphs["before"][n] = first
        wide = ROWS * PHASE * len(lists["channels"]) > NEAR
        self._graphs["phase"][n] = self._graphs["longest_phase"][n] = PHASE >> wide
        inner = [self._consumers[taken_here & ~pushed_here], self._producers[pushed_here & ~taken_here]]
        channels = np.flatnonzero(pushed_here | taken_here)
        return Partition(int(self._graphs.addresses[n]), channels, np.unique(np.concatenate(inner)))

    def wake(self, partitions: Iterable[Partition]) -> None:
        """Has actors at the borders of partitions look at their channels again, of which other partitions, or
        phases of the whole graph, show more or less to them."""
        self._actors.table["seen"][np.concatenate([partition.border for partition in partitions])] = -1

    def timed(self) -> int:
        """All firings so far."""
        return int(self._actors.table["timed"].sum())

    def firings(self) -> int:
        """All firings so far; each worker's own count is brought up to date."""
        return self._actors.count_firings()

    def cycle(self) -> int:
        """The latest cycle in which an actor has fired."""
        return int(self._actors.table["last"].max())

    def show_taps(self, window: tuple[int, int], seen: dict[int, int]) -> None:
        """Shows the tokens popped since to the taps.

        Args:
            window: the first cycle whose pops they see, and the cycle after the last one.
            seen: how many tokens of each channel they have seen, by its number, which is brought up to date.
        """
        for n in self.tapped:
            seen[n] = self._channels.show(n, seen.get(n), window)

    def lengthen(self, partition: Partition) -> None:
        """Doubles the rows of a partition in which there is no room for another phase."""
        self._channels.lengthen(partition.channels)
        if self._lines:
            number = int(self._graphs["journal_number"][0])
            for name, word in self._lines.lengthen(PHASE, number).items():
                self._graphs[name][0] = word

    def be_careful(self) -> None:
        """Has actors timed without assumptions, for which there has been no code yet."""
        self._actors.be_careful()
        self._graphs["can_be_careful"][:] = 1

    def widen(self) -> bool:
        """Doubles the room of channels that are full, but not to their depths; gives if there are any."""
        widened = self._channels.widen()
        self._actors.table["seen"][self._producers[widened]] = -1
        return len(widened) > 0

    def is_clean(self) -> bool:
        """Whether all that was found is timed, and nothing went wrong."""
        return self._actors.are_clean()

    def undo(self) -> None:
        """Puts back what a run changes before `store`."""
        self._actors.undo()

    def store(self) -> None:
        """Puts everything back into the workers and queues, as far as it is timed. Nobody goes on from there:
        when slots became free, and when keys of spacings were last used, is forgotten."""
        self._channels.store()
        self._actors.store(self._limit)
        if self._lines:
            self._lines.store(int(self._graphs["journal_number"][0]))
