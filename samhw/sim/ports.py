"""The ports of actors to off-chip memory, and who is served next (docs/memory.md).

A firing that asks for lines stops in front of the engine until nothing else can go on; then the one with the
least (cycle, port number) is served. What a port does is in port_rule.py.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from samhw.primitives import Place
from samhw.primitives.step import PUSHES
from samhw.sim.off_chip import MemorySystem
from samhw.sim.port_rule import (
    CYCLE,
    DATA,
    PLACE,
    USE,
    USE_SIZE,
    PortPlan,
    access_words,
    committed,
    look,
    port_starts,
    serve_access,
    want_rule,
)

if TYPE_CHECKING:
    from samhw.sim.machine import Plan, Worker

__all__ = ["Access", "Arbiter"]


class Access:
    """An actor's access to off-chip memory: its ports, and what its next firing asks for.

    Attributes:
        number: of its first port; ports are numbered in the order of the machine.
        words: its record (port_rule.py), which has all that changes in a run.
        ports: where each of its ports begins in there, by name, '<node>/<actor>:<memory>'.
        want: notes what its next firing reads and writes.
        carried: for each output the read whose data its tokens carry, by number, or -1.
        arrival: for each output the first cycle in which the line is there that the next token is read from.
    """

    def __init__(self, worker: "Worker", number: int, plans: Sequence[PortPlan], memory: MemorySystem):
        actor = worker.actor
        self.worker = worker
        self.number = number
        read, written = ({plan.store for plan in plans if plan.write is write} for write in (False, True))
        # An output that feeds nothing reads nothing.
        reads = [r for r in actor.reads if r.store in read and worker.outputs[r.output]]
        registers = {store: register for store, register in actor.written.items() if store in written}
        self.words = access_words(plans, [*(r.store for r in reads), *registers], len(reads), memory.dram)
        names = [f"{worker.node}/{actor.name}:{actor.memory[plan.store].name}" for plan in plans]
        self.ports = dict(zip(names, port_starts(self.words), strict=True))
        self.want = want_rule(reads, list(registers.values()))
        self.carried = [-1] * len(worker.outputs)
        for n, one in enumerate(reads):
            self.carried[one.output] = n
        self.arrival = [0] * len(worker.outputs)

    @property
    def place(self) -> int:
        """First cycle in which its ports have places for the lines that the next firing asks for."""
        return self.words[PLACE]

    def look(self, plan: "Plan") -> bool:
        """Whether the firing may happen: it asks for nothing, or has been served. If so it happens now."""
        worker = self.worker
        pushes = sum({1 << PUSHES + output for output, _ in plan[2]})
        out_kind, out_data = worker.out_kind, worker.out_data
        self.want(pushes, worker.kind, worker.data, worker.state, out_kind, out_data, self.words)
        if not look(self.words):
            return False
        self.arrival = [0 if n < 0 else self.words[USE + USE_SIZE * n + DATA] for n in self.carried]
        return True


class Arbiter:
    """Serves the actors of a machine in the order (cycle, port number)."""

    def __init__(self, memory: MemorySystem):
        self.memory = memory
        self.accesses: list[Access] = []
        self.waiting: list[tuple[int, int, Access]] = []

    def attach(self, workers: Sequence["Worker"]) -> None:
        """Gives ports to the workers that have memories off chip."""
        number = 0
        for worker in workers:
            if plans := self._plans(worker):
                access = worker.access = Access(worker, number, plans, self.memory)
                number += len(plans)
                self.accesses.append(access)
                for output, read in enumerate(access.carried):
                    for queue in worker.outputs[output]:
                        queue.off_chip = read >= 0

    def _plans(self, worker: "Worker") -> list[PortPlan]:
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
                        plans.append(PortPlan(n, array.first, array.words, lines, write))
        return plans

    def wait(self, access: Access, cycle: int) -> None:
        """An actor's next firing, which is in that cycle, waits to be served."""
        access.words[CYCLE] = cycle
        heappush(self.waiting, (cycle, access.number, access))

    def serve(self, work: deque["Worker"]) -> bool:
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
