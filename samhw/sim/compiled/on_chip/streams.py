"""A machine as records (layout.py) and back: compiled code goes on wherever the plain engine stopped."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samhw.primitives import Place
from samhw.primitives.step import NONE, fault_needs
from samhw.sim.compiled.actor import KIND_BITS, ActorShape
from samhw.sim.compiled.gate import gate_words
from samhw.sim.compiled.on_chip.cycles import STATES, save_size
from samhw.sim.compiled.on_chip.functions import cycles_address, phases_address, tokens_address
from samhw.sim.compiled.on_chip.layout import ENTRY, NEVER, A, C, G
from samhw.sim.compiled.order import forward
from samhw.sim.compiled.stores import array_of
from samhw.sim.engine import Between
from samhw.sim.fault import LATE
from samhw.sim.machine import Queue, Worker

__all__ = ["Streams"]

Words = NDArray[np.int64]

PHASE = 1 << 11
"""Firings of an actor in a phase, and so most tokens of a channel."""

AHEAD = 256
"""Tokens by which a producer may run ahead of its channel's depth."""

ROOM = 1 << 10
"""Tokens that there is room for at first in channels that are deeper than that."""

LONG_AGO = -(1 << 62)


class Streams:
    """The records of workers and of the channels between them.

    Attributes:
        address: the record of the graph (`G`).
        code: address of the compiled `run_phases`.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        limit: int,
        window: tuple[int, int],
        between: Between,
        ahead: bool,
        seen: dict[Queue, int],
    ):
        """
        Args:
            workers: all of them.
            limit: the last cycle of a firing.
            window: the cycles whose pops the taps see.
            between: is called after each function that may have had to be compiled.
            ahead: producers may run ahead of the depths of channels, and pops be assumed. Else everything is
                left in the end as it was when nobody could go on.
            seen: the tokens that taps have seen in a run before, by channel.
        """
        self.workers = forward(workers)
        self.queues = [queue for worker in self.workers for queue in worker.inputs.values()]
        self.ahead = AHEAD if ahead else 0
        self.window = window
        self.seen = seen
        self.tapped = [(n, queue) for n, queue in enumerate(self.queues) if queue.tap is not None]
        shapes = [ActorShape.of(worker, len(A)) for worker in self.workers]
        sizes = [len(G), len(self.workers), len(self.queues), len(self.queues) * len(C)]
        whole = np.zeros(sum(sizes) + sum(shape.words for shape in shapes), np.int64)
        parts = np.split(whole, np.cumsum([*sizes, *(shape.words for shape in shapes)])[:-1])
        self.graph, actors, channels, records, *rest = parts
        self.channels = records.reshape(len(self.queues), len(C))
        self.records = list(zip(rest, shapes, strict=True))
        actors[:] = [record.ctypes.data for record in rest]
        channels[:] = records.ctypes.data + 8 * len(C) * np.arange(len(self.queues))
        self.address = self.graph.ctypes.data
        self.graph[G.ACTORS], self.graph[G.ACTOR_COUNT] = actors.ctypes.data, len(actors)
        self.graph[G.CHANNELS], self.graph[G.CHANNEL_COUNT] = channels.ctypes.data, len(channels)
        self.graph[G.PHASE], self.graph[G.LIMIT] = PHASE, limit
        self.graph[G.CAREFUL] = 0 if ahead else NEVER
        self.kept: list[Words] = []
        """Arrays that records hold addresses of."""
        self.private: list[tuple[Words, Words]] = []
        """Memories of actors, with what was in them."""
        self.updates: dict[Worker, tuple[Words, Words]] = {}
        places = dict(zip(self.workers, actors.tolist(), strict=True))
        self.before = {worker: worker.firings for worker in workers}
        self.position = {worker: n for n, worker in enumerate(self.workers)}
        self.rows = [
            self._load_queue(queue, record, places)
            for queue, record in zip(self.queues, self.channels, strict=True)
        ]
        addresses = dict(zip(self.queues, channels.tolist(), strict=True))
        firings = sum(worker.firings for worker in workers)
        cycle = max(worker.last for worker in workers)
        for worker, (record, shape) in zip(self.workers, self.records, strict=True):
            self._load_worker(worker, record, shape, addresses)
            # Each may have had to be compiled.
            between(firings, cycle)
        self.code = phases_address()

    def _load_queue(self, queue: Queue, record: Words, places: dict[Worker, int]) -> Words:
        kept = queue.popped - len(queue.free)
        pushed = queue.popped + len(queue.tokens)
        room = min(queue.depth, ROOM + len(queue.tokens))
        size = 2 * (PHASE + room + self.ahead) + pushed - kept
        rows = np.empty((3, size), np.int64)
        rows[2, : len(queue.free)] = queue.free
        for n, (kind, payload, ready, _) in enumerate(queue.tokens, len(queue.free)):
            rows[0, n], rows[1, n] = payload << KIND_BITS | kind, ready
        words = [0] * len(C)
        words[C.BASE] = words[C.KEPT] = kept
        words[C.SIZE] = size
        words[C.TOKENS], words[C.READY], words[C.FREE] = _row_addresses(rows, kept)
        words[C.ROOM] = room + self.ahead
        words[C.DEPTH] = queue.depth
        words[C.LATENCY] = queue.latency
        words[C.PUSHED] = words[C.TIMED_PUSHED] = pushed
        words[C.POPPED] = words[C.TIMED_POPPED] = queue.popped
        words[C.PRODUCER], words[C.CONSUMER] = places[queue.producer], places[queue.consumer]
        words[C.HIGH] = queue.high
        words[C.DWELL] = queue.dwell
        words[C.STARVED] = queue.starved
        words[C.BLOCKED] = queue.blocked
        words[C.VALS : C.VALS + 4] = queue.kinds
        record[:] = words
        return rows

    def _load_worker(
        self, worker: Worker, record: Words, shape: ActorShape, addresses: dict[Queue, int]
    ) -> None:
        address = record.ctypes.data
        outputs = [queue for queues in worker.outputs for queue in queues]
        save_words = save_size(len(worker.inputs), len(outputs))
        words = [0] * shape.words
        words[A.FIRE] = tokens_address(worker)
        words[A.TIME] = cycles_address(worker)
        # The watched word differs from the one seen: the actor can go on.
        words[A.WATCH] = address
        words[A.SEEN] = -1
        position = self.position[worker]
        words[A.EARLIER] = min([position, *(self.position[queue.consumer] for queue in outputs)])
        words[A.LAST] = worker.last
        words[A.FOUND] = words[A.TIMED] = worker.firings
        words[A.NEXT] = NEVER
        words[A.SPACED] = worker.spaced
        words[A.STALLED] = worker.stalled
        words[A.TRAIL] = self._keep(np.empty(ENTRY * (PHASE + 1), np.int64))
        words[A.SAVES] = self._keep(np.empty(save_words * STATES, np.int64))
        words[A.SAVE_WORDS] = save_words
        if worker.pending is not None:
            words[A.WORD] = next(word for word, plan in worker.plans.items() if plan is worker.pending)
        if worker.fault is not None:
            words[A.FAULT] = worker.fault[1]
            words[A.WATCH] = address + 8 * A.SEEN
        gate = np.array(gate_words(worker), np.int64)
        words[A.GATE], words[A.GATE_WORDS] = self._keep(gate), len(gate)
        if worker.actor.spacing is not None:
            self._load_spacing(worker, words)
        for i, queue in worker.inputs.items():
            words[shape.inputs + i] = addresses[queue]
        words[shape.queues : shape.out_kind] = [addresses[queue] for queue in outputs]
        shape.load(worker, words)
        for n, store in enumerate(worker.memory):
            array = array_of(store)
            if any(declared.place is Place.PRIVATE for declared in worker.actor.memory[n : n + 1]):
                self.private.append((array, array.copy()))
            words[shape.stores + 2 * n] = self._keep(array)
            words[shape.stores + 2 * n + 1] = len(array)
        record[:] = words

    def _load_spacing(self, worker: Worker, words: list[int]) -> None:
        spacing = worker.actor.spacing
        assert spacing is not None
        keys = np.full(spacing.words, LONG_AGO, np.int64)
        size = 1 << (PHASE + spacing.latency + 1).bit_length()
        recent = np.empty(size, np.int64)
        # As if the last firings were those that left a key behind: they were no more recent than that.
        latest = sorted(worker.updated.items(), key=lambda item: -item[1])
        for ago, (key, cycle) in enumerate(latest[: spacing.latency], 1):
            keys[key] = worker.firings - ago
            recent[(worker.firings - ago) % size] = cycle
        self.updates[worker] = keys, recent
        words[A.KEYS] = self._keep(keys)
        words[A.APART] = spacing.latency
        words[A.RECENT], words[A.RECENT_MASK] = self._keep(recent), size - 1

    def _keep(self, words: Words) -> int:
        self.kept.append(words)
        return words.ctypes.data

    def firings(self) -> int:
        """All firings so far; each worker's own count is brought up to date."""
        for worker, (record, _) in zip(self.workers, self.records, strict=True):
            worker.firings = int(record[A.TIMED])
        return sum(worker.firings for worker in self.workers)

    def cycle(self) -> int:
        """The latest cycle in which an actor has fired."""
        return max(int(record[A.LAST]) for record, _ in self.records)

    def show_taps(self) -> None:
        """Shows the tokens popped since to the taps."""
        begin, end = self.window
        for n, queue in self.tapped:
            record, rows = self.channels[n], self.rows[n]
            tap = queue.tap
            assert tap is not None
            base, popped = int(record[C.BASE]), int(record[C.TIMED_POPPED])
            first = self.seen.get(queue, queue.popped)
            self.seen[queue] = max(first, popped)
            part = slice(first - base, max(first, popped) - base)
            for token, ready, free in rows[:, part].T.tolist():
                if begin <= free - 1 < end:
                    tap(ready - queue.latency, free - 1, token & 3, token >> KIND_BITS)

    def lengthen(self) -> None:
        """Doubles the rows in which there is no room for another phase."""
        for n, record in enumerate(self.channels):
            if record[C.PUSHED] + PHASE > record[C.BASE] + record[C.SIZE]:
                rows = np.empty((3, 2 * record[C.SIZE]), np.int64)
                rows[:, : record[C.SIZE]] = self.rows[n]
                record[C.SIZE] *= 2
                self.rows[n] = rows
                record[[C.TOKENS, C.READY, C.FREE]] = _row_addresses(rows, int(record[C.BASE]))

    def widen(self) -> bool:
        """Doubles the room of channels that are full, but not to their depths; gives if there are any."""
        widened = False
        for queue, record in zip(self.queues, self.channels, strict=True):
            room = int(record[C.ROOM])
            if record[C.PUSHED] - record[C.POPPED] == room < queue.depth + self.ahead:
                record[C.ROOM] = min(2 * room, queue.depth + self.ahead)
                self.records[self.position[queue.producer]][0][A.SEEN] = -1
                widened = True
        return widened

    def is_clean(self) -> bool:
        """Whether all that was found is timed, and nothing went wrong."""
        return all(record[A.FAULT] == 0 and record[A.FOUND] == record[A.TIMED] for record, _ in self.records)

    def is_timed(self) -> bool:
        """Whether all that was found is timed, up to the limit."""
        limit = int(self.graph[G.LIMIT])
        late = any(limit < record[A.NEXT] < NEVER for record, _ in self.records)
        return late or all(record[A.FOUND] == record[A.TIMED] for record, _ in self.records)

    def undo(self) -> None:
        """Puts back what a run changes before `store`."""
        for words, before in self.private:
            words[:] = before
        for worker, firings in self.before.items():
            worker.firings = firings

    def store(self) -> None:
        """Puts everything back into the workers and queues, as far as it is timed."""
        for queue, record, rows in zip(self.queues, self.channels, self.rows, strict=True):
            _store_queue(queue, record, rows)
        for worker, (record, shape) in zip(self.workers, self.records, strict=True):
            _store_worker(worker, record, shape, int(self.graph[G.LIMIT]))
        for worker, (keys, recent) in self.updates.items():
            assert worker.actor.spacing is not None
            late = np.flatnonzero(keys > worker.firings - worker.actor.spacing.latency)
            worker.updated = {key: int(recent[keys[key] % len(recent)]) for key in late.tolist()}


def _row_addresses(rows: Words, base: int) -> tuple[int, int, int]:
    """The addresses that token 0 would have in each row, if they begin with some token."""
    first = rows.ctypes.data - 8 * base
    return first, first + 8 * rows.shape[1], first + 16 * rows.shape[1]


def _store_queue(queue: Queue, record: Words, rows: Words) -> None:
    base, kept = int(record[C.BASE]), int(record[C.KEPT])
    popped, pushed = int(record[C.TIMED_POPPED]), int(record[C.TIMED_PUSHED])
    kept = max(kept, pushed - queue.depth)
    queue.free.clear()
    queue.free.extend(rows[2, kept - base : popped - base].tolist())
    queue.spare = queue.depth - (pushed - kept)
    queue.tokens.clear()
    queue.consumer.kind[queue.port] = NONE
    for token, ready in rows[:2, popped - base : pushed - base].T.tolist():
        queue.append(token & 3, token >> KIND_BITS, ready, ready - queue.latency)
    queue.popped = popped
    queue.high = int(record[C.HIGH])
    queue.dwell = int(record[C.DWELL])
    queue.starved = int(record[C.STARVED])
    queue.blocked = int(record[C.BLOCKED])
    queue.kinds = record[C.VALS : C.VALS + 4].tolist()
    queue.wanted = queue.full = False


def _store_worker(worker: Worker, record: Words, shape: ActorShape, limit: int) -> None:
    worker.last = int(record[A.LAST])
    worker.firings = int(record[A.TIMED])
    worker.spaced = int(record[A.SPACED])
    worker.stalled = int(record[A.STALLED])
    shape.store(worker, record)
    word = int(record[A.WORD])
    worker.pending = worker.plan(word) if word else None
    if worker.fault is not None:
        return
    if limit < record[A.NEXT] < NEVER:
        worker.fault = int(record[A.NEXT]), LATE
    elif record[A.FAULT] and record[A.FOUND] == record[A.TIMED]:
        fault = int(record[A.FAULT])
        needs = fault_needs(fault)
        heads = [
            (queue.tokens[0][2] if queue.tokens else NEVER)
            for i, queue in worker.inputs.items()
            if needs >> i & 1
        ]
        cycle = max(worker.last + 1, *heads, 0)
        if cycle < NEVER:
            worker.fault = cycle, fault
