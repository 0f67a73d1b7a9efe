"""A machine as records, and back: compiled code goes on wherever the plain engine stopped."""

from collections.abc import Sequence

import numpy as np

from samhw.machine_code import Table
from samhw.sim.compiled.actors import Actors
from samhw.sim.compiled.channels import Channels
from samhw.sim.compiled.functions import many_address, phases_address
from samhw.sim.compiled.many_firings import SCRATCH
from samhw.sim.compiled.off_chip.image import LinesImage
from samhw.sim.compiled.order import forward
from samhw.sim.compiled.records import NEVER, GraphRecord
from samhw.sim.ports import Arbiter
from samhw.sim.worker import Worker

__all__ = ["Image"]

PHASE = 1 << 12
"""Firings of an actor in a phase, and so most tokens of a channel;"""

WIDE = 1 << 10
"""half as many in graphs with more actors than so many, whose rows take hundreds of megabytes."""

AHEAD = 512
"""Tokens by which a producer may run ahead of its channel's depth."""

ROOM = 1 << 10
"""Tokens that there is room for at first in channels that are deeper than that."""

WORTH = 8
"""So many times over actors are timed before assumptions are given up."""


class Image:
    """The records of workers and of the channels between them.

    Attributes:
        tapped: the channels that somebody watches, by number.
        address: the record of the graph.
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
        workers = forward(workers)
        position = {worker: n for n, worker in enumerate(workers)}
        queues = [queue for worker in workers for queue in worker.inputs.values()]
        self.tapped = [n for n, queue in enumerate(queues) if queue.tap is not None]
        self._limit = min(limit, NEVER - 1)
        self._phase = PHASE >> 1 if len(workers) > WIDE else PHASE
        self._channels = Channels(queues, self._phase, ROOM, AHEAD if ahead else 0)
        self._actors = Actors(workers, position, self._channels.places(), self._phase)
        self._producers = np.array([position[queue.producer] for queue in queues], np.int64)
        consumers = np.array([position[queue.consumer] for queue in queues], np.int64)
        self._channels.table.put(
            producer=self._actors.table.addresses[self._producers],
            consumer=self._actors.table.addresses[consumers],
        )
        self._lines: LinesImage | None = None
        if arbiter is not None and arbiter.accesses:
            places = dict(zip(workers, self._actors.table.addresses.tolist(), strict=True))
            self._lines = LinesImage(arbiter, places, self._actors.history, self._phase)
            for worker, access in self._lines.addresses().items():
                self._actors.table["access"][position[worker]] = access
        self._scratch = np.empty(SCRATCH, np.int64)
        actors, channels = self._actors.table.addresses, self._channels.table.addresses
        self._graph = Table(GraphRecord, 1)
        self._graph.put(
            actors=actors.ctypes.data,
            actor_count=len(actors),
            channels=channels.ctypes.data,
            channel_count=len(channels),
            phase=self._phase,
            longest_phase=self._phase,
            history=self._actors.history,
            time_many=many_address(),
            scratch=self._scratch.ctypes.data,
            limit=self._limit,
            # What off-chip memory does is not assumed.
            careful=0 if ahead and self._lines is None else NEVER,
            worth=WORTH,
            **(self._lines.graph if self._lines else {}),
        )
        self.address = int(self._graph.addresses[0])
        self.code = phases_address()

    def firings(self) -> int:
        """All firings so far; each worker's own count is brought up to date."""
        return self._actors.count_firings()

    def cycle(self) -> int:
        """The latest cycle in which an actor has fired."""
        return int(self._actors.table["last"].max())

    def show_taps(self, window: tuple[int, int], seen: dict[int, int]) -> None:
        """Shows the tokens popped since to the taps.

        Args:
            window: the first cycle whose pops they see, and the cycle behind the last one.
            seen: how many tokens of each channel they have seen, by its number, which is brought up to date.
        """
        for n in self.tapped:
            seen[n] = self._channels.show(n, seen.get(n), window)

    def lengthen(self) -> None:
        """Doubles the rows in which there is no room for another phase."""
        self._channels.lengthen()
        if self._lines:
            self._lines.lengthen(self._phase)

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
            self._lines.store()
