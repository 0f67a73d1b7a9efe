"""The ports of docs/memory.md taken literally, cycle by cycle, for the actors of clocked.py.

It shares with `samhw.sim` where arrays lie (`samhw.graph.OffChipLayout`) and nothing of its model.
"""

from dataclasses import dataclass, field

from samhw.graph import Kind, OffChipPort
from tests.sim.clocked_memory import ClockedMaster, Line
from tests.support.clocked import Fifo


@dataclass
class ReadPort:
    """A look and a deliver. On `ask` are pairs (token, place or None)."""

    port: OffChipPort
    master: ClockedMaster
    outputs: list[Fifo]
    lines: list[Line] = field(default_factory=list)
    line: int = -1
    have: int = 0
    run: bool = False
    part: int = 0
    tail: int = 0
    freed: list[tuple[int, int]] = field(default_factory=list)
    """(cycle, number up to which all are freed then)."""
    delivered: int = 0
    """Beats of the place that is delivered."""
    vain: int = 0
    looks: list[int] = field(default_factory=list)
    delivers: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ask, self.wait = Fifo(1, 2), Fifo(1, self.master.ports.queue)

    def clock(self, cycle: int) -> bool:
        looked, delivered = self._look(cycle), self._deliver(cycle)
        return looked or delivered

    def _look(self, cycle: int) -> bool:
        ports, array = self.master.ports, self.port.array
        head = self.ask.head(cycle)
        if head is None or self.wait.taken(cycle) >= self.wait.depth:
            return False
        token, place = head
        line, have, run, asked, number, beat = self.line, self.have, self.run, None, None, None
        if place is not None:
            parts = max(1, array.place_bytes // ports.beat)
            address = place * array.place_bytes + self.part * ports.beat
            line, beat = address // ports.line, address % ports.line // ports.beat
            far = line - self.line
            if 0 <= far <= self.have:
                have -= far
                if run and have < ports.ahead and (line + have + 1) * ports.line < array.size:
                    have += 1
                    asked = line + have
            else:
                have, run, asked = 0, far == 1, line
            number = self.tail + (asked is not None) - 1 - have
        if asked is not None:
            needed = self.tail - ports.lines
            if needed >= 0 and not any(upto > needed and at < cycle for at, upto in self.freed):
                return False
            self.lines.append(Line(cycle, self.port.number, array.base + asked * ports.line, self.port.write))
            self.master.ask(self.lines[-1])
            self.tail += 1
        if asked == line:
            self.vain += self.have
        self.line, self.have, self.run = line, have, run
        if token.kind is Kind.DONE:
            self.vain += self.have
            self.line, self.have, self.run = -1, 0, False
        last = True
        if place is not None:
            last = self.part == parts - 1
            self.part = 0 if last else self.part + 1
        self.wait.tokens.append((cycle, (token, number, beat, last)))
        if last:
            self.ask.pops.append(cycle)
        self.looks.append(cycle)
        return True

    def _deliver(self, cycle: int) -> bool:
        head = self.wait.head(cycle)
        if head is None:
            return False
        token, number, beat, last = head
        if number is not None:
            answers = self.lines[number].answers
            if len(answers) <= beat or answers[beat] + self.master.ports.answer > cycle:
                return False
        if last and any(fifo.taken(cycle) >= fifo.depth for fifo in self.outputs):
            return False
        self.wait.pops.append(cycle)
        if last:
            for fifo in self.outputs:
                fifo.tokens.append((cycle, token))
        if number is not None:
            self.freed.append((cycle, number))
        self.delivers.append(cycle)
        return True


@dataclass
class WritePort:
    """A gather. On `put` are places, or None for DONE."""

    port: OffChipPort
    master: ClockedMaster
    lines: list[Line] = field(default_factory=list)
    line: int | None = None
    part: int = 0
    opened: int = 0
    begun: bool = False
    finished: int | None = None
    gathers: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.put = Fifo(1, 2)
        self.begun = self.port.param != "pos"

    def clock(self, cycle: int) -> bool:
        if self._gather(cycle):
            self.gathers.append(cycle)
            return True
        return False

    def _gather(self, cycle: int) -> bool:
        ports, array = self.master.ports, self.port.array
        if not self.begun:
            place = 0
        else:
            head = self.put.head(cycle)
            if head is None:
                return False
            (place,) = head
            if place is None and self.line is None:
                self.put.pops.append(cycle)
                self.finished = cycle
                return True
            if place is None:
                return self._request(cycle)
        parts = max(1, array.place_bytes // ports.beat)
        address = place * array.place_bytes + self.part * ports.beat
        line = address // ports.line
        if self.line is not None and self.line != line:
            return self._request(cycle)
        if self.line is None:
            before = self.opened - ports.lines
            if before >= 0:
                answers = self.lines[before].answers
                if not answers or answers[0] + ports.answer > cycle:
                    return False
            self.opened += 1
        self.line = line
        if (address + min(array.place_bytes, ports.beat)) % ports.line == 0:
            self._request(cycle)
        if self.part < parts - 1:
            self.part += 1
            return True
        self.part = 0
        if self.begun:
            self.put.pops.append(cycle)
        self.begun = True
        return True

    def _request(self, cycle: int) -> bool:
        ports = self.master.ports
        assert self.line is not None
        address = self.port.array.base + self.line * ports.line
        self.lines.append(Line(cycle, self.port.number, address, True))
        self.master.ask(self.lines[-1])
        self.line = None
        return True
