"""docs/memory.md taken literally: a DRAM with a clock, and the ports of clocked.py's actors.

It shares with `samhw.sim` the figures of a `Dram` and nothing of its model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from samhw.graph import Arch, Dram, Graph, OffChip

IDLE = 100
"""Cycles after the last request in which actors may still come to fire."""


@dataclass
class Request:
    """A request, and what has become of it. `done` is a cycle."""

    line: int
    write: bool
    arrival: int
    group: int
    bank: int
    row: int
    activated: bool = False
    precharged: bool = False
    column: int | None = None
    done: int | None = None


@dataclass
class Bank:
    row: int | None = None
    activated: int = -(10**9)
    precharged: int = -(10**9)
    read: int = -(10**9)
    written: int = -(10**9)


class ClockedChannel:
    def __init__(self, dram: Dram):
        self.dram = dram
        self.banks = {(g, b): Bank() for g in range(dram.groups) for b in range(dram.banks)}
        self.queue: list[Request] = []
        self.activates: list[tuple[int, int]] = []
        """(clock, group) of each ACT."""
        self.columns: list[tuple[int, Request]] = []
        self.closed_until = 0
        self.waited = 0

    def tick(self, clock: int) -> None:
        d = self.dram
        waiting = [r for r in self.queue if r.column is None]
        if clock and clock % d.refi == 0:
            self.closed_until = clock + d.rp + d.rfc
            for bank in self.banks.values():
                bank.row = None
            for request in waiting:
                request.activated = request.precharged = False
        if clock < self.closed_until:
            self.waited += sum(r.arrival <= clock for r in waiting)
            return
        self._rows(clock, waiting)
        self._column(clock, waiting)

    def _rows(self, clock: int, waiting: Sequence[Request]) -> None:
        """Each bank makes its next request's row ready; ACTs keep the order of the requests."""
        d = self.dram
        before: dict[tuple[int, int], Request] = {}
        may_activate = True
        for request in waiting:
            where = request.group, request.bank
            bank, earlier = self.banks[where], before.get(where)
            before[where] = request
            row = bank.row if earlier is None else earlier.row
            if request.row == row:
                continue
            if earlier is None and request.arrival <= clock:
                recovered = max(
                    bank.activated + d.ras, bank.read + d.rtp, bank.written + d.cwl + d.burst + d.wr
                )
                if bank.row is not None and recovered <= clock:
                    bank.row, bank.precharged, request.precharged = None, clock, True
                elif bank.row is None and may_activate and self._may_activate(clock, bank, request.group):
                    bank.row, bank.activated, request.activated = request.row, clock, True
                    self.activates.append((clock, request.group))
                    continue
            may_activate = False

    def _may_activate(self, clock: int, bank: Bank, group: int) -> bool:
        d = self.dram
        return (
            bank.precharged + d.rp <= clock
            and all(c + d.rrd_s <= clock for c, _ in self.activates[-1:])
            and all(c + d.rrd_l <= clock for c, g in self.activates if g == group)
            and all(c + d.faw <= clock for c, _ in self.activates[:-3])
        )

    def _column(self, clock: int, waiting: Sequence[Request]) -> None:
        """The oldest request has its RD or WR as soon as it may."""
        d = self.dram
        if not waiting or waiting[0].arrival > clock:
            return
        request = waiting[0]
        bank = self.banks[request.group, request.bank]
        if bank.row != request.row or bank.activated + d.rcd > clock:
            return
        for column, other in self.columns:
            same = other.group == request.group
            if other.write == request.write:
                apart = d.ccd_l if same else d.ccd_s
            elif request.write:
                apart = max(d.ccd_s, d.cl + d.burst + 2 - d.cwl)
            else:
                apart = d.cwl + d.burst + (d.wtr_l if same else d.wtr_s)
            if column + apart > clock:
                return
        request.column = clock
        self.columns.append((clock, request))
        if request.write:
            bank.written = clock
        else:
            bank.read = clock
        end = clock + (d.cwl if request.write else d.cl) + d.burst + d.backend
        request.done = -(-end * d.clock_ps // d.cycle_ps)

    def counts(self) -> tuple[int, int, int, int, int, int]:
        """Reads, writes, hits, misses, conflicts, and clocks waited for refreshes."""
        writes = sum(r.write for r in self.queue)
        hits = sum(not r.activated for r in self.queue)
        conflicts = sum(r.precharged for r in self.queue)
        misses = len(self.queue) - hits - conflicts
        return len(self.queue) - writes, writes, hits, misses, conflicts, self.waited


class ClockedMemory:
    def __init__(self, graph: Graph, arch: Arch, off_chip: OffChip):
        self.dram = d = off_chip.dram
        self.channels = [ClockedChannel(d) for _ in range(d.channels)]
        self.clock = 0
        self.first: dict[str, int] = {}
        self.words: dict[str, int] = {}
        address = 0
        for memory in graph.memories:
            if off_chip.tensors is not None and memory.tensor not in off_chip.tensors:
                continue
            width = graph.stored(memory).width(arch.index_bits)
            size = next(size for size in (1, 2, 4) if width <= 8 * size)
            while address % d.burst_bytes:
                address += 1
            self.first[memory.name] = address // d.burst_bytes
            self.words[memory.name] = d.burst_bytes // size
            address += memory.capacity * size

    def start(self, cycle: int) -> None:
        """All that happens before the cycle begins."""
        while self.clock * self.dram.clock_ps < cycle * self.dram.cycle_ps:
            for channel in self.channels:
                channel.tick(self.clock)
            self.clock += 1

    def busy(self, cycle: int) -> bool:
        """Some request is not done, or was not until a little before this cycle."""
        requests = (request for channel in self.channels for request in channel.queue)
        return any(request.done is None or request.done + IDLE > cycle for request in requests)

    def request(self, cycle: int, line: int, write: bool) -> Request:
        d = self.dram
        arrival = 0
        while arrival * d.clock_ps < cycle * d.cycle_ps:
            arrival += 1
        columns = d.row_bytes // d.burst_bytes
        channel = line % d.channels
        group = line // d.channels % d.groups
        bank = line // (d.channels * d.groups * columns) % d.banks
        row = line // (d.channels * d.groups * columns * d.banks)
        request = Request(line, write, arrival + d.frontend, group, bank, row)
        self.channels[channel].queue.append(request)
        return request


@dataclass
class ClockedPort:
    """The port of an actor to a memory."""

    memory: ClockedMemory
    name: str
    lines: int
    """Lines of the memory that hold words of the run; of a read port."""
    requests: list[Request] = field(default_factory=list)
    buffer: dict[int, Request] = field(default_factory=dict)
    last: int | None = None
    written: int = 0
    """Lines written."""

    def wants(self, words: Sequence[int]) -> tuple[list[int], list[int], dict[int, str], int | None]:
        """What reads of these words would do: the lines asked for, the line of each word, the lines kept
        ('old' or 'new'), and the last line."""
        kept = dict.fromkeys(self.buffer, "old")
        last, asks, lines = self.last, [], []
        for word in words:
            line = word // self.memory.words[self.name]
            lines.append(line)
            if line == last:
                continue
            ahead = self.memory.dram.prefetch
            in_order = line == (0 if last is None else last + 1)
            for n in range(line, line + 1 + (ahead if in_order else 0)):
                if n not in kept and n < self.lines:
                    kept[n] = "new"
                    asks.append(n)
            kept = {n: state for n, state in kept.items() if line <= n <= line + ahead}
            last = line
        return asks, lines, kept, last

    def has_places(self, cycle: int, count: int) -> bool:
        for n in range(len(self.requests), len(self.requests) + count):
            before = n - self.memory.dram.outstanding
            if before >= 0:
                done = self.requests[before].done
                if done is None or done > cycle:
                    return False
        return True

    def ask(self, cycle: int, line: int, write: bool) -> Request:
        request = self.memory.request(cycle, self.memory.first[self.name] + line, write)
        self.requests.append(request)
        return request
