"""A machine as records, and back: compiled code goes on wherever the plain engine stopped."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samhw.primitives import Place
from samhw.primitives.step import NONE, fault_needs
from samhw.sim.compiled.functions import find_address, key_of, phases_address, time_address
from samhw.sim.compiled.gate import gate_words
from samhw.sim.compiled.order import forward
from samhw.sim.compiled.phases import SLACK
from samhw.sim.compiled.points import point_words, points_of_phase
from samhw.sim.compiled.records import KIND_BITS, NEVER, Actor, Channel, Graph
from samhw.sim.compiled.stores import array_of
from samhw.sim.fault import LATE
from samhw.sim.worker import Queue, Worker

__all__ = ["Image"]

Words = NDArray[np.int64]

PHASE = 1 << 12
"""Firings of an actor in a phase, and so most tokens of a channel."""

AHEAD = 512
"""Tokens by which a producer may run ahead of its channel's depth."""

ROOM = 1 << 10
"""Tokens that there is room for at first in channels that are deeper than that."""

WORTH = 4
"""So many times over actors are timed before assumptions are given up."""

LONG_AGO = -NEVER


class Image:
    """The records of workers and of the channels between them.

    Attributes:
        address: the record of the graph.
        code: address of the compiled `run_phases`.
    """

    def __init__(self, workers: Sequence[Worker], limit: int, ahead: bool):
        """
        Args:
            workers: all of them.
            limit: the last cycle of a firing.
            ahead: producers may run ahead of the depths of channels, and cycles be assumed. Else nothing is
                found that cannot be timed, and everything is left in the end as it was when nobody could go
                on.
        """
        self.workers = forward(workers)
        self.queues = [queue for worker in self.workers for queue in worker.inputs.values()]
        self.ahead = AHEAD if ahead else 0
        self.before = {worker: worker.firings for worker in workers}
        self.position = {worker: n for n, worker in enumerate(self.workers)}
        self._kept: list[Words] = []
        """Arrays that records hold addresses of."""
        self._stores: dict[int, tuple[int, int]] = {}
        """Of each store by its identity: its address, and how many words it has."""
        self._private: list[tuple[Words, Words]] = []
        """Memories of actors, with what was in them."""
        self.history = 1 + max((w.actor.spacing.latency for w in workers if w.actor.spacing), default=0)
        channels = self._keep(np.zeros((len(self.queues), Channel.WORDS), np.int64))
        self.where = {queue: channels + 8 * Channel.WORDS * n for n, queue in enumerate(self.queues)}
        self.channels = [Channel.at(address) for address in self.where.values()]
        actors = self._keep(np.zeros((len(self.workers), Actor.WORDS), np.int64))
        places = [actors + 8 * Actor.WORDS * n for n in range(len(self.workers))]
        self.actors = [Actor.at(address) for address in places]
        self.rows = [self._load_queue(*pair) for pair in zip(self.queues, self.channels, strict=True)]
        self.cycles: dict[Worker, Words] = {}
        self.keys: dict[Worker, Words] = {}
        self.pending: dict[Worker, Words] = {}
        """State, and tokens that are about to be pushed."""
        for worker, actor in zip(self.workers, self.actors, strict=True):
            self._load_worker(worker, actor)
        for queue, channel in zip(self.queues, self.channels, strict=True):
            channel.producer = places[self.position[queue.producer]]
            channel.consumer = places[self.position[queue.consumer]]
        self.address = self._keep(np.zeros(Graph.WORDS, np.int64))
        self.graph = graph = Graph.at(self.address)
        graph.actors, graph.actor_count = self._list(places), len(places)
        graph.channels, graph.channel_count = self._list(list(self.where.values())), len(self.queues)
        graph.phase, graph.history, graph.worth = PHASE, self.history, WORTH
        graph.limit = min(limit, NEVER - 1)
        graph.careful = 0 if ahead else NEVER
        self.code = phases_address()

    def _keep(self, words: Words) -> int:
        self._kept.append(words)
        return words.ctypes.data

    def _list(self, words: Sequence[int]) -> int:
        return self._keep(np.array(words, np.int64))

    def _load_queue(self, queue: Queue, channel: Channel) -> Words:
        """Fills a channel's record; gives its rows."""
        taken, there = len(queue.free), len(queue.tokens)
        room = min(queue.depth, ROOM + there)
        size = PHASE + SLACK + 2 * (room + self.ahead) + there + taken + 1
        rows = np.zeros((3, size), np.int64)
        # One word for slots that have long been free.
        rows[2, 1 : 1 + taken] = queue.free
        for n, (kind, payload, ready, _) in enumerate(queue.tokens, 1 + taken):
            rows[:2, n] = payload << KIND_BITS | kind, ready
        channel.base = channel.guard = queue.popped - taken - 1
        channel.size = size
        self._set_rows(channel, rows)
        channel.depth, channel.latency, channel.room = queue.depth, queue.latency, room + self.ahead
        channel.pushed = channel.timed_pushed = queue.popped + there
        channel.popped = channel.timed_popped = queue.popped
        channel.high, channel.dwell = queue.high, queue.dwell
        channel.starved, channel.blocked = queue.starved, queue.blocked
        channel.vals, channel.stops, channel.empties, channel.dones = queue.kinds
        return rows

    def _set_rows(self, channel: Channel, rows: Words) -> None:
        first = rows.ctypes.data - 8 * channel.base
        channel.tokens, channel.ready, channel.freed = (first + n * rows.strides[0] for n in range(3))

    def _load_worker(self, worker: Worker, actor: Actor) -> None:
        outputs = [queue for queues in worker.outputs for queue in queues]
        actor.find, actor.time = find_address(worker), time_address(worker)
        actor.inputs = self._list([self.where[worker.inputs[i]] for i in range(len(worker.inputs))])
        actor.outputs = self._list([self.where[queue] for queue in outputs])
        actor.input_count, actor.output_count = len(worker.inputs), len(outputs)
        actor.stores = self._list([word for store in worker.memory for word in self._store(worker, store)])
        pending = np.array([*worker.out_kind, *worker.out_data, *worker.state], np.int64)
        self.pending[worker] = pending
        actor.tokens = self._keep(pending)
        actor.state = actor.tokens + 16 * len(worker.out_kind)
        actor.word = _pending_word(worker)
        # The watched word differs from the one seen: the actor can go on.
        actor.watch, actor.seen = self._list([0]), -1
        if worker.fault is not None:
            actor.seen = 0
        position = self.position[worker]
        actor.earlier = min([position, *(self.position[queue.consumer] for queue in outputs)])
        rows = np.zeros((3, self.history + PHASE + SLACK), np.int64)
        rows[2, : self.history] = worker.last
        actor.base = worker.firings - self.history
        first = self._keep(rows) - 8 * actor.base
        actor.words, actor.ago, actor.cycles = (first + n * rows.strides[0] for n in range(3))
        actor.found = actor.timed = worker.firings
        self.cycles[worker] = rows[2]
        points = points_of_phase(PHASE) * point_words(len(worker.inputs), len(outputs))
        actor.points = self._keep(np.zeros(points, np.int64))
        actor.spaced, actor.stalled = worker.spaced, worker.stalled
        actor.gate = self._list(gate_words(worker))
        actor.gate_words = len(gate_words(worker))
        if key_of(worker) is not None:
            self._load_spacing(worker, actor)

    def _store(self, worker: Worker, store: object) -> tuple[int, int]:
        """The address of one of a worker's stores, and how many words it has."""
        if id(store) not in self._stores:
            words = array_of(store)
            places = zip(worker.memory, worker.actor.memory, strict=False)
            if any(s is store and declared.place is Place.PRIVATE for s, declared in places):
                self._private.append((words, words.copy()))
            self._stores[id(store)] = self._keep(words), len(words)
        return self._stores[id(store)]

    def _load_spacing(self, worker: Worker, actor: Actor) -> None:
        spacing = worker.actor.spacing
        assert spacing is not None
        keys = np.full(spacing.words, LONG_AGO, np.int64)
        # As if the last firings were those that left a key behind: they were no more recent than that.
        latest = sorted(worker.updated.items(), key=lambda item: -item[1])[: spacing.latency]
        first = 1 if latest and latest[0][1] == worker.last else 2
        for ago, (key, cycle) in enumerate(latest, first):
            if ago < self.history:
                keys[key] = worker.firings - ago
                self.cycles[worker][self.history - ago] = cycle
        self.keys[worker] = keys
        actor.keys, actor.apart = self._keep(keys), spacing.latency

    def firings(self) -> int:
        """All firings so far; each worker's own count is brought up to date."""
        for worker, actor in zip(self.workers, self.actors, strict=True):
            worker.firings = actor.timed
        return sum(worker.firings for worker in self.workers)

    def last(self, worker: Worker) -> int:
        """The cycle of a worker's last firing."""
        actor = self.actors[self.position[worker]]
        return int(self.cycles[worker][actor.timed - 1 - actor.base])

    def cycle(self) -> int:
        """The latest cycle in which an actor has fired."""
        return max(map(self.last, self.workers))

    def show_taps(self, window: tuple[int, int], seen: dict[Queue, int]) -> None:
        """Shows the tokens popped since to the taps.

        Args:
            window: the first cycle whose pops they see, and the cycle behind the last one.
            seen: how many tokens of each channel they have seen, which is brought up to date.
        """
        begin, end = window
        for queue, channel, rows in zip(self.queues, self.channels, self.rows, strict=True):
            tap = queue.tap
            if tap is None:
                continue
            first = seen.get(queue, queue.popped)
            seen[queue] = max(first, channel.timed_popped)
            part = slice(first - channel.base, seen[queue] - channel.base)
            for token, ready, freed in rows[:, part].T.tolist():
                if begin <= freed - 1 < end:
                    tap(ready - queue.latency, freed - 1, token & 3, token >> KIND_BITS)

    def lengthen(self) -> None:
        """Doubles the rows in which there is no room for another phase."""
        for n, channel in enumerate(self.channels):
            if channel.pushed + PHASE + SLACK > channel.base + channel.size:
                rows = np.zeros((3, 2 * channel.size), np.int64)
                rows[:, : channel.size] = self.rows[n]
                channel.size *= 2
                self.rows[n] = rows
                self._set_rows(channel, rows)

    def widen(self) -> bool:
        """Doubles the room of channels that are full, but not to their depths; gives if there are any."""
        widened = False
        for queue, channel in zip(self.queues, self.channels, strict=True):
            most = queue.depth + self.ahead
            if channel.pushed - channel.popped == channel.room < most:
                channel.room = min(2 * channel.room, most)
                self.actors[self.position[queue.producer]].seen = -1
                widened = True
        return widened

    def is_clean(self) -> bool:
        """Whether all that was found is timed, and nothing went wrong."""
        return all(actor.fault == 0 and actor.found == actor.timed for actor in self.actors)

    def undo(self) -> None:
        """Puts back what a run changes before `store`."""
        for words, before in self._private:
            words[:] = before
        for worker, firings in self.before.items():
            worker.firings = firings

    def store(self) -> None:
        """Puts everything back into the workers and queues, as far as it is timed."""
        for queue, channel, rows in zip(self.queues, self.channels, self.rows, strict=True):
            _store_queue(queue, channel, rows)
        for worker, actor in zip(self.workers, self.actors, strict=True):
            self._store_worker(worker, actor)

    def _store_worker(self, worker: Worker, actor: Actor) -> None:
        worker.last, worker.firings = self.last(worker), actor.timed
        worker.spaced, worker.stalled = actor.spaced, actor.stalled
        words = self.pending[worker].tolist()
        outputs = len(worker.outputs)
        worker.out_kind[:], worker.out_data[:] = words[:outputs], words[outputs : 2 * outputs]
        worker.state[:] = words[2 * outputs :]
        worker.pending = worker.plan(actor.word) if actor.word else None
        if worker in self.keys:
            keys = self.keys[worker]
            late = np.flatnonzero(keys > worker.firings - actor.apart)
            cycles = self.cycles[worker][keys[late] - actor.base]
            worker.updated = dict(zip(late.tolist(), cycles.tolist(), strict=True))
        if worker.fault is not None:
            return
        if self.graph.limit < actor.beyond < NEVER:
            worker.fault = actor.beyond, LATE
        elif actor.fault and actor.found == actor.timed:
            needs = fault_needs(actor.fault)
            heads = [_ready(queue) for i, queue in worker.inputs.items() if needs >> i & 1]
            cycle = max(worker.last + 1, *heads, 0)
            if cycle < NEVER:
                worker.fault = cycle, actor.fault


def _ready(queue: Queue) -> int:
    """The first cycle in which the head of a queue is available."""
    return queue.tokens[0][2] if queue.tokens else NEVER


def _pending_word(worker: Worker) -> int:
    """The word of the firing that is decided but lacks a slot, or 0."""
    if worker.pending is None:
        return 0
    return next(word for word, plan in worker.plans.items() if plan is worker.pending)


def _store_queue(queue: Queue, channel: Channel, rows: Words) -> None:
    popped, pushed, base = channel.timed_popped, channel.timed_pushed, channel.base
    kept = max(channel.guard + 1, pushed - queue.depth)
    queue.free.clear()
    queue.free.extend(rows[2, kept - base : popped - base].tolist())
    queue.spare = queue.depth - (pushed - kept)
    queue.tokens.clear()
    queue.consumer.kind[queue.port] = NONE
    for token, ready in rows[:2, popped - base : pushed - base].T.tolist():
        queue.append(token & 3, token >> KIND_BITS, ready, ready - queue.latency)
    queue.popped, queue.high, queue.dwell = popped, channel.high, channel.dwell
    queue.starved, queue.blocked = channel.starved, channel.blocked
    queue.kinds = [channel.vals, channel.stops, channel.empties, channel.dones]
    queue.wanted = queue.full = False
