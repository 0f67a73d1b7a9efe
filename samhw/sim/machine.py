"""A graph at run time: every actor a `Worker`, every channel a `Queue`."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from samhw.graph import Arch, Endpoint, Graph, Node
from samhw.primitives import Actor, ActorNetwork, Place, expand
from samhw.primitives.step import NONE, Firing, Words
from samhw.sim.ports import Access, Arbiter

__all__ = [
    "Earliest",
    "Ends",
    "Gate",
    "Machine",
    "Plan",
    "Queue",
    "Stalls",
    "Stores",
    "Tap",
    "Worker",
    "as_words",
    "build_graph",
    "build_node",
    "connect",
]

Plan = tuple[tuple[int, ...], tuple[tuple[int, "Queue"], ...], tuple[tuple[int, "Queue"], ...]]
"""A firing, unpacked: the inputs it needs, and (port, queue) of each it takes from and pushes to."""


@dataclass(frozen=True)
class Stalls:
    """Holds a worker back in the cycles t in which pattern[t % len(pattern)] is True; one must be False."""

    pattern: tuple[bool, ...]

    def allowed(self, cycle: int, firing: int) -> int:
        """The first cycle from that one on in which the worker may fire for the time of that number."""
        while self.pattern[cycle % len(self.pattern)]:
            cycle += 1
        return cycle


@dataclass(frozen=True)
class Earliest:
    """Holds back the first firings of a worker until given cycles."""

    cycles: tuple[int, ...]

    def allowed(self, cycle: int, firing: int) -> int:
        """The first cycle from that one on in which the worker may fire for the time of that number."""
        return max(cycle, self.cycles[firing]) if firing < len(self.cycles) else cycle


Gate = Stalls | Earliest

Tap = Callable[[int, int, int, int], None]
"""Sees each token that leaves a queue: (cycle of the push, cycle of the pop, kind, payload)."""


class Queue:
    """A channel and its tokens.

    Actors run ahead of each other, each in its own time. Slots are therefore counted in the producer's time:
    `spare` of them were free in the cycle of its last push, and each entry of `free` is a later cycle in
    which one more becomes free.
    """

    __slots__ = (
        "blocked",
        "consumer",
        "depth",
        "dwell",
        "free",
        "full",
        "high",
        "kinds",
        "late",
        "latency",
        "name",
        "off_chip",
        "popped",
        "port",
        "producer",
        "spare",
        "starved",
        "tap",
        "tokens",
        "wanted",
    )

    producer: "Worker"
    consumer: "Worker"
    port: int
    """Number of the consumer's input."""

    def __init__(self, name: str, latency: int, depth: int):
        self.name = name
        self.latency = latency
        self.depth = depth
        self.tokens: deque[tuple[int, int, int, int]] = deque()
        """(kind, payload, first cycle in which it is available, cycle of the push)."""
        self.spare = depth
        self.free: deque[int] = deque()
        self.wanted = False
        """The consumer rests until a token comes."""
        self.full = False
        """The producer rests until a slot becomes free."""
        self.tap: Tap | None = None
        self.popped = 0
        self.kinds = [0, 0, 0, 0]
        """How many of them were of each kind."""
        self.dwell = 0
        """Sum over the tokens popped of the cycles from the push to the pop."""
        self.high = 0
        """Greatest number of slots taken in one cycle, as far as it is known."""
        self.starved = 0
        """Cycles that the consumer waited for a token."""
        self.off_chip = False
        """Tokens may come later than the latency says, with data from off-chip memory."""
        self.late = 0
        """Cycles that the consumer waited for such a token after its latency, which `starved` leaves out."""
        self.blocked = 0
        """Cycles that the producer waited for a slot."""

    def append(self, kind: int, payload: int, ready: int, pushed: int) -> None:
        """Puts in a token, which the consumer may see from cycle `ready` on."""
        if not self.tokens:
            self.consumer.kind[self.port] = kind
            self.consumer.data[self.port] = payload
            self.consumer.ready[self.port] = ready
        self.tokens.append((kind, payload, ready, pushed))


class Worker:
    """An actor with its registers.

    The heads of its inputs are in `kind`, `data` and `ready`, the first cycle in which the head is available.
    """

    __slots__ = (
        "access",
        "actor",
        "data",
        "fault",
        "firings",
        "gate",
        "held",
        "inputs",
        "kind",
        "last",
        "memory",
        "node",
        "out_data",
        "out_kind",
        "outputs",
        "pending",
        "plans",
        "ready",
        "spaced",
        "stalled",
        "state",
        "updated",
    )

    def __init__(self, node: str, actor: Actor, memory: tuple[Words, ...] = ()):
        self.node = node
        self.actor = actor
        self.memory = memory
        self.inputs: dict[int, Queue] = {}
        self.outputs: list[list[Queue]] = [[] for _ in actor.outputs]
        self.kind = [NONE] * len(actor.inputs)
        self.data = [0] * len(actor.inputs)
        self.ready = [0] * len(actor.inputs)
        self.state = list(actor.state)
        self.out_kind = [NONE] * len(actor.outputs)
        self.out_data = [0] * len(actor.outputs)
        self.plans: dict[int, Plan] = {}
        self.pending: Plan | None = None
        """A firing that is decided but lacks a slot."""
        self.fault: tuple[int, int] | None = None
        """(cycle, what its step function returned) for an error; such an actor fires no more."""
        self.last = 0
        """Cycle of the last firing. Actors fire from cycle 1 on."""
        self.firings = 0
        self.updated: dict[int, int] = {}
        """For each key of the actor's spacing the cycle of its last firing."""
        self.spaced = 0
        """Cycles that firings waited for one before with the same key."""
        self.gate: Gate | None = None
        self.stalled = 0
        """Cycles that the gate held back firings."""
        self.access: Access | None = None
        """Its ports to off-chip memory."""
        self.held = 0
        """Cycles that firings waited for places in those."""

    def plan(self, word: int) -> Plan:
        """A firing unpacked, and kept: an actor has few different ones."""
        firing = Firing.unpack(word)
        needs = tuple(i for i in range(len(self.kind)) if firing.needs >> i & 1)
        takes = tuple((i, self.inputs[i]) for i in range(len(self.kind)) if firing.takes >> i & 1)
        pushed = [j for j in range(len(self.outputs)) if firing.pushes >> j & 1]
        pushes = tuple((j, queue) for j in pushed for queue in self.outputs[j])
        self.plans[word] = needs, takes, pushes
        return self.plans[word]


End = tuple[Worker, int]
"""A numbered port of a worker."""

Ends = dict[Endpoint, End]

Stores = Mapping[tuple[Place, str], Words]
"""The memories and the extent registers of a graph."""


@dataclass
class Machine:
    """The workers of a graph, in the order of its nodes, and its channels by name; and who serves those that
    have memories off chip."""

    workers: list[Worker]
    channels: dict[str, Queue]
    arbiter: Arbiter | None = None

    def words_written(self) -> dict[str, int]:
        """For each memory that a writer writes, how many words it has written."""
        return {
            worker.actor.memory[store].name: worker.state[register]
            for worker in self.workers
            for store, register in worker.actor.written.items()
        }


def as_words(array: NDArray[np.int64]) -> Words:
    """The same memory, with faster access to single words than NumPy gives."""
    return cast(Words, memoryview(array))  # type: ignore[arg-type]


def connect(queue: Queue, source: End, sink: End) -> None:
    """Connects a queue to an output and an input that has none yet."""
    queue.producer, output = source
    queue.consumer, queue.port = sink
    queue.producer.outputs[output].append(queue)
    queue.consumer.inputs[queue.port] = queue


def build_graph(graph: Graph, arch: Arch, stores: Stores) -> Machine:
    """The machine of a graph."""
    workers: list[Worker] = []
    sources: Ends = {}
    sinks: Ends = {}
    networks = _networks(graph, arch)
    for node in graph.nodes:
        workers += build_node(node, networks[node.name], stores, sources, sinks)
    channels = {}
    for channel in graph.channels:
        queue = Queue(channel.name, channel.latency, channel.depth)
        connect(queue, sources[channel.source], sinks[channel.sink])
        channels[channel.name] = queue
    return Machine(workers, channels)


def _networks(graph: Graph, arch: Arch) -> Mapping[str, ActorNetwork]:
    """The network of each node, by its name: kept with the graph, since every run needs the same."""
    made_for, networks = graph.derived.get("networks", (None, {}))
    if made_for != arch:
        networks = {node.name: expand(node, graph, arch) for node in graph.nodes}
        graph.derived["networks"] = arch, networks
    return cast(Mapping[str, ActorNetwork], networks)


def build_node(node: Node, network: ActorNetwork, stores: Stores, sources: Ends, sinks: Ends) -> list[Worker]:
    """The workers of a node, joined by its links. Adds its outputs to `sources` and its inputs to `sinks`."""
    private: dict[str, Words] = {}
    workers = []
    link_sources: dict[str, End] = {}
    link_sinks: dict[str, End] = {}
    for actor in network.actors:
        memory = []
        for store in actor.memory:
            if store.place is Place.PRIVATE:
                if store.name not in private:
                    private[store.name] = as_words(np.zeros(store.words, np.int64))
                memory.append(private[store.name])
            else:
                memory.append(stores[store.place, store.name])
        worker = Worker(node.name, actor, tuple(memory))
        workers.append(worker)
        for i, name in enumerate(actor.inputs):
            if name in network.links:
                link_sinks[name] = worker, i
            else:
                sinks[Endpoint(node.name, name)] = worker, i
        for j, name in enumerate(actor.outputs):
            if name in network.links:
                link_sources[name] = worker, j
            else:
                sources[Endpoint(node.name, name)] = worker, j
    for name, link in network.links.items():
        queue = Queue(f"{node.name}/{name}", link.latency, link.depth)
        connect(queue, link_sources[name], link_sinks[name])
        for token in link.initial:
            queue.spare -= 1
            queue.append(int(token.kind), token.payload, 0, -link.latency)
    return workers
