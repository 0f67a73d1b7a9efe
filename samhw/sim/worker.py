"""An actor at run time, its channels, and its access to off-chip memory."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from samhw.graph import Kind, OffChipPort, Token
from samhw.sim.network import Actor
from samhw.sim.off_chip import MemorySystem
from samhw.sim.oracle import ORIGIN, answer_request, entry_size, first_answer, note_entry
from samhw.sim.step import NONE, VAL, Firing, Words

__all__ = [
    "WORD_BITS",
    "Earliest",
    "End",
    "Gate",
    "LineAccess",
    "Plan",
    "Queue",
    "Stalls",
    "Tap",
    "Worker",
    "as_words",
    "connect",
]

End = tuple["Worker", int]
"""A numbered port of a worker."""

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
        "carried",
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
        self.carried: deque[tuple[int, int | list[int], int]] = deque()
        """(kind, payload, cycle of the push) of those that come nobody knows when, after `tokens`."""
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
        self.access: LineAccess | None = None
        """What it asks of off-chip memory."""

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


class LineAccess:
    """What a look or a gather asks of the memory.

    Attributes:
        number: of its port, in the order in which those that ask in one cycle are served.
        queue: its channel whose tokens come with what it asks for.
        lines, asked: what it has asked for, and in which cycles.
        answered: of each answer one less than the cycle from which it serves.
        served: how many requests are served.
        waited: cycles from requests to their last answers, summed.
        latest: the cycle from which the last answer serves; 0 if there was none.
    """

    def __init__(self, worker: Worker, port: OffChipPort, number: int, queue: Queue, system: MemorySystem):
        self.worker = worker
        self.port = port
        self.number = number
        self.queue = queue
        self.system = system
        self.lines: list[int] = []
        self.asked: list[int] = []
        self.answered: list[int] = []
        self.served = 0
        self.waited = 0
        self.latest = 0

    def serve(self) -> None:
        """Serves its first request that is not, and gives on what has come."""
        system, port, number = self.system, self.port, self.served
        oracle, beats, cycle = system.oracle, system.ports.beats, self.asked[number]
        address = port.array.base + self.lines[number] * system.ports.line
        master, write = port.array.master, int(port.write)
        answer_request(oracle, system.dram, system.recorded, master, cycle, address, write)
        first, shift = first_answer(oracle), system.ports.answer - 1 - oracle[ORIGIN]
        answers = [answer + shift for answer in oracle[first : first + beats]]
        self.answered += answers
        self.served += 1
        self.latest = answers[0 if write else -1] + 1
        self.waited += self.latest - cycle
        if system.entries is not None:
            place = len(system.entries)
            system.entries += [0] * entry_size(beats)
            note_entry(oracle, system.entries, place, master, address, write)

    def resolve(self, work: deque[Worker]) -> None:
        """Puts the tokens into the channel of which it is known when they come; wakes who waits for one."""
        queue = self.queue
        while queue.carried:
            kind, payload, pushed = queue.carried[0]
            beat = payload[-1] if isinstance(payload, list) else payload
            if beat > len(self.answered):
                return
            queue.carried.popleft()
            known = max(pushed, self.answered[beat - 1]) if beat else pushed
            queue.append(kind, payload, known + queue.latency, pushed)
            if queue.wanted:
                queue.wanted = False
                work.append(queue.consumer)


def as_words(array: NDArray[np.int64]) -> Words:
    """The same memory, with faster access to single words than NumPy gives."""
    return cast(Words, memoryview(array))  # type: ignore[arg-type]


def connect(queue: Queue, source: End, sink: End) -> None:
    """Connects a queue to an output and an input that has none yet."""
    queue.producer, output = source
    queue.consumer, queue.port = sink
    queue.source = slice(*queue.producer.out_more[output : output + 2])
    queue.more = slice(*queue.consumer.more[queue.port : queue.port + 2])
    queue.words = 1 + queue.source.stop - queue.source.start
    queue.wide = queue.words > 1
    queue.producer.outputs[output].append(queue)
    queue.consumer.inputs[queue.port] = queue
