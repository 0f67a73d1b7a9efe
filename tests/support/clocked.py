"""The elastic rule taken literally: a clock, and in each cycle every actor that can fire does.

It shares the step functions with `samhw.sim`, and nothing of its engine. Slow, and plain to see through.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from samhw.graph import Arch, Design, Endpoint, Graph, Kind, Node, OffChip, OffChipLayout, Token, latency
from samhw.graph.numerics import value_type
from samhw.sim.network import Actor, Place, expand
from samhw.sim.step import COMMITTED, NONE, TAKES, VAL, Firing
from tests.sim.clocked_memory import ClockedMemory

IDLE = 100
"""Cycles without a firing after which nothing will fire any more; above all latencies and stall patterns."""


@dataclass
class Fifo:
    latency: int
    depth: int
    tokens: list[tuple[int, Any]] = field(default_factory=list)
    """(cycle of the push, token)."""
    pops: list[int] = field(default_factory=list)

    def head(self, cycle: int) -> Any:
        for push, token in self.tokens[len(self.pops) :]:
            return token if push + self.latency <= cycle else None
        return None

    def taken(self, cycle: int) -> int:
        """Slots taken in a cycle, by tokens pushed up to it and not popped before it."""
        return sum(push <= cycle for push, _ in self.tokens) - sum(pop < cycle for pop in self.pops)

    @property
    def trace(self) -> list[tuple[int, Token]]:
        return [(pop, token) for pop, (_, token) in zip(self.pops, self.tokens, strict=False)]


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


@dataclass
class Cell:
    node: str
    actor: Actor
    memory: tuple
    inputs: list[Fifo]
    outputs: list[list[Fifo]]
    stalled: Sequence[bool]
    firings: list[int] = field(default_factory=list)
    pending: Firing | None = None
    updated: dict[int, int] = field(default_factory=dict)
    """For each key the cycle of its last firing."""
    asks: dict[int, Any] = field(default_factory=dict)
    """For each output that reads off chip, the read."""
    puts: dict[int, Fifo] = field(default_factory=dict)
    """For each store that it writes off chip, the channel."""

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
            self.seen, self.before = list(zip(kind, data, strict=True)), list(self.state)
            word = self.actor.step(kind, data, self.state, self.memory, self.out_kind, self.out_data)
            assert word >= 0
            if word >> TAKES == 0:
                return False
            self.pending = Firing.unpack(word)
        spacing = self.actor.spacing
        key = -1 if spacing is None else self.state[spacing.key]
        if spacing is not None and key in self.updated and cycle < self.updated[key] + spacing.latency:
            return False
        pushed = [j for j in range(len(self.outputs)) if self.pending.pushes >> j & 1]
        if any(fifo.taken(cycle) >= fifo.depth for j in pushed for fifo in self.outputs[j]):
            return False
        places = self._places() if self.asks or self.puts else {}
        written = self._written() if self.puts else {}
        if any(self.puts[store].taken(cycle) >= 2 for store in written):
            return False
        for store, place in written.items():
            self.puts[store].tokens.append((cycle, (place,)))
        for i, fifo in enumerate(self.inputs):
            if self.pending.takes >> i & 1:
                fifo.pops.append(cycle)
        for j in pushed:
            for fifo in self.outputs[j]:
                token = Token(Kind(self.out_kind[j]), self.out_data[j])
                fifo.tokens.append((cycle, (token, places[j]) if j in self.asks else token))
        if key >= 0:
            self.updated[key] = cycle
        self.firings.append(cycle)
        self.pending = None
        return True

    def _places(self) -> dict[int, int | None]:
        """The place that each output's token reads off chip."""
        places = {}
        for output, read in self.asks.items():
            if read.pushed:
                kind, payload = self.out_kind[read.port], self.out_data[read.port]
            else:
                kind, payload = self.seen[read.port]
            places[output] = payload + read.offset if kind == VAL else None
        return places

    def _written(self) -> dict[int, int | None]:
        """The places that the firing writes off chip, by store; None for DONE."""
        if self.state[COMMITTED]:
            return dict.fromkeys(self.puts, None)
        written = {}
        for store in self.puts:
            if store in self.actor.placed:
                if self.seen[0][0] == VAL:
                    written[store] = self.seen[self.actor.placed[store]][1]
            elif self.state[self.actor.written[store]] != self.before[self.actor.written[store]]:
                written[store] = self.before[self.actor.written[store]]
        return written


@dataclass
class Clocked:
    cells: list[Cell]
    channels: dict[str, Fifo]
    memory: ClockedMemory | None = None
    ports: list[Any] = field(default_factory=list)

    def run(self, ends: Sequence[Source | Sink] = ()) -> None:
        """Sources may push from cycle 0 on, actors fire from cycle 1 on."""
        for end in ends:
            end.clock(0)
        cycle, last = 1, 1
        while cycle - last < IDLE:
            if self.memory is not None:
                self.memory.start(cycle)
            for unit in (*ends, *self.cells, *self.ports):
                if unit.clock(cycle):
                    last = cycle
            if self.memory is not None:
                self.memory.end(cycle)
                last = cycle if self.memory.busy() else last
            cycle += 1

    def committed(self, graph: Graph) -> int | None:
        """The cycle in which the last writer fired on DONE, or in which its last line was done, if that is
        later; None for a deadlock."""
        writers = [cell for cell in self.cells if not graph.node[cell.node].outputs]
        if not all(cell.state[COMMITTED] for cell in writers):
            return None
        ends = [cell.firings[-1] for cell in writers]
        if self.memory is not None:
            ends += [1 + port.finished for port in self.ports if hasattr(port, "finished")]
            if answered := self.memory.last_answer():
                ends.append(answered + self.memory.ports.answer)
        return max(ends)


def clocked(
    graph: Graph,
    arch: Arch,
    memories: Mapping[str, np.ndarray],
    extents: Mapping[str, int],
    stalls: Mapping[str, Sequence[bool]] | None = None,
    off_chip: OffChip | None = None,
) -> Clocked:
    """The machine of a graph before its first cycle."""
    channels = {c.name: Fifo(c.latency, c.depth) for c in graph.channels}
    feeds = {c.sink: channels[c.name] for c in graph.channels}
    drains = {source: [channels[c.name] for c in fanout] for source, fanout in graph.fanout.items()}
    cells = []
    stores = {(Place.EXTENT, index): [extent] for index, extent in extents.items()}
    for bank in graph.memories:
        words = memories.get(bank.name)
        stores[Place.MEMORY, bank.name] = [0] * bank.capacity if words is None else [int(w) for w in words]
    for node in graph.nodes:
        cells += _cells(node, graph, arch, stores, feeds, drains, (stalls or {}).get(node.name, [False]))
    if off_chip is None:
        return Clocked(cells, channels)
    return Clocked(cells, channels, *_ports(graph, arch, cells, off_chip))


def _ports(graph: Graph, arch: Arch, cells: Sequence[Cell], off_chip: OffChip) -> tuple[ClockedMemory, list]:
    """The memory, and the ports that actors have to it."""
    # It needs what is above.
    from tests.sim.clocked_ports import ReadPort, WritePort

    memory = ClockedMemory(off_chip.memory)
    layout = OffChipLayout(Design.of(graph), arch, off_chip.memory.ports, off_chip.arrays)
    known = {(port.node, port.array.memory, port.word): port for port in layout.ports_of(graph)}
    ports: list[Any] = []
    for cell in cells:
        for read in cell.actor.reads:
            port = known.get((cell.node, cell.actor.memory[read.store].name, read.offset))
            if port is not None:
                ports.append(ReadPort(port, memory.masters[port.array.master], cell.outputs[read.output]))
                cell.outputs[read.output] = [ports[-1].ask]
                cell.asks[read.output] = read
        for store in cell.actor.written:
            port = known.get((cell.node, cell.actor.memory[store].name, 0))
            if port is not None:
                ports.append(WritePort(port, memory.masters[port.array.master]))
                cell.puts[store] = ports[-1].put
    return memory, ports


def _cells(
    node: Node,
    graph: Graph,
    arch: Arch,
    stores: dict,
    feeds: Mapping[Endpoint, Fifo],
    drains: Mapping[Endpoint, list[Fifo]],
    stalled: Sequence[bool],
) -> list[Cell]:
    network = expand(node, graph, arch)
    links = {name: Fifo(link.latency, link.depth) for name, link in network.links.items()}
    for name, link in network.links.items():
        links[name].tokens += [(-link.latency, token) for token in link.initial]
    private = {s.name: [0] * s.words for a in network.actors for s in a.memory if s.place is Place.PRIVATE}
    cells = []
    for actor in network.actors:
        memory = [private[s.name] if s.place is Place.PRIVATE else stores[s[:2]] for s in actor.memory]
        inputs = [links[x] if x in links else feeds[Endpoint(node.name, x)] for x in actor.inputs]
        outputs = [
            [links[x]] if x in links else drains.get(Endpoint(node.name, x), []) for x in actor.outputs
        ]
        cells.append(Cell(node.name, actor, tuple(memory), inputs, outputs, stalled))
    return cells


def clocked_primitive(
    node: Node,
    arch: Arch,
    inputs: Mapping[str, Sequence[tuple[int, Token]]],
    memories: Mapping[str, np.ndarray],
    extents: Mapping[str, int],
    sinks: Mapping[str, Sequence[int]],
    input_depths: Mapping[str, int],
    output_depths: Mapping[str, int],
    value: str = "i32",
) -> tuple[dict[str, list[tuple[int, Token]]], list[int]]:
    """What `bench_primitive` gives: the outputs; and the firing cycles of the first actor."""
    graph = Graph("", value_type(value), (node,), (), (), (), extents)
    stores = {(Place.EXTENT, index): [extent] for index, extent in extents.items()}
    stores |= {(Place.STEP, index): [extent] for index, extent in extents.items()}
    stores |= {(Place.MEMORY, name): [int(w) for w in words] for name, words in memories.items()}
    sources = {p.name: Source(inputs[p.name], Fifo(1, input_depths[p.name])) for p in node.inputs}
    drains = {
        p.name: Sink(
            sinks.get(p.name, ()), Fifo(latency(node, p.name, arch, value_type(value)), output_depths[p.name])
        )
        for p in node.outputs
    }
    cells = _cells(
        node,
        graph,
        arch,
        stores,
        {Endpoint(node.name, name): source.fifo for name, source in sources.items()},
        {Endpoint(node.name, name): [sink.fifo] for name, sink in drains.items()},
        [False],
    )
    Clocked(cells, {}).run([*sources.values(), *drains.values()])
    return {name: sink.fifo.trace for name, sink in drains.items()}, cells[0].firings
