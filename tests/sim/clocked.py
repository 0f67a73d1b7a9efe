"""The elastic rule taken literally: a clock, and in each cycle every actor that can fire does.

It shares the step functions with `samhw.sim`, and nothing of its engine. Slow, and plain to see through.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from samhw.graph import Arch, Graph, Kind, Memory, MemoryRole, Node, Token
from samhw.primitives import Actor, Place, expand, latency
from samhw.primitives.step import COMMITTED, NONE, TAKES, Firing

IDLE = 100
"""Cycles without a firing after which nothing will fire any more; above all latencies and stall patterns."""


@dataclass
class Fifo:
    latency: int
    depth: int
    tokens: list[tuple[int, Token]] = field(default_factory=list)
    """(cycle of the push, token)."""
    pops: list[int] = field(default_factory=list)

    def head(self, cycle: int) -> Token | None:
        for push, token in self.tokens[len(self.pops) :]:
            return token if push + self.latency <= cycle else None
        return None

    def taken(self, cycle: int) -> int:
        """Slots that are taken in a cycle by tokens pushed before or in it."""
        return sum(push <= cycle for push, _ in self.tokens) - sum(pop < cycle for pop in self.pops)

    @property
    def trace(self) -> list[tuple[int, Token]]:
        return [(pop, token) for pop, (_, token) in zip(self.pops, self.tokens, strict=False)]


UNCONNECTED = Fifo(1, 1)


@dataclass
class Cell:
    node: str
    actor: Actor
    memory: tuple
    inputs: list[Fifo]
    outputs: list[list[Fifo]]
    stalled: Sequence[bool] = (False,)
    firings: list[int] = field(default_factory=list)
    pending: Firing | None = None

    def __post_init__(self) -> None:
        self.state = list(self.actor.state)
        self.out_kind = [NONE] * len(self.outputs)
        self.out_data = [0] * len(self.outputs)

    def clock(self, cycle: int) -> bool:
        """Fires if the rule says so."""
        if self.stalled[cycle % len(self.stalled)]:
            return False
        if self.pending is None:
            heads = [fifo.head(cycle) for fifo in self.inputs]
            kind = [NONE if head is None else int(head.kind) for head in heads]
            data = [0 if head is None else head.payload for head in heads]
            word = self.actor.step(kind, data, self.state, self.memory, self.out_kind, self.out_data)
            assert word >= 0
            if word >> TAKES == 0:
                return False
            self.pending = Firing.unpack(word)
        pushed = [j for j in range(len(self.outputs)) if self.pending.pushes >> j & 1]
        if any(fifo.taken(cycle) >= fifo.depth for j in pushed for fifo in self.outputs[j]):
            return False
        for i, fifo in enumerate(self.inputs):
            if self.pending.takes >> i & 1:
                fifo.pops.append(cycle)
        for j in pushed:
            for fifo in self.outputs[j]:
                fifo.tokens.append((cycle, Token(Kind(self.out_kind[j]), self.out_data[j])))
        self.firings.append(cycle)
        self.pending = None
        return True


@dataclass
class Clocked:
    cells: Sequence[Cell | Source | Sink]
    channels: dict[str, Fifo]

    def run(self) -> None:
        cycle, last = 1, 1
        while cycle - last < IDLE:
            for cell in self.cells:
                if cell.clock(cycle):
                    last = cycle
            cycle += 1

    def committed(self, graph: Graph) -> int | None:
        """The cycle in which the last writer fired on DONE, or None for a deadlock."""
        writers = [cell for cell in self.cells if not graph.node[cell.node].outputs]
        if not all(cell.state[COMMITTED] for cell in writers):
            return None
        return max(cell.firings[-1] for cell in writers)


def clocked(
    graph: Graph,
    arch: Arch,
    memories: Mapping[str, np.ndarray],
    extents: Mapping[str, int],
    stalls: Mapping[str, Sequence[bool]] | None = None,
) -> Clocked:
    """The machine of a graph at cycle 0. An input that has no channel is `UNCONNECTED`."""
    channels = {c.name: Fifo(c.latency, c.depth) for c in graph.channels}
    stores = {(Place.EXTENT, index): [extent] for index, extent in extents.items()}
    for memory in graph.memories:
        words = memories.get(memory.name)
        stores[Place.MEMORY, memory.name] = [0] * memory.capacity if words is None else [int(w) for w in words]
    cells = []
    for node in graph.nodes:
        network = expand(node, graph, arch)
        links = {name: Fifo(link.latency, link.depth) for name, link in network.links.items()}
        for name, link in network.links.items():
            links[name].tokens += [(-link.latency, token) for token in link.initial]
        for actor in network.actors:
            for store in actor.memory:
                if store.place is Place.PRIVATE:
                    stores.setdefault((store.place, f"{node.name}/{store.name}"), [0] * store.words)
            memory = tuple(
                stores[s.place, f"{node.name}/{s.name}" if s.place is Place.PRIVATE else s.name]
                for s in actor.memory
            )
            inputs = [
                links[name]
                if name in links
                else ([channels[c.name] for c in graph.channels if c.sink == (node.name, name)] or [UNCONNECTED])[0]
                for name in actor.inputs
            ]
            outputs = [
                [links[name]]
                if name in links
                else [channels[c.name] for c in graph.channels if c.source == (node.name, name)]
                for name in actor.outputs
            ]
            stalled = (stalls or {}).get(node.name, (False,))
            cells.append(Cell(node.name, actor, memory, inputs, outputs, stalled))
    return Clocked(cells, channels)


@dataclass
class Source:
    tokens: Sequence[tuple[int, Token]]
    fifo: Fifo

    def clock(self, cycle: int) -> bool:
        k = len(self.fifo.tokens)
        if k == len(self.tokens) or cycle < self.tokens[k][0] or self.fifo.taken(cycle) >= self.fifo.depth:
            return False
        self.fifo.tokens.append((cycle, self.tokens[k][1]))
        return True


@dataclass
class Sink:
    earliest: Sequence[int]
    fifo: Fifo

    def clock(self, cycle: int) -> bool:
        k = len(self.fifo.pops)
        if (k < len(self.earliest) and cycle < self.earliest[k]) or self.fifo.head(cycle) is None:
            return False
        self.fifo.pops.append(cycle)
        return True


def clocked_primitive(
    node: Node,
    arch: Arch,
    inputs: Mapping[str, Sequence[tuple[int, Token]]],
    memories: Mapping[str, np.ndarray],
    extents: Mapping[str, int],
    sinks: Mapping[str, Sequence[int]],
    input_depths: Mapping[str, int],
    output_depths: Mapping[str, int],
) -> tuple[dict[str, list[tuple[int, Token]]], list[int]]:
    """What `samhw.sim.bench_primitive` gives: the outputs, and the firing cycles of the first actor."""
    role = MemoryRole.INPUT if node.outputs else MemoryRole.OUTPUT
    banks = tuple(Memory(name, "", "", role, len(words)) for name, words in memories.items())
    machine = clocked(Graph("", "i32", (node,), (), banks, (), extents), arch, memories, extents)
    sources = []
    for port in node.inputs:
        fifo = Fifo(1, input_depths[port.name])
        sources.append(Source(inputs[port.name], fifo))
        for cell in machine.cells:
            for i, name in enumerate(cell.actor.inputs):
                if name == port.name and cell.inputs[i] is UNCONNECTED:
                    cell.inputs[i] = fifo
    drains = {}
    for port in node.outputs:
        fifo = Fifo(latency(node, port.name, arch), output_depths[port.name])
        drains[port.name] = Sink(sinks.get(port.name, ()), fifo)
        for cell in machine.cells:
            for j, name in enumerate(cell.actor.outputs):
                if name == port.name and not cell.outputs[j]:
                    cell.outputs[j] = [fifo]
    for source in sources:
        source.clock(0)
    first = machine.cells[0]
    Clocked([*sources, *machine.cells, *drains.values()], {}).run()
    return {name: sink.fifo.trace for name, sink in drains.items()}, first.firings
