"""A machine as records (layout.py) and back: compiled code goes on wherever the plain engine stopped."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samhw.primitives.step import NONE
from samhw.sim.compiled.functions import key_of
from samhw.sim.compiled.gate import gate_words
from samhw.sim.compiled.off_chip.actor import ActorShape
from samhw.sim.compiled.off_chip.functions import loop_address
from samhw.sim.compiled.off_chip.layout import ENTRY, C, L, R
from samhw.sim.compiled.off_chip.ports import Ports
from samhw.sim.compiled.order import forward
from samhw.sim.compiled.records import KIND_BITS
from samhw.sim.compiled.stores import array_of
from samhw.sim.engine import Between
from samhw.sim.worker import Queue, Worker

__all__ = ["Records"]

Words = NDArray[np.int64]

RING = 1024
"""Most slots of a ring to begin with; those of deeper channels grow when nothing else can go on."""

LOG = 1 << 16
"""Entries of the log."""

GAP = 3 * 64 // 8
"""Words between two rings: an odd number of cache lines. Rings that are in step must not compete for the same
lines of the cache."""

TOKEN, CYCLE = 0, 1
"""The rows of a ring."""

NEVER = -(1 << 62)


class Records:
    """The records of workers and of the channels between them.

    Attributes:
        rows: address of each actor's record, in an order in which most channels lead forward.
        log: the log's record (`L`).
        arbiter: address of the arbiter's record.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        limit: int,
        window: tuple[int, int],
        between: Between,
        ports: Ports,
    ):
        self.workers = forward(workers)
        self.ports = ports
        self.queues = [queue for worker in self.workers for queue in worker.inputs.values()]
        self.numbers = {queue: n for n, queue in enumerate(self.queues)}
        logs = any(queue.tap is not None for queue in self.queues)
        self.entries = np.zeros((LOG if logs else 0, ENTRY), np.int64)
        self.log = np.zeros(len(L), np.int64)
        self.log[L.ENTRIES] = self.entries.ctypes.data
        self.log[L.CAPACITY] = len(self.entries)
        self.log[L.BEGIN], self.log[L.END] = window
        shapes = [ActorShape.of(worker, len(R)) for worker in self.workers]
        slots = [_slots(queue) for queue in self.queues]
        sizes = [len(self.queues) * len(C), *(shape.words for shape in shapes), *(2 * n + GAP for n in slots)]
        parts = iter(np.split(np.zeros(sum(sizes), np.int64), np.cumsum(sizes)[:-1]))
        self.channels = next(parts).reshape(len(self.queues), len(C))
        self.records = [(next(parts), shape) for shape in shapes]
        self.rings = [part[:-GAP].reshape(2, -1) for part in parts]
        self.there = {
            queue: np.zeros(self._ring(queue).shape[1], np.int64) for queue in self.queues if queue.off_chip
        }
        """For each slot of their rings the first cycle in which the token is there with its data."""
        for queue in self.queues:
            self._load_queue(queue)
        self.kept: list[Words] = []
        """Arrays that records hold addresses of."""
        self.updated: dict[Worker, Words] = {}
        for worker, (record, shape) in zip(self.workers, self.records, strict=True):
            self._load_worker(worker, record, shape, limit, logs)
            # Each may have had to be compiled.
            between(sum(w.firings for w in workers), max(w.last for w in workers))
        self.rows = np.array([record.ctypes.data for record, _ in self.records], np.int64)
        self.position = {worker: n for n, worker in enumerate(self.workers)}
        self.arbiter = ports.connect(self.rows, self.position, self.log)
        self._note_short()

    def _load_queue(self, queue: Queue) -> None:
        record = self.channels[self.numbers[queue]]
        ring = self.rings[self.numbers[queue]]
        slots = ring.shape[1]
        for n, cycle in enumerate(queue.free, queue.popped - len(queue.free)):
            ring[CYCLE, n % slots] = cycle
        for n, (kind, payload, ready, pushed) in enumerate(queue.tokens, queue.popped):
            ring[:, n % slots] = payload << KIND_BITS | kind, pushed + queue.latency
            if queue.off_chip:
                self.there[queue][n % slots] = ready
        self._set_ring(record, queue)
        record[C.LATENCY] = queue.latency
        record[C.POPPED] = queue.popped
        record[C.PUSHED] = queue.popped + len(queue.tokens)
        record[C.HIGH] = queue.high
        # Here from being available to the pop, there from the push.
        record[C.DWELL] = queue.dwell - queue.popped * queue.latency
        record[C.STARVED] = queue.starved
        record[C.LATE] = queue.late
        record[C.BLOCKED] = queue.blocked
        record[C.LOGGED] = queue.tap is not None
        record[C.NUMBER] = self.numbers[queue]
        record[C.VALS : C.VALS + 4] = queue.kinds

    def _ring(self, queue: Queue) -> Words:
        return self.rings[self.numbers[queue]]

    def _set_ring(self, record: Words, queue: Queue) -> None:
        ring = self._ring(queue)
        slots = ring.shape[1]
        record[C.TOKENS] = ring[TOKEN].ctypes.data
        record[C.CYCLES] = ring[CYCLE].ctypes.data
        record[C.MASK] = slots - 1
        record[C.SLOTS] = min(queue.depth, slots)
        record[C.SHORT] = queue.depth > slots
        if queue.off_chip:
            record[C.THERE] = self.there[queue].ctypes.data

    def _note_short(self) -> None:
        self.ports.set_short(bool(self.channels[:, C.SHORT].any()))

    def _load_worker(self, worker: Worker, record: Words, shape: ActorShape, limit: int, logs: bool) -> None:
        record[R.CODE] = loop_address(worker, logs)
        # The watched word differs from the one seen: the actor can go on.
        record[R.WATCH] = record.ctypes.data
        record[R.SEEN] = -1
        record[R.LAST] = worker.last
        record[R.FIRINGS] = worker.firings
        record[R.LIMIT] = limit
        record[R.SPACED] = worker.spaced
        record[R.STALLED] = worker.stalled
        record[R.LOG] = self.log.ctypes.data
        record[R.HELD] = worker.held
        if worker.access is not None:
            record[R.ACCESS] = self.ports.address_of(worker.access)
            record[R.LOOK] = self.ports.look
        record[R.WORD] = worker.pending_word()
        if worker.fault is not None:
            record[R.FAULT_CYCLE], record[R.FAULT] = worker.fault
            record[R.WATCH] = record.ctypes.data + 8 * R.SEEN
        record[R.GATE], record[R.GATE_WORDS] = self._keep(np.array(gate_words(worker), np.int64))
        if key_of(worker) is not None:
            assert worker.actor.spacing is not None
            updated = self.updated[worker] = np.full(worker.actor.spacing.words, NEVER, np.int64)
            for key, cycle in worker.updated.items():
                updated[key] = cycle
            record[R.UPDATED], _ = self._keep(updated)
            record[R.APART] = worker.actor.spacing.latency
        for i, queue in worker.inputs.items():
            record[shape.inputs + i] = self.channels[self.numbers[queue]].ctypes.data
        for n, queue in enumerate(queue for queues in worker.outputs for queue in queues):
            record[shape.queues + n] = self.channels[self.numbers[queue]].ctypes.data
        shape.load(worker, record)
        for n, store in enumerate(worker.memory):
            record[shape.stores + 2 * n : shape.stores + 2 * n + 2] = self._keep(array_of(store))

    def _keep(self, words: Words) -> tuple[int, int]:
        self.kept.append(words)
        return words.ctypes.data, len(words)

    def grow(self) -> bool:
        """Doubles the rings that are full; gives whether there were any."""
        grown = False
        for queue, record in zip(self.queues, self.channels, strict=True):
            if record[C.SHORT] and self._is_tight(queue, record):
                number = self.numbers[queue]
                old = self.rings[number]
                slots = old.shape[1]
                ring = np.zeros((2, 2 * slots), np.int64)
                tokens = int(record[C.PUSHED]) - 1 - np.arange(slots)
                ring[:, tokens % (2 * slots)] = old[:, tokens % slots]
                self.rings[number] = ring
                if queue.off_chip:
                    there = np.zeros(2 * slots, np.int64)
                    there[tokens % (2 * slots)] = self.there[queue][tokens % slots]
                    self.there[queue] = there
                self._set_ring(record, queue)
                grown = True
        if grown:
            self._note_short()
            for record, _ in self.records:
                if record[R.WORD]:
                    # It may have waited for the ring, not for a pop.
                    record[R.SEEN] = -1
        return grown

    def _is_tight(self, queue: Queue, record: Words) -> bool:
        """Whether a ring may keep a token out for which the channel has a slot."""
        before = int(record[C.PUSHED]) - int(record[C.SLOTS])
        ring = self.rings[self.numbers[queue]]
        producer, _ = self.records[self.position[queue.producer]]
        if before < 0:
            return False
        return before >= record[C.POPPED] or ring[CYCLE, before % ring.shape[1]] > producer[R.LAST] + 1

    def firings(self) -> int:
        """All firings so far; each worker's own count is brought up to date."""
        for worker, (record, _) in zip(self.workers, self.records, strict=True):
            worker.firings = int(record[R.FIRINGS])
        return sum(worker.firings for worker in self.workers)

    def cycle(self) -> int:
        """The latest cycle in which an actor has fired."""
        return max(int(record[R.LAST]) for record, _ in self.records)

    def drain_log(self) -> bool:
        """Shows the logged tokens to the taps, and empties the log; gives whether there were any."""
        count = int(self.log[L.COUNT])
        for number, push, pop, token in self.entries[:count].tolist():
            tap = self.queues[number].tap
            assert tap is not None
            tap(push, pop, token & 3, token >> 2)
        self.log[L.COUNT] = 0
        return count > 0

    def store(self) -> None:
        """Puts everything back into the workers and queues, and into off-chip memory."""
        self.ports.store()
        for queue, record in zip(self.queues, self.channels, strict=True):
            self._store_queue(queue, record)
        for worker, (record, shape) in zip(self.workers, self.records, strict=True):
            _store_worker(worker, record, shape)
        for worker, updated in self.updated.items():
            keys = np.flatnonzero(updated != NEVER)
            worker.updated = dict(zip(keys.tolist(), updated[keys].tolist(), strict=True))

    def _store_queue(self, queue: Queue, record: Words) -> None:
        ring = self.rings[self.numbers[queue]]
        popped, pushed = int(record[C.POPPED]), int(record[C.PUSHED])
        oldest = min(popped, pushed - int(record[C.SLOTS]))
        queue.free.clear()
        slots = ring.shape[1]
        queue.free.extend(int(ring[CYCLE, n % slots]) for n in range(oldest, popped))
        queue.spare = queue.depth - (pushed - oldest)
        queue.tokens.clear()
        consumer, port = queue.consumer, queue.port
        consumer.kind[port] = NONE
        for n in range(popped, pushed):
            token, ready = ring[:, n % slots].tolist()
            pushed = ready - queue.latency
            if queue.off_chip:
                ready = int(self.there[queue][n % slots])
            queue.append(token & 3, token >> KIND_BITS, ready, pushed)
        queue.popped = popped
        queue.high = max(int(record[C.HIGH]), int(record[C.HIGH_PUSHED]))
        queue.dwell = int(record[C.DWELL]) + popped * queue.latency
        queue.starved = int(record[C.STARVED])
        queue.late = int(record[C.LATE])
        queue.blocked = int(record[C.BLOCKED])
        queue.kinds = record[C.VALS : C.VALS + 4].tolist()
        queue.wanted = queue.full = False


def _store_worker(worker: Worker, record: Words, shape: ActorShape) -> None:
    worker.last = int(record[R.LAST])
    worker.firings = int(record[R.FIRINGS])
    worker.spaced = int(record[R.SPACED])
    worker.stalled = int(record[R.STALLED])
    worker.held = int(record[R.HELD])
    shape.store(worker, record)
    word = int(record[R.WORD])
    worker.pending = worker.plan(word) if word else None
    if record[R.FAULT]:
        worker.fault = int(record[R.FAULT_CYCLE]), int(record[R.FAULT])


def _slots(queue: Queue) -> int:
    """The slots of its ring to begin with."""
    # The slot behind the last one tells when the token before the oldest has left.
    slots = 1 << min(queue.depth, RING - 1).bit_length()
    while slots < len(queue.free) + len(queue.tokens):
        slots *= 2
    return slots
