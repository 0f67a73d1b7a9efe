"""The ports of actors to off-chip memory, and who is served next (docs/memory.md).

A firing that asks for lines stops before the engine until nothing else can go on; then the one with the
least (cycle, port number) is served. What a port does is in port_rule.py.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

from samhw.sim.network import Place
from samhw.sim.off_chip import MemorySystem
from samhw.sim.port_rule import CYCLE, PortPlan, committed, serve_access
from samhw.sim.worker import MemoryAccess, Worker

__all__ = ["Arbiter"]


class Arbiter:
    """Serves the actors of a machine in the order (cycle, port number)."""

    def __init__(self, memory: MemorySystem):
        self.memory = memory
        self.accesses: list[MemoryAccess] = []
        self.waiting: list[tuple[int, int, MemoryAccess]] = []

    def attach(self, workers: Sequence[Worker]) -> None:
        """Gives ports to the workers that have memories off chip."""
        number = 0
        for worker in workers:
            if plans := self._plans(worker):
                access = worker.access = MemoryAccess(worker, number, plans, self.memory)
                number += len(plans)
                self.accesses.append(access)
                for output, read in enumerate(access.carried):
                    for queue in worker.outputs[output]:
                        queue.off_chip = read >= 0

    def _plans(self, worker: Worker) -> list[PortPlan]:
        """The ports that a worker is to have, in the order of its memories."""
        actor = worker.actor
        read = {read.store for read in actor.reads}
        plans = []
        for n, store in enumerate(actor.memory):
            if store.place is Place.MEMORY and store.name in self.memory.arrays:
                array = self.memory.arrays[store.name]
                lines = -(-len(worker.memory[n]) // array.words)
                for write in (False, True):
                    if n in (actor.written if write else read):
                        plans.append(PortPlan(n, array.first, array.places, lines, write))
        return plans

    def wait(self, access: MemoryAccess, cycle: int) -> None:
        """An actor's next firing, which is in that cycle, waits to be served."""
        access.words[CYCLE] = cycle
        heappush(self.waiting, (cycle, access.number, access))

    def serve(self, work: deque[Worker]) -> bool:
        """Serves the next actor that waits, and adds it to those that can go on; gives whether one does."""
        if not self.waiting:
            return False
        _, _, access = heappop(self.waiting)
        serve_access(access.words, self.memory.words)
        work.append(access.worker)
        return True

    def committed(self) -> int:
        """The cycle in which the last line that has been written is done; 0 if none was."""
        return max((committed(access.words) for access in self.accesses), default=0)
