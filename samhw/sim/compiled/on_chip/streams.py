"""A machine as records (layout.py) and back: compiled code goes on wherever the plain engine stopped."""

from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.primitives import Place
from samhw.primitives.step import NONE, fault_needs
from samhw.sim.compiled.actor import KIND_BITS, ActorShape, key_of, pending_word
from samhw.sim.compiled.gate import gate_words
from samhw.sim.compiled.on_chip.cycles import STATES, save_size
from samhw.sim.compiled.on_chip.functions import actor_addresses, phases_address
from samhw.sim.compiled.on_chip.layout import ENTRY, NEVER, A, C, G
from samhw.sim.compiled.order import forward
from samhw.sim.compiled.stores import array_of
from samhw.sim.engine import Between
from samhw.sim.fault import LATE
from samhw.sim.worker import Queue, Worker

__all__ = ["Streams"]

Words = NDArray[np.int64]

PHASE = 1 << 12
"""Firings of an actor in a phase, and so most tokens of a channel."""

AHEAD = 512
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
        self.before = {worker: worker.firings for worker in workers}
        self.position = {worker: n for n, worker in enumerate(self.workers)}
        shapes = [ActorShape.of(worker, len(A)) for worker in self.workers]
        sizes = [len(G), len(self.workers), len(self.queues), *(shape.words for shape in shapes)]
        (self.graph, actors, channels, *records), addresses = _cut(sizes)
        self.address, *tables = addresses[:3]
        del addresses[:3]
        self.records = list(zip(records, shapes, strict=True))
        self.kept: list[Words] = []
        """Arrays that records hold addresses of."""
        self.stores: dict[int, tuple[int, int]] = {}
        """Of each store by its identity: its address, and how many words it has."""
        self.private: list[tuple[Words, Words]] = []
        """Memories of actors, with what was in them."""
        self.updates: dict[Worker, tuple[Words, Words]] = {}
        self.channels = np.zeros((len(self.queues), len(C)), np.int64)
        first, far = self._keep(self.channels), self.channels.strides[0]
        where = {queue: first + n * far for n, queue in enumerate(self.queues)}
        places = dict(zip(self.workers, addresses, strict=True))
        self.graph[:] = array("q", self._graph_words(tables, limit, ahead))
        actors[:] = array("q", addresses)
        channels[:] = array("q", where.values())
        self.rows = self._load_queues(places)
        most = max(save_size(len(w.inputs), sum(map(len, w.outputs))) for w in self.workers)
        trails = np.empty((len(self.workers), ENTRY * (PHASE + 2)), np.int64)
        trails[:, :ENTRY] = 0
        saves = np.empty((len(self.workers), most * STATES), np.int64)
        spaces = self._keep(trails), self._keep(saves)
        firings = sum(self.before.values())
        cycle = max(worker.last for worker in workers)
        for n, (worker, (record, shape)) in enumerate(zip(self.workers, self.records, strict=True)):
            words = self._worker_words(worker, shape, places[worker], where)
            words[A.TRAIL] = spaces[0] + n * trails.strides[0] + 8 * ENTRY
            words[A.SAVES] = spaces[1] + n * saves.strides[0]
            record[:] = array("q", words)
            # Each may have had to be compiled.
            between(firings, cycle)
        self.code = phases_address()

    def _graph_words(self, tables: Sequence[int], limit: int, ahead: bool) -> list[int]:
        words = [0] * len(G)
        words[G.ACTORS], words[G.CHANNELS] = tables
        words[G.ACTOR_COUNT], words[G.CHANNEL_COUNT] = len(self.workers), len(self.queues)
        words[G.PHASE], words[G.LIMIT] = PHASE, limit
        words[G.CAREFUL] = 0 if ahead else NEVER
        return words

    def _load_queues(self, places: dict[Worker, int]) -> list[Words]:
        """Fills the records of channels; gives their rows."""
        fields = [
            (
                queue.depth,
                queue.latency,
                queue.popped,
                len(queue.tokens),
                len(queue.free),
                places[queue.producer],
                places[queue.consumer],
                queue.high,
                queue.dwell,
                queue.starved,
                queue.blocked,
                *queue.kinds,
            )
            for queue in self.queues
        ]
        depth, latency, popped, there, taken, *others = np.array(fields, np.int64).T
        room = np.minimum(depth, ROOM + there)
        size = 2 * (PHASE + room + self.ahead) + there + taken
        kept = popped - taken
        ends = np.cumsum(3 * size)
        space = np.empty(ends[-1], np.int64)
        first = self._keep(space) + 8 * (ends - 3 * size - kept)
        table = self.channels.T
        table[C.TOKENS], table[C.READY], table[C.FREE] = _row_addresses(first, size)
        table[C.BASE], table[C.KEPT], table[C.SIZE] = kept, kept, size
        table[C.DEPTH], table[C.LATENCY], table[C.ROOM] = depth, latency, room + self.ahead
        table[C.PUSHED] = table[C.TIMED_PUSHED] = popped + there
        table[C.POPPED] = table[C.TIMED_POPPED] = popped
        table[C.PRODUCER], table[C.CONSUMER] = others[:2]
        table[C.HIGH], table[C.DWELL], table[C.STARVED], table[C.BLOCKED] = others[2:6]
        table[C.VALS : C.VALS + 4] = others[6:]
        rows = [
            space[end - 3 * n : end].reshape(3, n)
            for end, n in zip(ends.tolist(), size.tolist(), strict=True)
        ]
        for queue, (tokens, ready, free) in zip(self.queues, rows, strict=True):
            free[: len(queue.free)] = queue.free
            for n, (kind, payload, cycle, _) in enumerate(queue.tokens, len(queue.free)):
                tokens[n], ready[n] = payload << KIND_BITS | kind, cycle
        return rows

    def _worker_words(
        self, worker: Worker, shape: ActorShape, address: int, where: dict[Queue, int]
    ) -> list[int]:
        outputs = [queue for queues in worker.outputs for queue in queues]
        words = [0] * shape.words
        words[A.FIRE], words[A.TIME] = actor_addresses(worker)
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
        words[A.SAVE_WORDS] = save_size(len(worker.inputs), len(outputs))
        words[A.WORD] = pending_word(worker)
        if worker.fault is not None:
            words[A.FAULT] = worker.fault[1]
            words[A.WATCH] = address + 8 * A.SEEN
        if worker.gate is not None:
            gate = np.array(gate_words(worker), np.int64)
            words[A.GATE], words[A.GATE_WORDS] = self._keep(gate), len(gate)
        if key_of(worker) is not None:
            self._load_spacing(worker, words)
        for i, queue in worker.inputs.items():
            words[shape.inputs + i] = where[queue]
        words[shape.queues : shape.out_kind] = [where[queue] for queue in outputs]
        shape.load(worker, words)
        words[shape.stores :] = [word for store in self._stores(worker) for word in store]
        return words

    def _stores(self, worker: Worker) -> list[tuple[int, int]]:
        """The address of each of a worker's stores, and how many words it has."""
        declared = {n for n, store in enumerate(worker.actor.memory) if store.place is Place.PRIVATE}
        for n, store in enumerate(worker.memory):
            if id(store) not in self.stores:
                words = array_of(store)
                if n in declared:
                    self.private.append((words, words.copy()))
                self.stores[id(store)] = self._keep(words), len(words)
        return [self.stores[id(store)] for store in worker.memory]

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
            worker.firings = record[A.TIMED]
        return sum(worker.firings for worker in self.workers)

    def cycle(self) -> int:
        """The latest cycle in which an actor has fired."""
        return max(record[A.LAST] for record, _ in self.records)

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
                first = rows.ctypes.data - 8 * record[C.BASE]
                record[C.TOKENS], record[C.READY], record[C.FREE] = _row_addresses(first, record[C.SIZE])

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
        limit = self.graph[G.LIMIT]
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
        for queue, words, rows in zip(self.queues, self.channels.tolist(), self.rows, strict=True):
            _store_queue(queue, words, rows)
        for worker, (record, shape) in zip(self.workers, self.records, strict=True):
            _store_worker(worker, record, shape, self.graph[G.LIMIT])
        for worker, (keys, recent) in self.updates.items():
            assert worker.actor.spacing is not None
            late = np.flatnonzero(keys > worker.firings - worker.actor.spacing.latency)
            worker.updated = {key: int(recent[keys[key] % len(recent)]) for key in late.tolist()}


def _cut(sizes: Sequence[int]) -> tuple[list[memoryview], list[int]]:
    """Words of memory, zero, in parts of these sizes, and the addresses of those."""
    words = array("q", bytes(8 * sum(sizes)))
    whole, first = memoryview(words), words.buffer_info()[0]
    ends = list(accumulate(sizes, initial=0))
    return [whole[begin:end] for begin, end in pairwise(ends)], [first + 8 * end for end in ends[:-1]]


def _row_addresses(first: Any, size: Any) -> tuple[Any, Any, Any]:
    """The addresses of a token in a channel's rows, from that in the first one and the words of a row."""
    return first, first + 8 * size, first + 16 * size


def _store_queue(queue: Queue, record: list[int], rows: Words) -> None:
    base, kept = record[C.BASE], record[C.KEPT]
    popped, pushed = record[C.TIMED_POPPED], record[C.TIMED_PUSHED]
    kept = max(kept, pushed - queue.depth)
    queue.free.clear()
    queue.free.extend(rows[2, kept - base : popped - base].tolist())
    queue.spare = queue.depth - (pushed - kept)
    queue.tokens.clear()
    queue.consumer.kind[queue.port] = NONE
    if pushed > popped:
        for token, ready in rows[:2, popped - base : pushed - base].T.tolist():
            queue.append(token & 3, token >> KIND_BITS, ready, ready - queue.latency)
    queue.popped = popped
    queue.high = record[C.HIGH]
    queue.dwell = record[C.DWELL]
    queue.starved = record[C.STARVED]
    queue.blocked = record[C.BLOCKED]
    queue.kinds = record[C.VALS : C.VALS + 4]
    queue.wanted = queue.full = False


def _store_worker(worker: Worker, record: memoryview, shape: ActorShape, limit: int) -> None:
    worker.last = record[A.LAST]
    worker.firings = record[A.TIMED]
    worker.spaced = record[A.SPACED]
    worker.stalled = record[A.STALLED]
    shape.store(worker, record)
    word = record[A.WORD]
    worker.pending = worker.plan(word) if word else None
    if worker.fault is not None:
        return
    if limit < record[A.NEXT] < NEVER:
        worker.fault = record[A.NEXT], LATE
    elif record[A.FAULT] and record[A.FOUND] == record[A.TIMED]:
        fault = record[A.FAULT]
        needs = fault_needs(fault)
        heads = [
            (queue.tokens[0][2] if queue.tokens else NEVER)
            for i, queue in worker.inputs.items()
            if needs >> i & 1
        ]
        cycle = max(worker.last + 1, *heads, 0)
        if cycle < NEVER:
            worker.fault = cycle, fault
