"""What ports to memory off the chip (docs/memory.md) add to the cycles of a graph."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from samhw.cost.counts import TokenCounts
from samhw.graph import (
    ConstantMemory,
    Dram,
    Endpoint,
    OffChipMemory,
    OffChipPort,
    RandomMemory,
    RecordedMemory,
)
from samhw.graph.off_chip_memory import read_latency
from samhw.graph.spec import Each, StoredArray

__all__ = ["PortCosts"]

PASSING = 2
"""Cycles that a read port adds to a token that reads nothing, or what is there."""


class PortCosts:
    """Those of the ports of a graph, whose tokens are counted."""

    def __init__(self, counts: TokenCounts, ports: Sequence[OffChipPort], memory: OffChipMemory):
        self._counts = counts
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

    def _is_given(self, port: OffChipPort) -> bool:
        """Whether a port reads for the tokens of an output, and not for those of an input."""
        return self._counts.graph.node[port.node].spec.memories[port.param].each is Each.GIVEN

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


def _latencies(memory: OffChipMemory) -> tuple[float, float]:
    """About how many cycles there are from the offer of a read to its beat, and from the acceptance of a
    write to its answer. Of a DRAM about every second row is open."""
    match memory:
        case ConstantMemory():
            return memory.cycles, memory.cycles
        case RandomMemory():
            return MEAN_GAP + MEAN_WAIT, MEAN_WAIT
        case RecordedMemory():
            return read_latency(memory), read_latency(memory)
        case Dram():
            kinds = (0, 1)
            reads = [memory.latency(rows) for rows in kinds]
            writes = [memory.latency(rows, write=True) for rows in kinds]
            return sum(reads) / len(reads), sum(writes) / len(writes)


MEAN_GAP, MEAN_WAIT = 1.75, 16.5
"""Of a random memory (docs/memory.md), in cycles."""
