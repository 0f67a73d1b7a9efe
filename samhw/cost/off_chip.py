"""What ports to memories off the chip (docs/memory.md), or in banks, add to the cycles of a graph."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from samhw.cost.counts import TokenCounts
from samhw.cost.stream_supports import Carried
from samhw.graph import (
    ConstantMemory,
    Dram,
    Endpoint,
    OffChipMemory,
    OffChipPort,
    RandomMemory,
    RecordedMemory,
    SdramMemory,
    TensorBinding,
    levels,
)
from samhw.graph.banks import BankPort, bank_delays, bank_ports
from samhw.graph.off_chip_memory import read_latency
from samhw.graph.spec import Each, StoredArray
from samhw.tensors import Format

__all__ = ["BankCosts", "PortCosts", "beside_memory"]

PASSING = 2
"""Cycles that a read port adds to a token that reads nothing, or what is there."""

SHARPNESS = 3
"""How little a memory that is not quite busy adds: the power of a mean."""

BESIDE_A_ROW = 0.25
"""The share of a row's time (tRAS + tRP) that is not hidden where another row of a bank is opened."""

EXPOSED = 0.6
"""The share of a refresh's time that is not hidden, where requests follow each other."""

MEAN_GAP, MEAN_WAIT = 1.75, 16.5
"""Of a random memory (docs/memory.md), in cycles."""


class _Loop(NamedTuple):
    """A loop in which places ascend: over the coordinates of a fiber, in a number of rounds.

    `turns` are those of a round, of the `extent` places, or rows of places, that the fiber has. Rounds that
    follow each other may be about the same fiber, which changes `fibers` times in all, with the first. With
    `dealt` lanes have the turns of all rounds one after another, and if it is `outermost` all fibers begin at
    the array's first place.
    """

    dealt: bool
    outermost: bool
    rounds: float
    turns: float
    extent: float
    fibers: float


Port = OffChipPort | BankPort


class _Reads:
    """What is known of the places that ports read one after another."""

    def __init__(self, counts: TokenCounts, extents: Mapping[str, int]):
        self._counts = counts
        self._extents = extents
        self._indices = levels(counts.graph)

    def _loops(self, port: Port) -> list[_Loop]:
        """The innermost loops in which the places that a port reads ascend, the innermost first."""
        node = self._counts.graph.node[port.node]
        source = self._counts.graph.fanin[Endpoint(port.node, node.inputs[0].name)].source
        flow, around = self._counts.taken(node, node.inputs[0].name), self._indices[source]
        path = tuple(led.index for led in flow.path)
        if self._is_given(port):
            end = Endpoint(port.node, port.param)
            flow, around, path = self._counts.found[end], self._indices[end], (*path, node.index)
        depth = len(around)
        while depth and around[depth - 1] not in path:
            # In such a loop it is the same place again and again.
            depth -= 1
        loops: list[_Loop] = []
        while depth and len(loops) < len(path) and around[depth - 1] == path[-1 - len(loops)]:
            all_turns = max(1.0, self._counts.present(flow, depth))
            # A lane has no part of some fibers.
            rounds = min(max(1.0, self._counts.present(flow, depth - 1)), all_turns)
            extent = max(all_turns / rounds, self._extent(port, path, len(path) - 1 - len(loops), flow))
            depth -= 1
            outside = depth
            while outside and around[outside - 1] not in path:
                outside -= 1
            fibers = rounds if outside == depth else max(1.0, self._counts.present(flow, outside))
            level = len(path) - 1 - len(loops)
            dealt = path[level] in flow.lanes
            loops.append(_Loop(dealt, level == 0, rounds, all_turns / rounds, extent, min(rounds, fibers)))
            depth = outside
        return loops

    def _extent(self, port: Port, path: Sequence[str], level: int, flow: Carried) -> float:
        """About how many places a fiber of a level has."""
        binding = self._binding(port, len(path))
        if binding is not None:
            form = Format.parse(binding.format, len(binding.indices))
            if form.levels[level].is_full:
                mode = form.mode_order[level]
                counted = binding.block_counts[mode] if binding.block_counts else ""
                return float(self._extents[counted or binding.indices[mode]])
        statistics = self._counts.statistics
        inside = flow.some.indices.intersection(path[: level + 1])
        outside = inside.intersection(path[:level])
        return statistics.count(flow.some, inside) / max(1.0, statistics.count(flow.some, outside))

    def _binding(self, port: Port, depth: int) -> TensorBinding | None:
        """The tensor that an array is read as, with this many levels outside of its places: of several in the
        same memories the one of that rank."""
        graph = self._counts.graph
        stored = graph.memory[port.memory].tensor
        held = [b for b in graph.tensors if b.stored == stored and len(b.indices) >= depth]
        return min(held, key=lambda binding: len(binding.indices), default=None)

    def _is_given(self, port: Port) -> bool:
        """Whether a port reads for the tokens of an output, and not for those of an input."""
        return self._counts.graph.node[port.node].spec.memories[port.param].each is Each.GIVEN


class PortCosts(_Reads):
    """Those of the ports of a graph, whose tokens are counted."""

    def __init__(
        self,
        counts: TokenCounts,
        extents: Mapping[str, int],
        ports: Sequence[OffChipPort],
        memory: OffChipMemory,
    ):
        super().__init__(counts, extents)
        self._ports = ports
        self._memory = memory
        self._latency, self._answered = _latencies(memory)

    @cached_property
    def accesses(self) -> Mapping[str, float]:
        """By the port's name, how many places are read or written through it."""
        return {port.name: self._accesses(port) for port in self._ports}

    def _accesses(self, port: OffChipPort) -> float:
        node = self._counts.graph.node[port.node]
        use = node.spec.memories[port.param]
        if use.each is Each.GIVEN:
            return self._counts.values(self._counts.found[Endpoint(port.node, port.param)])
        flow = self._counts.taken(node, node.inputs[0].name)
        if port.write and use.array is StoredArray.POS:
            return self._counts.level(flow, len(flow.levels) - 1) + 1
        return self._counts.payloads(flow) if port.write else self._counts.values(flow)

    @cached_property
    def lines(self) -> Mapping[str, float]:
        """By the port's name, how many lines it asks for."""
        return {port.name: self._lines(port) for port in self._ports}

    def _lines(self, port: OffChipPort) -> float:
        line, place = self._memory.ports.line, port.array.place_bytes
        accesses = self.accesses[port.name]
        if accesses <= 0:
            return 0.0
        if port.write:
            return accesses * place / line + (1.0 if place < line else 0.0)
        loops = self._loops(port)
        if not loops:
            return max(1.0, place / line)
        size, again = float(place), 0.0
        for n, loop in enumerate(loops):
            span = loop.extent * size
            found, same = self._asked(port, loop, loops[n + 1 :], size)
            again += (loop.rounds - loop.fibers) * same
            if span >= line or n + 1 == len(loops):
                return found + again
            size = span
        raise AssertionError

    def _asked(
        self, port: OffChipPort, loop: _Loop, outer: Sequence[_Loop], size: float
    ) -> tuple[float, float]:
        """The lines that are asked for in the rounds of a loop over places, or over rows of them, of this
        size, which are smaller than lines, as far as each is about another fiber; and in a round about the
        same one."""
        line, place = self._memory.ports.line, port.array.place_bytes
        span = loop.extent * size
        share = min(1.0, loop.turns / loop.extent)
        aligned = loop.outermost or span % line == 0
        begun = 0.0 if aligned else min(1.0, max(0.0, (span - place) / line))
        """Of rounds that begin anywhere in a line, how many lines more they look into."""
        touched = self._dealt(port, loop, size) if loop.dealt else _touched(loop.turns, max(1.0, span / line))
        whole = touched + begun
        follows = self._memory.ports.ahead * share * min(1.0, whole - 1)
        # The first line may be the one that the round before has ended with.
        same = follows + whole - (1 - begun if span <= line else 0.0)
        if outer:
            # A round goes on where the one before has ended, if that was about the fiber before that.
            beside = min(1.0, outer[0].turns / outer[0].extent)
            jumps = loop.fibers * (1 - beside) + outer[0].rounds * beside
            return loop.fibers * touched + jumps * (begun + follows), same
        other = max(0.0, whole - 1 / max(1.0, port.array.lines))
        return whole + (loop.fibers - 1) * (other + follows), same

    def _dealt(self, port: OffChipPort, loop: _Loop, size: float) -> float:
        """The lines that a round asks for, if a lane has one row in several, of this size each.

        If they are more than a line apart, each begins in a line of its own, and may end in the next one.
        From there, and from a row in the line after the one before, the port reads ahead, mostly in vain.
        """
        line, place, ahead = self._memory.ports.line, port.array.place_bytes, self._memory.ports.ahead
        apart = size * loop.extent / loop.turns / line
        if apart <= 1:
            return max(1.0, loop.turns * apart)
        ends = max(0.0, size - place) / line
        in_vain = ahead * max(0.0, size - 2 * place) / line
        if size > place:
            in_vain += ahead * max(0.0, 2 - apart) * (apart - 1)
        return loop.turns * (1 + ends + in_vain)

    # Cycles of memories

    def together(self, cycles: float) -> float:
        """The cycles of a graph that takes this many if its memories keep up with it: each of these also
        takes its time for all lines, and both together more than either."""
        both = beside_memory(cycles, self.masters)
        return both * (1 + self._refreshed(both))

    @cached_property
    def masters(self) -> Sequence[float]:
        """Of each master the cycles that its bus, or its memory, has to do with all lines."""
        return [self._master(number) for number in range(self._memory.ports.masters)]

    def _master(self, number: int) -> float:
        own = [port for port in self._ports if port.array.master == number]
        reads = sum(self.lines[port.name] for port in own if not port.write)
        writes = sum(self.lines[port.name] for port in own if port.write)
        beats = _cycles_of_line(self._memory)
        cycles = max(reads * beats, reads + writes * (beats + 1))
        if isinstance(self._memory, Dram):
            # What a writer has left at its end comes when nothing is read.
            among = max(0.0, writes - sum(port.write for port in own))
            busy = (reads + writes) * self._line(self._memory, own) + _turns(self._memory, reads, among)
            cycles = max(cycles, busy)
        return cycles

    def _line(self, dram: Dram, ports: Sequence[OffChipPort]) -> float:
        """The cycles that a DRAM has to do with a line of some ports: its bursts, and other rows of a bank
        where several ports read far from each other."""
        clocks = max(1.0, dram.ports.line / dram.burst_bytes) * dram.ccd_s
        clocks += (dram.ccd_l - dram.ccd_s) / dram.groups  # By chance in the group of the line before.
        clocks += self._conflicts(dram, ports) * BESIDE_A_ROW * (dram.ras + dram.rp)
        awake = 1 - (dram.rfc + dram.rp) / dram.refi
        return clocks / awake * dram.clock_ps / dram.cycle_ps * dram.ports.masters / dram.channels

    def _conflicts(self, dram: Dram, ports: Sequence[OffChipPort]) -> float:
        """How probable it is that a bank has another row open than that of a line.

        Rows of a bank lie as far apart as all banks reach. One stays open until another one of the same bank
        is asked for, of any array that lies there. Places that ascend are asked for in one row of their array
        at a time, also by the ports of several lanes, if all are about as far.
        """
        reach = dram.row_bytes * dram.groups * dram.channels // dram.ports.masters
        streams = {port.name: self._stream(port) for port in ports}
        arrays = {streams[port.name]: port.array for port in ports}
        asked = dict.fromkeys(arrays, 0.0)
        for port in ports:
            asked[streams[port.name]] += self.lines[port.name]
        jumping = {streams[port.name] for port in ports if not self._ascends(port)}
        total = sum(asked.values())
        if not total:
            return 0.0
        rows = {
            name: np.arange(array.base // reach, 1 + (array.base + array.size - 1) // reach)
            for name, array in arrays.items()
        }
        rates = np.zeros(1 + max(int(own[-1]) for own in rows.values()))
        for name, own in rows.items():
            rates[own] += asked[name] / len(own)
        banks = np.bincount(np.arange(len(rates)) % dram.banks, rates, dram.banks)
        found = 0.0
        for name, own in rows.items():
            each = asked[name] / len(own)
            here, there = rates[own], banks[own % dram.banks] - rates[own]
            if name not in jumping:
                there = there - each * (np.bincount(own % dram.banks)[own % dram.banks] - 1)
                here = here - each + asked[name]
                found += min(asked[name], len(own) - 1)
            found += asked[name] * float(np.mean(there / np.maximum(here + there, 1e-9)))
        return min(1.0, found / total)

    def _stream(self, port: OffChipPort) -> str:
        """What a port's places come with: the same for all lanes that go through an array together."""
        node = self._counts.graph.node[port.node]
        source = self._counts.graph.fanin[Endpoint(port.node, node.inputs[0].name)].source
        flow = self._counts.found[source]
        outside = takewhile(
            lambda index: index not in {led.index for led in flow.path}, self._indices[source]
        )
        return port.name if any(index in flow.lanes for index in outside) else port.memory

    def _ascends(self, port: OffChipPort) -> bool:
        """Whether what a port reads or writes is in the order of its array, as a whole."""
        loops = self._loops(port)
        return port.write or (bool(loops) and (loops[-1].outermost or loops[-1].fibers <= 1))

    def _refreshed(self, cycles: float) -> float:
        """By what share refreshes make a run longer: tokens that are under way bridge some of the time."""
        dram = self._memory
        if not isinstance(dram, Dram):
            return 0.0
        took = (dram.rfc + dram.rp) * dram.clock_ps / dram.cycle_ps
        apart = cycles / max(1.0, sum(self.lines.values()))
        return EXPOSED * (dram.rfc + dram.rp) / dram.refi * took / (took + apart)

    def busy(self, node: str) -> float:
        """The cycles that the ports of a node fire, a beat at a time, or wait for room for a line."""
        ports = self._memory.ports
        waiting = PASSING + ports.offer + self._latency + ports.answer
        most = 0.0
        for port in self._ports:
            if port.node == node:
                beats = self.accesses[port.name] * port.array.beats(ports.beat)
                # A line's place is given back with the first token of the next one.
                places = ports.lines if port.write else max(1, ports.lines - 1)
                most = max(most, beats, self.lines[port.name] * waiting / places)
        return most

    # Cycles of tokens

    def inside(self, node: str) -> float:
        """The cycles that reads add to all that a node gives."""
        return self._inside.get(node, 0.0)

    def after(self, source: Endpoint) -> float:
        """The cycles that reads add to the tokens of an output, beside those of its node."""
        return self._after.get(source, 0.0)

    @cached_property
    def _inside(self) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for port in self._ports:
            if not port.write and not self._is_given(port):
                found[port.node] = max(found.get(port.node, 0.0), self._delay(port))
        return found

    @cached_property
    def _after(self) -> Mapping[Endpoint, float]:
        given = (port for port in self._ports if not port.write and self._is_given(port))
        return {Endpoint(port.node, port.param): self._delay(port) for port in given}

    def _delay(self, port: OffChipPort) -> float:
        """The cycles of the first read of a read port; hardly any if there is none."""
        ports = self._memory.ports
        waiting = 1 + ports.offer + self._latency + ports.answer - PASSING
        return PASSING + waiting * min(1.0, self.accesses[port.name]) + port.array.beats(ports.beat) - 1

    def tail(self, node: str) -> float:
        """The cycles from the last firing of a node until all that it has written is there."""
        ports = self._memory.ports
        written = (self.accesses[port.name] for port in self._ports if port.write and port.node == node)
        most = max(written, default=0.0)
        return min(1.0, most) * (1 + ports.offer + ports.beats + self._answered + ports.answer)


class BankCosts(_Reads):
    """Those of the ports to memories in banks (docs/timing.md), with the answers of `PortCosts`."""

    def __init__(self, counts: TokenCounts, extents: Mapping[str, int]):
        super().__init__(counts, extents)
        self._ports = bank_ports(counts.graph)
        self._delays = bank_delays(counts.graph)

    def inside(self, node: str) -> float:
        """As of `PortCosts`, like the others."""
        return self._delays.inside.get(node, 0)

    def after(self, source: Endpoint) -> float:
        """The cycles that ports add to the tokens of an output."""
        return self._delays.after.get(source, 0)

    def tail(self, node: str) -> float:
        """Nothing is written through such ports."""
        return 0.0

    def busy(self, node: str) -> float:
        """The cycles that the ports of a node fire, or wait for their turn."""
        return max((self._busy(port) for port in self._ports if port.node == node), default=0.0)

    def _busy(self, port: BankPort) -> float:
        """A place that follows the one before comes at once. Beyond other places the turn goes on by as many,
        around all banks; to the same place, by all. A run begins at any turn; or, after the stop of a row
        that fills all banks as often, at the one that has just gone by."""
        node = self._counts.graph.node[port.node]
        source = self._counts.graph.fanin[Endpoint(port.node, node.inputs[0].name)].source
        flow = self._counts.found[source]
        if self._is_given(port):
            source = Endpoint(port.node, port.param)
            flow = self._counts.found[source]
        reads, banks = self._counts.values(flow), self._counts.graph.memory[port.memory].banks
        runs, wait, begin = reads, 0.0, (banks - 1) / 2
        if loops := self._loops(port):
            row = loops[0]
            runs = min(reads, row.rounds)
            wait = min(row.extent / row.turns - 1, begin)
            begin = banks - 1 if wait == 0 and row.extent % banks == 0 else begin
        places = row.rounds * row.turns if loops else reads
        again = max(0.0, reads - places)
        waits = again * (banks - 1) + max(0.0, places - runs) * wait + runs * begin
        return self._counts.tokens(source) + waits


def beside_memory(cycles: float, masters: Sequence[float]) -> float:
    """The cycles of what takes this many if a memory keeps up with it, beside masters that have to do with
    its lines for so long: more than either."""
    busiest = max(masters, default=0.0)
    return float((cycles**SHARPNESS + busiest**SHARPNESS) ** (1 / SHARPNESS))


def _touched(accesses: float, lines: float) -> float:
    """How many of some lines are looked into, if accesses are spread over them."""
    return lines * (1 - (1 - 1 / lines) ** accesses) if lines > 1 else 1.0


def _turns(dram: Dram, reads: float, writes: float) -> float:
    """The cycles that the bus of a DRAM's channels takes for turning to writes and back, if these come at any
    time among reads."""
    clocks = (dram.cl + dram.burst + 2 - dram.cwl) + (dram.cwl + dram.burst + dram.wtr_s) - 2 * dram.ccd_s
    runs = reads * writes / max(1.0, reads + writes)
    return runs * clocks * dram.clock_ps / dram.cycle_ps * dram.ports.masters / dram.channels


def _cycles_of_line(memory: OffChipMemory) -> int:
    """In which the memory moves a line, with nothing in between."""
    ports = memory.ports
    return ports.line // memory.chip.word_bytes if isinstance(memory, SdramMemory) else ports.beats


def _latencies(memory: OffChipMemory) -> tuple[float, float]:
    """About how many cycles there are from the offer of a read to its beat, and from the acceptance of a
    write to its answer. Of a DRAM about every second row is open."""
    match memory:
        case ConstantMemory():
            return memory.cycles, memory.cycles
        case RandomMemory():
            return MEAN_GAP + MEAN_WAIT, MEAN_WAIT
        case RecordedMemory() | SdramMemory():
            return read_latency(memory), read_latency(memory)
        case Dram():
            kinds = (0, 1)
            reads = [memory.latency(rows) for rows in kinds]
            writes = [memory.latency(rows, write=True) for rows in kinds]
            return sum(reads) / len(reads), sum(writes) / len(writes)
