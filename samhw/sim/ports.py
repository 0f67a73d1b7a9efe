"""The ports of a machine to memories off the chip, and who is served next (docs/memory.md); and those to
memories in banks (docs/timing.md).

A port is made of workers like all others (port_actors.py). What is new is that an actor may ask for a line,
and that what it pushes may come with one: a `LineAccess`. Requests are served in the order (cycle, port)
once nothing else can go on: what waits for an answer comes later than the request.
"""

from collections import deque
from heapq import heappop, heappush

import numpy as np

from samhw.graph import Graph, OffChipPort
from samhw.graph.banks import BankPort, bank_ports
from samhw.sim.network import Actor, Read
from samhw.sim.off_chip import MemorySystem
from samhw.sim.port_actors import (
    LINE_ASKED,
    REQUESTS,
    Put,
    asking,
    deliver,
    deliver_word,
    gather,
    look,
    port_numbers,
    putting,
    take,
)
from samhw.sim.step import Words
from samhw.sim.worker import LineAccess, Queue, Worker, as_words, connect

__all__ = ["Arbiter", "NodePorts"]

Port = OffChipPort | BankPort


class Arbiter:
    """Serves the ports of a machine in the order (cycle, port)."""

    def __init__(self, system: MemorySystem):
        self.system = system
        self.accesses: list[LineAccess] = []
        self.waiting: list[tuple[int, int]] = []
        """(cycle, number of the port) of each request that is not served."""

    def note(self, access: LineAccess, cycle: int) -> None:
        """A firing in that cycle may have asked for a line."""
        state = access.worker.state
        if state[REQUESTS] > len(access.lines):
            access.lines.append(state[LINE_ASKED])
            access.asked.append(cycle)
            heappush(self.waiting, (cycle, access.number))

    def serve(self, work: deque[Worker]) -> bool:
        """Serves the requests of which it is sure that none comes before them, and adds the workers that can
        go on; gives whether there were any."""
        while self.waiting and not work:
            horizon = self.waiting[0][0] + self.system.lookahead
            while self.waiting and self.waiting[0][0] < horizon:
                _, number = heappop(self.waiting)
                access = self.accesses[number]
                access.serve()
                access.resolve(work)
        return len(work) > 0


class NodePorts:
    """The ports of a graph's nodes, which are put into a machine as its nodes are built.

    Args:
        arbiter: serves what lies off the chip; None if nothing does.
    """

    def __init__(self, graph: Graph, arbiter: Arbiter | None):
        self._arbiter = arbiter
        self._system = system = None if arbiter is None else arbiter.system
        off_chip = () if system is None else system.layout.ports_of(graph)
        self._ports: dict[tuple[str, str, int], Port] = {
            **{(port.node, port.memory, port.word): port for port in bank_ports(graph)},
            **{(port.node, port.array.memory, port.word): port for port in off_chip},
        }
        self._banks = {memory.name: memory.banks for memory in graph.memories}
        first = 0 if arbiter is None else len(arbiter.accesses)
        self._numbers = {port: number for number, port in enumerate(off_chip, first)}
        self._accesses: dict[int, LineAccess] = {}

    def changed(self, node: str, actor: Actor) -> Actor:
        """An actor of a node, with what it tells its ports, if it has some."""
        if reads := tuple(read for read, _ in self._reads(node, actor)):
            actor = asking(actor, reads)
        if puts := tuple(put for put, _ in self._puts(node, actor)):
            actor = putting(actor, puts)
        return actor

    def attach(self, worker: Worker, actor: Actor) -> tuple[list[Worker], dict[int, Worker]]:
        """Gives its ports to a worker.

        Args:
            actor: that of the worker, before it was changed.

        Returns:
            The workers of the ports; and for each output that is read for the one that gives its tokens, on
            its output 0.
        """
        workers: list[Worker] = []
        sources: dict[int, Worker] = {}
        for read, port in self._reads(worker.node, actor):
            if isinstance(port, BankPort):
                workers += self._bank_port(worker, actor, read, port)
            else:
                workers += self._read_port(worker, actor, read, port)
            sources[read.output] = workers[-1]
        for n, (_, port) in enumerate(self._puts(worker.node, actor)):
            workers.append(self._write_port(worker, n, port))
        return workers, sources

    def finish(self) -> list[LineAccess]:
        """What all ports off the chip ask, which the arbiter then serves."""
        found = [self._accesses[number] for number in sorted(self._accesses)]
        if self._arbiter is not None:
            self._arbiter.accesses += found
        return found

    def _reads(self, node: str, actor: Actor) -> list[tuple[Read, Port]]:
        """What an actor of a node reads through ports. An output that feeds nothing reads nothing."""
        found = [(read, (node, actor.memory[read.store].name, read.offset)) for read in actor.reads]
        return [(read, self._ports[key]) for read, key in found if key in self._ports]

    def _puts(self, node: str, actor: Actor) -> list[tuple[Put, OffChipPort]]:
        """What it writes there."""
        ports = {store: self._ports.get((node, kept.name, 0)) for store, kept in enumerate(actor.memory)}
        puts = []
        for store, register in actor.written.items():
            port = ports[store]
            if isinstance(port, OffChipPort):
                anywhere = actor.placed.get(store, -1)
                register = register if anywhere < 0 else -1
                puts.append((Put(register, port.array.words, anywhere), port))
        return puts

    def _bank_port(self, worker: Worker, actor: Actor, read: Read, port: BankPort) -> list[Worker]:
        words, banks = actor.widths.get(actor.outputs[read.output], 1), self._banks[port.memory]
        name = port.name.removeprefix(f"{worker.node}.")
        takes = Worker(worker.node, take(f"{name}.take", words, banks, port.number), (), worker.lane)
        delivers = Worker(worker.node, deliver_word(f"{name}.deliver", words), (), worker.lane)
        before = f"{worker.node}/{name}"
        connect(Queue(f"{before}.ask", 1, 2), (worker, read.output), (takes, 0))
        connect(Queue(f"{before}.wait", 4, 6), (takes, 0), (delivers, 0))
        return [takes, delivers]

    def _read_port(self, worker: Worker, actor: Actor, read: Read, port: OffChipPort) -> list[Worker]:
        assert self._system is not None
        ports, words = self._system.ports, actor.widths.get(actor.outputs[read.output], 1)
        numbers = _numbers(port, self._system)
        name = port.name.removeprefix(f"{worker.node}.")
        looks = Worker(worker.node, look(f"{name}.look", words), (numbers,), worker.lane)
        delivers = Worker(worker.node, deliver(f"{name}.deliver", words), (numbers,), worker.lane)
        before = f"{worker.node}/{name}"
        connect(Queue(f"{before}.ask", 1, 2), (worker, read.output), (looks, 0))
        wait = Queue(f"{before}.wait", 1, ports.queue)
        connect(wait, (looks, 0), (delivers, 0))
        connect(Queue(f"{before}.free", 1, ports.lines), (delivers, 1), (looks, 1))
        self._give_access(looks, port, wait)
        return [looks, delivers]

    def _write_port(self, worker: Worker, n: int, port: OffChipPort) -> Worker:
        assert self._system is not None
        name = port.name.removeprefix(f"{worker.node}.")
        numbers = _numbers(port, self._system)
        gathers = Worker(worker.node, gather(f"{name}.gather"), (numbers,), worker.lane)
        before = f"{worker.node}/{name}"
        connect(Queue(f"{before}.put", 1, 2), (worker, n), (gathers, 0))
        # A firing may take from it and push to it.
        back = Queue(f"{before}.back", 1, self._system.ports.lines + 1)
        connect(back, (gathers, 0), (gathers, 1))
        self._give_access(gathers, port, back)
        return gathers

    def _give_access(self, worker: Worker, port: OffChipPort, queue: Queue) -> None:
        assert self._system is not None
        number = self._numbers[port]
        queue.off_chip = True
        worker.access = self._accesses[number] = LineAccess(worker, port, number, queue, self._system)


def _numbers(port: OffChipPort, system: MemorySystem) -> Words:
    return as_words(np.array(port_numbers(port.array, system.ports, port.begins), np.int64))
