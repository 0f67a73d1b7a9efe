"""docs/memory.md taken literally: a DRAM or another memory with a clock, and the masters.

It shares with `samhw.sim` the figures of memories and nothing of its model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samhw.graph import ConstantMemory, Dram, OffChipMemory, RandomMemory, RecordedMemory


@dataclass
class Request:
    """A request of a channel, and what has become of it. `done` is a cycle."""

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


@dataclass
class Line:
    """A line that a port asks for in a cycle, and what has become of that."""

    asked: int
    port: int
    address: int
    write: bool
    offered: int | None = None
    accepted: int | None = None
    ready: list[int] = field(default_factory=list)
    """The first cycles in which the memory could give each beat, or the B."""
    gaps: list[int] = field(default_factory=list)
    """Cycles between the beats, beyond one."""
    bursts: list[Request] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)


class ClockedDram:
    """The channels of all masters."""

    def __init__(self, dram: Dram):
        self.dram = dram
        self.channels = [ClockedChannel(dram) for _ in range(dram.channels)]
        self.clock = 0

    def start(self, cycle: int) -> None:
        """All that happens before the cycle begins."""
        while self.clock * self.dram.clock_ps < cycle * self.dram.cycle_ps:
            for channel in self.channels:
                channel.tick(self.clock)
            self.clock += 1

    def request(self, cycle: int, master: int, burst: int, write: bool) -> Request:
        d = self.dram
        arrival = 0
        while arrival * d.clock_ps < cycle * d.cycle_ps:
            arrival += 1
        own = d.channels // d.ports.masters
        columns = d.row_bytes // d.burst_bytes
        channel = master * own + burst % own
        group = burst // own % d.groups
        bank = burst // (own * d.groups * columns) % d.banks
        row = burst // (own * d.groups * columns * d.banks)
        request = Request(write, arrival + d.frontend, group, bank, row)
        self.channels[channel].queue.append(request)
        return request


class ClockedMaster:
    """An arbiter, its master and its memory, cycle by cycle."""

    def __init__(self, memory: OffChipMemory, number: int, dram: ClockedDram | None):
        self.memory, self.number, self.dram = memory, number, dram
        self.ports = memory.ports
        self.lines: list[Line] = []
        self.x = (memory.seed + number) % 2**31 if isinstance(memory, RandomMemory) else 0
        self.log: list[list[str]] = []
        if isinstance(memory, RecordedMemory):
            rows = [row.split() for row in Path(memory.path).read_text("utf-8").splitlines()[1:]]
            self.log = [row for row in rows if int(row[0]) == number]

    def ask(self, line: Line) -> None:
        self.lines.append(line)

    def end(self, cycle: int) -> None:
        """All that happens in a cycle, once the ports have asked."""
        order = sorted(self.lines, key=lambda line: (line.asked, line.port))
        for n, line in enumerate(order):
            if line.offered is None:
                before = order[n - 1].accepted if n else -1
                assert before is not None
                if before < cycle and line.asked + self.ports.offer <= cycle:
                    line.offered = cycle
                    self._decide(n, line)
                break
        for write in (False, True):
            self._answer(cycle, [line for line in order if line.write == write])

    def draw(self, count: int) -> int:
        self.x = (1103515245 * self.x + 12345) % 2**31
        return (self.x // 2**16) % count

    def gap(self, count: int, often: int) -> int:
        return max(0, self.draw(count) - often)

    def _decide(self, n: int, line: Line) -> None:
        """What the memory does about a request that is offered for the first time."""
        beats = self.ports.line // self.ports.beat
        assert line.offered is not None
        least = line.offered + beats if line.write else line.offered
        answers = 1 if line.write else beats
        line.gaps = [0] * answers
        if isinstance(self.memory, ConstantMemory):
            line.accepted = least
            line.ready = [least + self.memory.cycles] * answers
        elif isinstance(self.memory, RandomMemory):
            line.accepted = least + self.gap(16, 8)
            line.ready = [line.accepted + 1 + self.draw(32)] * answers
            line.gaps = [0, *(self.gap(8, 5) for _ in range(answers - 1))]
        elif isinstance(self.memory, RecordedMemory):
            row = self.log[n]
            assert row[1:4] == ["write" if line.write else "read", str(line.address), str(line.offered)]
            line.accepted, *line.ready = map(int, row[4:])
        else:
            line.accepted = least

    def _answer(self, cycle: int, order: list[Line]) -> None:
        """At most one beat, or one B, that of the first request that lacks one."""
        last = max((answer for line in order for answer in line.answers), default=-1)
        for line in order:
            count = len(line.answers)
            if count == len(line.gaps) and count:
                continue
            if line.accepted is None or line.accepted >= cycle:
                return
            if last < cycle and (not count or cycle > last + line.gaps[count]):
                ready = self._ready(line, count)
                if ready is not None and ready <= cycle:
                    line.answers.append(cycle)
            return

    def _ready(self, line: Line, count: int) -> int | None:
        if not isinstance(self.memory, Dram):
            return line.ready[count]
        size = self.memory.burst_bytes
        begin = line.address + (0 if line.write else count * self.ports.beat)
        end = line.address + self.ports.line if line.write else begin + self.ports.beat
        first = line.address // size
        done = [line.bursts[n - first].done for n in range(begin // size, (end - 1) // size + 1)]
        known = [cycle for cycle in done if cycle is not None]
        return max(known) if len(known) == len(done) else None

    def accept(self, cycle: int) -> None:
        """Gives what is accepted in a cycle to the DRAM."""
        for line in self.lines:
            if self.dram is not None and isinstance(self.memory, Dram) and line.accepted == cycle:
                size = self.memory.burst_bytes
                bursts = range(line.address // size, (line.address + self.ports.line - 1) // size + 1)
                line.bursts = [self.dram.request(cycle, self.number, n, line.write) for n in bursts]

    def busy(self) -> bool:
        return any(not line.gaps or len(line.answers) < len(line.gaps) for line in self.lines)


class ClockedMemory:
    """The memories of all masters."""

    def __init__(self, memory: OffChipMemory):
        self.ports = memory.ports
        self.dram = ClockedDram(memory) if isinstance(memory, Dram) else None
        self.masters = [ClockedMaster(memory, n, self.dram) for n in range(memory.ports.masters)]

    def start(self, cycle: int) -> None:
        if self.dram is not None:
            self.dram.start(cycle)

    def end(self, cycle: int) -> None:
        for master in self.masters:
            master.end(cycle)
            master.accept(cycle)

    def busy(self) -> bool:
        return any(master.busy() for master in self.masters)

    def last_answer(self) -> int:
        return max((a for master in self.masters for line in master.lines for a in line.answers), default=0)
