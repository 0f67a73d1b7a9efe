"""The ports of actors to off-chip memory, and who is served next (docs/memory.md).

A firing that asks for lines stops in front of the engine until nothing else can go on; then the one with the
least (cycle, port number) is served.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from samhw.primitives import Place
from samhw.primitives.network import Read
from samhw.primitives.step import COMMITTED, VAL
from samhw.sim.off_chip import Array, MemorySystem

if TYPE_CHECKING:
    from samhw.sim.machine import Plan, Worker

__all__ = ["Access", "Arbiter", "Line", "Port", "ReadPort", "WritePort"]


class Line:
    """A line in a buffer, or on its way there."""

    __slots__ = ("ready",)

    def __init__(self) -> None:
        self.ready = 0
        """First cycle in which it is there, from the moment on in which it is served."""


class Port:
    """What an actor has for one memory. `name` is '<node>/<actor>:<memory>'."""

    def __init__(self, name: str, array: Array, places: int):
        self.name = name
        self.array = array
        self.places = places
        self.done: deque[int] = deque(maxlen=places)
        """For the latest requests the cycle in which each is done."""
        self.requests = 0
        self.ahead = 0
        """Of the requests, those for lines that nobody had read yet."""
        self.words = 0
        self.waited = 0
        """Sum over the requests of the cycles from asking to done."""

    def place(self, count: int) -> int:
        """The first cycle in which so many requests can be made at once."""
        return max(list(self.done)[: max(0, len(self.done) + count - self.places)], default=0)


Asks = list[tuple[Port, int, Line]]
"""Lines that a firing asks for: the port, the number of the line in its memory, and the line."""


class ReadPort(Port):
    """A port with a buffer of lines. `lines` is their number in the memory, as far as it holds words."""

    def __init__(self, name: str, array: Array, places: int, words: int, prefetch: int):
        super().__init__(name, array, places)
        self.lines = -(-words // array.words)
        self.prefetch = prefetch
        self.last = -1
        self.buffer: dict[int, Line] = {}

    def read(self, word: int, asks: Asks) -> Line:
        """The line of a word. Adds what has to be asked for."""
        self.words += 1
        number = word // self.array.words
        if number == self.last:
            return self.buffer[number]
        wanted = [number]
        if number == self.last + 1:
            wanted += range(number + 1, min(number + 1 + self.prefetch, self.lines))
        for n in wanted:
            if n not in self.buffer:
                self.buffer[n] = Line()
                self.ahead += n > number
                asks.append((self, n, self.buffer[n]))
        kept = range(number, number + 1 + self.prefetch)
        self.buffer = {n: line for n, line in self.buffer.items() if n in kept}
        self.last = number
        return self.buffer[number]


class WritePort(Port):
    """A port that gathers words. `filled` counts the lines that have been asked for."""

    def __init__(self, name: str, array: Array, places: int):
        super().__init__(name, array, places)
        self.filled = 0
        self.committed = 0
        """The latest cycle in which a line is done."""

    def write(self, words: int, end: bool, asks: Asks) -> None:
        """So many words have been written, and at the end there will be no more."""
        self.words = words
        lines = -(-words // self.array.words) if end else words // self.array.words
        for n in range(self.filled, lines):
            asks.append((self, n, Line()))
        self.filled = lines


class Access:
    """An actor's access to off-chip memory: its ports, and what its next firing asks for.

    Attributes:
        number: of its first port; ports are numbered in the order of the machine.
        place: first cycle in which its ports have places for the lines asked for.
        arrival: for each output the first cycle in which the line is there that the next token is read from.
    """

    def __init__(
        self,
        worker: "Worker",
        number: int,
        reads: Sequence[tuple[Read, ReadPort]],
        writes: Sequence[tuple[int, WritePort]],
    ):
        self.worker = worker
        self.number = number
        self.reads = reads
        self.writes = writes
        """(register that counts the words written, port)."""
        self.cycle = 0
        """Of the next firing, once it asks."""
        self.place = 0
        self.arrival = [0] * len(worker.outputs)
        self.asks: Asks = []
        self._decided = False
        """The next firing has been looked at."""
        self._data: list[tuple[int, Line]] = []

    @property
    def ports(self) -> list[Port]:
        """In the order of their numbers."""
        return [*dict.fromkeys(port for _, port in self.reads), *(port for _, port in self.writes)]

    def look(self, plan: "Plan") -> bool:
        """Whether the firing may happen: it asks for nothing, or has been served. If so it happens now."""
        if not self._decided:
            self._decided = True
            self._decide({j for j, _ in plan[2]})
        if self.asks:
            return False
        self._decided = False
        for output in range(len(self.arrival)):
            self.arrival[output] = 0
        for output, line in self._data:
            self.arrival[output] = line.ready
        return True

    def _decide(self, pushed: set[int]) -> None:
        """Finds the words that the firing, just decided by the step function, reads and has written."""
        worker = self.worker
        self.place = 0
        self._data = []
        for read, port in self.reads:
            kinds, payloads = (
                (worker.out_kind, worker.out_data) if read.pushed else (worker.kind, worker.data)
            )
            if read.output in pushed and kinds[read.port] == VAL:
                self._data.append((read.output, port.read(payloads[read.port] + read.offset, self.asks)))
        for register, write_port in self.writes:
            write_port.write(worker.state[register], bool(worker.state[COMMITTED]), self.asks)
        asking = [port for port, _, _ in self.asks]
        for port_asking in dict.fromkeys(asking):
            self.place = max(self.place, port_asking.place(asking.count(port_asking)))

    def serve(self, memory: MemorySystem) -> None:
        """Makes the requests, in the cycle of the firing."""
        for port, number, line in self.asks:
            write = isinstance(port, WritePort)
            line.ready = memory.request(self.cycle, port.array.first + number, write)
            port.done.append(line.ready)
            port.requests += 1
            port.waited += line.ready - self.cycle
            if isinstance(port, WritePort):
                port.committed = max(port.committed, line.ready)
        self.asks = []


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
            access = self._access(worker, number)
            if access is not None:
                number += len(access.ports)
                worker.access = access
                self.accesses.append(access)
                for read, _ in access.reads:
                    for queue in worker.outputs[read.output]:
                        queue.off_chip = True

    def _access(self, worker: "Worker", number: int) -> Access | None:
        arrays, dram = self.memory.arrays, self.memory.dram
        off_chip = {
            store: arrays[name]
            for store, (place, name, _) in enumerate(worker.actor.memory)
            if place is Place.MEMORY and name in arrays
        }
        names = {n: f"{worker.node}/{worker.actor.name}:{worker.actor.memory[n].name}" for n in off_chip}
        read_ports = {
            store: ReadPort(
                names[store], off_chip[store], dram.outstanding, len(worker.memory[store]), dram.prefetch
            )
            for store in dict.fromkeys(read.store for read in worker.actor.reads)
            if store in off_chip
        }
        reads = [(read, read_ports[read.store]) for read in worker.actor.reads if read.store in off_chip]
        writes = [
            (register, WritePort(names[store], off_chip[store], dram.outstanding))
            for store, register in worker.actor.written.items()
            if store in off_chip
        ]
        return Access(worker, number, reads, writes) if reads or writes else None

    def wait(self, access: Access, cycle: int) -> None:
        """An actor's next firing, which is in that cycle, waits to be served."""
        access.cycle = cycle
        heappush(self.waiting, (cycle, access.number, access))

    def serve(self, work: deque["Worker"]) -> bool:
        """Serves the next actor that waits, and adds it to those that can go on; gives whether one does."""
        if not self.waiting:
            return False
        _, _, access = heappop(self.waiting)
        access.serve(self.memory)
        work.append(access.worker)
        return True

    def committed(self) -> int:
        """The cycle in which the last line that has been written is done; 0 if none was."""
        return max((port.committed for a in self.accesses for _, port in a.writes), default=0)
