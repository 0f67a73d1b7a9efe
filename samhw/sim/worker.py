"""An actor at run time, its channels, and its access to off-chip memory."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from samhw.graph import Kind, Token
from samhw.sim.network import Actor
from samhw.sim.off_chip import MemorySystem
from samhw.sim.port_rule import (
    DATA,
    PLACE,
    USE,
    USE_SIZE,
    PortPlan,
    access_words,
    look,
    port_starts,
    want_rule,
)
from samhw.sim.step import NONE, PUSHES, VAL, Firing, Words

__all__ = ["WORD_BITS", "Earliest", "Gate", "MemoryAccess", "Plan", "Queue", "Stalls", "Tap", "Worker"]

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


WORD_BITS = 64
"""Those of a word in the simulator."""


class Queue:
    """A channel and its tokens.

    Actors run ahead of each other, each in its own time. Slots are therefore counted in the producer's time:
    `spare` of them were free in the cycle of its last push, and each entry of `free` is a later cycle in
    which one more becomes free.
    """

    __slots__ = (
        "bits",
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
        "more",
        "name",
        "off_chip",
        "popped",
        "port",
        "producer",
        "source",
        "spare",
        "starved",
        "tap",
        "tokens",
        "wanted",
        "wide",
        "words",
    )

    producer: "Worker"
    consumer: "Worker"
    port: int
    """Number of the consumer's input."""

    more: slice
    """Where the words of its head after the first lie in the consumer's `data`,"""
    source: slice
    """and those of a token that is pushed in the producer's `out_data`."""

    def __init__(self, name: str, latency: int, depth: int, bits: int = WORD_BITS):
        self.name = name
        self.words = 1
        """Those of a payload, as its producer gives it."""
        self.wide = False
        """A payload is a list of them."""
        self.bits = bits
        """Those of a word, where a payload has several."""
        self.latency = latency
        self.depth = depth
        self.tokens: deque[tuple[int, int | list[int], int, int]] = deque()
        """(kind, payload, first cycle in which it is available, cycle of the push). A payload of several
        words is a list of them."""
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

    def append(self, kind: int, payload: int | list[int], ready: int, pushed: int) -> None:
        """Puts in a token, which the consumer may see from cycle `ready` on."""
        if not self.tokens:
            self.consumer.kind[self.port] = kind
            self.consumer.ready[self.port] = ready
            if self.wide:
                self._show(payload)
            else:
                self.consumer.data[self.port] = payload  # type: ignore[assignment]
        self.tokens.append((kind, payload, ready, pushed))

    def show(self) -> None:
        """Puts the first token where the consumer sees it."""
        kind, payload, ready, _ = self.tokens[0]
        self.consumer.kind[self.port] = kind
        self.consumer.ready[self.port] = ready
        self._show(payload)

    def _show(self, payload: int | list[int]) -> None:
        words = payload if isinstance(payload, list) else [payload]
        self.consumer.data[self.port] = words[0]
        self.consumer.data[self.more] = words[1:]

    def number(self, kind: int, first: int, more: Sequence[int]) -> int:
        """The payload of a token as one number, the words of a block from the lowest bits up."""
        if kind != VAL:
            return first
        return first + sum(word << n * self.bits for n, word in enumerate(more, 1))


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
        "lane",
        "last",
        "memory",
        "more",
        "node",
        "out_data",
        "out_kind",
        "out_more",
        "outputs",
        "pending",
        "plans",
        "ready",
        "spaced",
        "stalled",
        "state",
        "updated",
    )

    def __init__(
        self, node: str, actor: Actor, memory: tuple[Words, ...] = (), lane: tuple[tuple[str, int], ...] = ()
    ):
        self.node = node
        self.lane = lane
        """That of its node."""
        self.actor = actor
        self.memory = memory
        self.inputs: dict[int, Queue] = {}
        self.outputs: list[list[Queue]] = [[] for _ in actor.outputs]
        self.kind = [NONE] * len(actor.inputs)
        self.more = actor.offsets(actor.inputs)
        """Where the further words of each input begin in `data`."""
        self.data = [0] * self.more[-1]
        self.ready = [0] * len(actor.inputs)
        self.state = list(actor.state)
        self.out_kind = [NONE] * len(actor.outputs)
        self.out_more = actor.offsets(actor.outputs)
        """Where those of each output begin in `out_data`."""
        self.out_data = [0] * self.out_more[-1]
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
        self.access: MemoryAccess | None = None
        """Its ports to off-chip memory."""
        self.held = 0
        """Cycles that firings waited for places in those."""

    def heads(self) -> Iterator[tuple[str, Token]]:
        """The tokens that wait at its inputs, each with the name of its input."""
        for i, (name, kind) in enumerate(zip(self.actor.inputs, self.kind, strict=True)):
            if kind != NONE:
                queue = self.inputs[i]
                yield name, Token(Kind(kind), queue.number(kind, self.data[i], self.data[queue.more]))

    def plan(self, word: int) -> Plan:
        """A firing unpacked, and kept: an actor has few different ones."""
        firing = Firing.unpack(word)
        needs = tuple(i for i in range(len(self.kind)) if firing.needs >> i & 1)
        takes = tuple((i, self.inputs[i]) for i in range(len(self.kind)) if firing.takes >> i & 1)
        pushed = [j for j in range(len(self.outputs)) if firing.pushes >> j & 1]
        pushes = tuple((j, queue) for j in pushed for queue in self.outputs[j])
        self.plans[word] = needs, takes, pushes
        return self.plans[word]

    def pending_word(self) -> int:
        """The word of the firing that is decided but lacks a slot, or 0."""
        if self.pending is None:
            return 0
        return next(word for word, plan in self.plans.items() if plan is self.pending)


class MemoryAccess:
    """An actor's access to off-chip memory: its ports, and what its next firing asks for.

    Attributes:
        number: of its first port; ports are numbered in the order of the machine.
        words: its record (port_rule.py), which has all that changes in a run.
        ports: where each of its ports begins in there, by name, '<node>/<actor>:<memory>'.
        want: notes what its next firing reads and writes.
        carried: for each output the read whose data its tokens carry, by number, or -1.
        arrival: for each output the first cycle in which the line is there that the next token is read from.
    """

    def __init__(self, worker: Worker, number: int, plans: Sequence[PortPlan], memory: MemorySystem):
        actor = worker.actor
        self.worker = worker
        self.number = number
        read, written = ({plan.store for plan in plans if plan.write is write} for write in (False, True))
        # An output that feeds nothing reads nothing.
        reads = [r for r in actor.reads if r.store in read and worker.outputs[r.output]]
        registers = {store: register for store, register in actor.written.items() if store in written}
        self.words = access_words(plans, [*(r.store for r in reads), *registers], len(reads), memory.dram)
        names = [f"{worker.node}/{actor.name}:{actor.memory[plan.store].name}" for plan in plans]
        self.ports = dict(zip(names, port_starts(self.words), strict=True))
        self.want = want_rule(reads, list(registers.values()))
        self.carried = [-1] * len(worker.outputs)
        for n, one in enumerate(reads):
            self.carried[one.output] = n
        self.arrival = [0] * len(worker.outputs)

    @property
    def place(self) -> int:
        """First cycle in which its ports have places for the lines that the next firing asks for."""
        return self.words[PLACE]

    def look(self, plan: Plan) -> bool:
        """Whether the firing may happen: it asks for nothing, or has been served. If so it happens now."""
        worker = self.worker
        pushes = sum({1 << PUSHES + output for output, _ in plan[2]})
        out_kind, out_data = worker.out_kind, worker.out_data
        self.want(pushes, worker.kind, worker.data, worker.state, out_kind, out_data, self.words)
        if not look(self.words):
            return False
        self.arrival = [0 if n < 0 else self.words[USE + USE_SIZE * n + DATA] for n in self.carried]
        return True
