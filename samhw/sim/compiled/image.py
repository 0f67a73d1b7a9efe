"""A machine as records, and back: compiled code goes on wherever the plain engine stopped."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samhw.primitives import Place
from samhw.primitives.step import NONE, fault_needs
from samhw.sim.compiled.functions import code_of, key_of, many_address, phases_address, ports_of
from samhw.sim.compiled.gate import gate_words
from samhw.sim.compiled.many_firings import SCRATCH
from samhw.sim.compiled.off_chip.image import LinesImage
from samhw.sim.compiled.order import forward
from samhw.sim.compiled.phases import SLACK
from samhw.sim.compiled.points import points_words
from samhw.sim.compiled.records import KIND_BITS, NEVER, ActorRecord, ChannelRecord, GraphRecord
from samhw.sim.compiled.stores import array_of
from samhw.sim.fault import LATE
from samhw.sim.ports import Arbiter
from samhw.sim.worker import Queue, Worker

__all__ = ["Image"]

Words = NDArray[np.int64]

PHASE = 1 << 12
"""Firings of an actor in a phase, and so most tokens of a channel."""

AHEAD = 512
"""Tokens by which a producer may run ahead of its channel's depth."""

ROOM = 1 << 10
"""Tokens that there is room for at first in channels that are deeper than that."""

WORTH = 8
"""So many times over actors are timed before assumptions are given up."""

LONG_AGO = -NEVER

TIMED, LAST = map(ActorRecord.FIELDS.index, ("timed", "last"))
"""Columns of a table of actors."""

ROW_NAMES = ("tokens", "ready", "freed", "come", "brought")
"""The rows of a channel. It has the last two only if its tokens may carry data from off-chip memory."""
TOKENS, READY, FREED, COME = range(4)
ROWS, LATE_ROWS = 3, 5


class _Arena:
    """Words of memory that are given away piece by piece."""

    def __init__(self, words: int):
        self.words = np.empty(words, np.int64)
        self.used = 0
        self._first = self.words.ctypes.data

    def put(self, words: Sequence[int]) -> int:
        """Puts some words down; gives their address."""
        begin = self.used
        self.used += len(words)
        self.words[begin : self.used] = words
        return self._first + 8 * begin


class Image:
    """The records of workers and of the channels between them.

    Attributes:
        address: the record of the graph.
        code: address of the compiled `run_phases`.
    """

    def __init__(self, workers: Sequence[Worker], limit: int, arbiter: Arbiter | None, ahead: bool):
        """
        Args:
            workers: all of them.
            limit: the last cycle of a firing.
            arbiter: serves those that have memories off chip.
            ahead: producers may run ahead of the depths of channels, and cycles be assumed. Else nothing is
                found that cannot be timed, and everything is left in the end as it was when nobody could go
                on.
        """
        self.workers = forward(workers)
        self.queues = [queue for worker in self.workers for queue in worker.inputs.values()]
        self._tapped = [n for n, queue in enumerate(self.queues) if queue.tap is not None]
        self.ahead = AHEAD if ahead else 0
        self.before = {worker: worker.firings for worker in workers}
        self._position = {worker: n for n, worker in enumerate(self.workers)}
        self._history = 1 + max((w.actor.spacing.latency for w in workers if w.actor.spacing), default=0)
        self._arena = _Arena(sum(map(_words_of, self.workers)) + GraphRecord.WORDS)
        self._kept: list[Words] = []
        """Arrays that records hold addresses of."""
        self._stores: dict[int, tuple[int, int]] = {}
        """Of each store by its identity: its address, and how many words it has."""
        self._private: list[tuple[Words, Words]] = []
        """Memories of actors, with what was in them."""
        self._keys: dict[Worker, Words] = {}
        channels, channels_at = self._table(len(self.queues), ChannelRecord.WORDS)
        actors, actors_at = self._table(len(self.workers), ActorRecord.WORDS)
        self._where = dict(zip(self.queues, channels_at, strict=True))
        self._places = dict(zip(self.workers, actors_at, strict=True))
        self._actor_rows = actors
        self.channels = list(map(ChannelRecord.at, channels_at))
        self.actors = list(map(ActorRecord.at, actors_at))
        self.lines: LinesImage | None = None
        if arbiter is not None and arbiter.accesses:
            self.lines = LinesImage(arbiter, self._places, self._history, PHASE)
        self.rows: list[Words] = []
        for n, queue in enumerate(self.queues):
            channels[n] = self._channel_words(queue)
        trails, trails_at = self._table(len(self.workers), 2 * (PHASE + SLACK))
        trails[:, 0], trails[:, 1] = 0, [worker.firings for worker in self.workers]
        cycles, cycles_at = self._table(2 * len(self.workers), self._history + PHASE + SLACK)
        self._cycles = cycles[: len(self.workers)]
        self._cycles[:, : self._history] = np.array([worker.last for worker in self.workers])[:, None]
        self._pending: list[int] = []
        """Where each worker's state, and the tokens that it is about to push, lie in the arena."""
        for n, worker in enumerate(self.workers):
            rows = trails_at[n], cycles_at[n], cycles_at[len(self.workers) + n]
            actors[n] = self._actor_words(worker, *rows)
        self.address = self._arena.put(self._graph_words(actors_at, channels_at, limit))
        self.graph = GraphRecord.at(self.address)
        self.code = phases_address()

    def _graph_words(self, actors: list[int], channels: list[int], limit: int) -> list[int]:
        return GraphRecord.words(
            actors=self._arena.put(actors),
            actor_count=len(actors),
            channels=self._arena.put(channels),
            channel_count=len(channels),
            phase=PHASE,
            longest_phase=PHASE,
            history=self._history,
            time_many=many_address(),
            scratch=self._keep(np.empty(SCRATCH, np.int64)),
            limit=min(limit, NEVER - 1),
            # What off-chip memory does is not assumed.
            careful=0 if self.ahead and self.lines is None else NEVER,
            worth=WORTH,
            **(self.lines.graph if self.lines else {}),
        )

    def _keep(self, words: Words) -> int:
        self._kept.append(words)
        return words.ctypes.data

    def _table(self, count: int, words: int) -> tuple[Words, list[int]]:
        """So many rows of words; and their addresses."""
        table = np.empty((count, words), np.int64)
        first = self._keep(table)
        return table, list(range(first, first + 8 * words * count, 8 * words))

    def _channel_words(self, queue: Queue) -> list[int]:
        taken, there = len(queue.free), len(queue.tokens)
        room = min(queue.depth, ROOM + there)
        size = PHASE + SLACK + 2 * (room + self.ahead) + there + taken + 1
        rows, addresses = self._table(LATE_ROWS if queue.off_chip else ROWS, size)
        self.rows.append(rows)
        # Behind one word for slots that have long been free.
        rows[FREED, 1 : 1 + taken] = queue.free
        for n, (kind, payload, ready, pushed) in enumerate(queue.tokens, 1 + taken):
            rows[TOKENS, n] = payload << KIND_BITS | kind
            rows[READY, n] = ready
            if queue.off_chip:
                rows[COME, n] = pushed + queue.latency
        base = queue.popped - taken - 1
        pushed = queue.popped + there
        vals, stops, empties, dones = queue.kinds
        return ChannelRecord.words(
            **_row_words(addresses, base),
            resolved=pushed,
            base=base,
            size=size,
            guard=base,
            depth=queue.depth,
            latency=queue.latency,
            room=room + self.ahead,
            pushed=pushed,
            popped=queue.popped,
            noted=queue.popped,
            timed_pushed=pushed,
            timed_popped=queue.popped,
            producer=self._places[queue.producer],
            consumer=self._places[queue.consumer],
            backward=self._position[queue.consumer] <= self._position[queue.producer],
            high=queue.high,
            dwell=queue.dwell,
            starved=queue.starved,
            late=queue.late,
            blocked=queue.blocked,
            vals=vals,
            stops=stops,
            empties=empties,
            dones=dones,
        )

    def _actor_words(self, worker: Worker, trail: int, cycles: int, ago: int) -> list[int]:
        outputs = [queue for queues in worker.outputs for queue in queues]
        find, time = code_of(worker)
        self._pending.append(self._arena.used)
        tokens = self._arena.put([*worker.out_kind, *worker.out_data, *worker.state])
        stores = [word for store in worker.memory for word in self._store(worker, store)]
        position = self._position[worker]
        base = worker.firings - self._history
        gate = gate_words(worker)
        points = points_words(PHASE, len(worker.inputs), len(outputs))
        return ActorRecord.words(
            find=find,
            time=time,
            inputs=self._arena.put([self._where[worker.inputs[i]] for i in range(len(worker.inputs))]),
            input_count=len(worker.inputs),
            outputs=self._arena.put([self._where[queue] for queue in outputs]),
            output_count=len(outputs),
            ports=self._arena.put(ports_of(worker)),
            stores=self._arena.put(stores),
            tokens=tokens,
            state=tokens + 16 * len(worker.out_kind),
            word=worker.pending_word(),
            # The watched word differs from the one seen, so that the actor can go on, unless it never may.
            watch=self._places[worker] + ActorRecord.offset("fault"),
            seen=0 if worker.fault is not None else -1,
            earlier=min([position, *(self._position[queue.consumer] for queue in outputs)]),
            trail=trail,
            runs=1,
            ago=ago - 8 * base,
            cycles=cycles - 8 * base,
            base=base,
            found=worker.firings,
            timed=worker.firings,
            last=worker.last,
            points=self._keep(np.empty(points, np.int64)),
            spaced=worker.spaced,
            stalled=worker.stalled,
            gate=self._arena.put(gate),
            gate_words=len(gate),
            access=self.lines.address_of(worker) if self.lines else 0,
            **self._spacing_words(worker),
        )

    def _store(self, worker: Worker, store: object) -> tuple[int, int]:
        """The address of one of a worker's stores, and how many words it has."""
        if id(store) not in self._stores:
            words = array_of(store)
            places = zip(worker.memory, worker.actor.memory, strict=False)
            if any(s is store and declared.place is Place.PRIVATE for s, declared in places):
                self._private.append((words, words.copy()))
            self._stores[id(store)] = self._keep(words), len(words)
        return self._stores[id(store)]

    def _spacing_words(self, worker: Worker) -> dict[str, int]:
        spacing = worker.actor.spacing
        if spacing is None or key_of(worker) is None:
            return {}
        keys = self._keys[worker] = np.full(spacing.words, LONG_AGO, np.int64)
        # As if the last firings were those that left a key behind: they were no more recent than that.
        latest = sorted(worker.updated.items(), key=lambda item: -item[1])[: spacing.latency]
        first = 1 if latest and latest[0][1] == worker.last else 2
        for ago, (key, cycle) in enumerate(latest, first):
            if ago < self._history:
                keys[key] = worker.firings - ago
                self._cycles[self._position[worker], self._history - ago] = cycle
        return {"keys": self._keep(keys), "apart": spacing.latency}

    def firings(self) -> int:
        """All firings so far; each worker's own count is brought up to date."""
        timed = self._actor_rows[:, TIMED].tolist()
        for worker, count in zip(self.workers, timed, strict=True):
            worker.firings = count
        return sum(timed)

    def last(self) -> list[int]:
        """The cycle of each worker's last firing."""
        cycles: list[int] = self._actor_rows[:, LAST].tolist()
        return cycles

    def cycle(self) -> int:
        """The latest cycle in which an actor has fired."""
        return max(self.last())

    def show_taps(self, window: tuple[int, int], seen: dict[Queue, int]) -> None:
        """Shows the tokens popped since to the taps.

        Args:
            window: the first cycle whose pops they see, and the cycle behind the last one.
            seen: how many tokens of each channel they have seen, which is brought up to date.
        """
        begin, end = window
        for n in self._tapped:
            queue, channel, rows = self.queues[n], self.channels[n], self.rows[n]
            tap = queue.tap
            assert tap is not None
            first = seen.get(queue, queue.popped)
            seen[queue] = max(first, channel.timed_popped)
            part = slice(first - channel.base, seen[queue] - channel.base)
            shown = rows[[TOKENS, COME if queue.off_chip else READY, FREED], part]
            for token, come, freed in shown.T.tolist():
                if begin <= freed - 1 < end:
                    tap(come - queue.latency, freed - 1, token & 3, token >> KIND_BITS)

    def lengthen(self) -> None:
        """Doubles the rows in which there is no room for another phase."""
        for n, channel in enumerate(self.channels):
            if channel.pushed + PHASE + SLACK > channel.base + channel.size:
                rows, addresses = self._table(len(self.rows[n]), 2 * channel.size)
                used = channel.pushed - channel.base
                rows[:, :used] = self.rows[n][:, :used]
                channel.size *= 2
                self.rows[n] = rows
                for name, word in _row_words(addresses, channel.base).items():
                    setattr(channel, name, word)
        if self.lines:
            self.lines.lengthen(PHASE)

    def widen(self) -> bool:
        """Doubles the room of channels that are full, but not to their depths; gives if there are any."""
        widened = False
        for queue, channel in zip(self.queues, self.channels, strict=True):
            most = queue.depth + self.ahead
            if channel.pushed - channel.popped == channel.room < most:
                channel.room = min(2 * channel.room, most)
                self.actors[self._position[queue.producer]].seen = -1
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
        for worker, last in zip(self.workers, self.last(), strict=True):
            worker.last = last
        for queue, channel, rows in zip(self.queues, self.channels, self.rows, strict=True):
            _store_queue(queue, channel, rows)
        for worker, actor in zip(self.workers, self.actors, strict=True):
            self._store_worker(worker, actor)
        if self.lines:
            self.lines.store()

    def _store_worker(self, worker: Worker, actor: ActorRecord) -> None:
        worker.firings = actor.timed
        worker.spaced, worker.stalled = actor.spaced, actor.stalled
        if self.lines:
            worker.held = self.lines.held(worker)
        outputs = len(worker.outputs)
        at = self._pending[self._position[worker]]
        words = self._arena.words[at : at + 2 * outputs + len(worker.state)].tolist()
        worker.out_kind[:], worker.out_data[:] = words[:outputs], words[outputs : 2 * outputs]
        worker.state[:] = words[2 * outputs :]
        worker.pending = worker.plan(actor.word) if actor.word else None
        if worker in self._keys:
            keys = self._keys[worker]
            late = np.flatnonzero(keys > worker.firings - actor.apart)
            cycles = self._cycles[self._position[worker], keys[late] - actor.base]
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


def _words_of(worker: Worker) -> int:
    """The words of a worker that lie in the arena, its place in lists, and those of its inputs' channels."""
    channels = 2 * len(worker.inputs) + 2 * sum(map(len, worker.outputs))
    tokens = 2 * len(worker.outputs) + len(worker.state)
    return 1 + channels + tokens + 2 * len(worker.memory) + len(gate_words(worker))


def _row_words(addresses: Sequence[int], base: int) -> dict[str, int]:
    """The words of a channel for its rows, which begin at token `base`."""
    words = {name: address - 8 * base for name, address in zip(ROW_NAMES, addresses, strict=False)}
    return {"come": words["ready"]} | words


def _ready(queue: Queue) -> int:
    """The first cycle in which the head of a queue is available."""
    return queue.tokens[0][2] if queue.tokens else NEVER


def _store_queue(queue: Queue, channel: ChannelRecord, rows: Words) -> None:
    popped, pushed, base = channel.timed_popped, channel.timed_pushed, channel.base
    kept = max(channel.guard + 1, pushed - queue.depth)
    freed = rows[FREED, kept - base : popped - base]
    # Slots that were free at the producer's last firing hold back no later one.
    long_free = int(np.searchsorted(freed, queue.producer.last, "right"))
    queue.free.clear()
    queue.free.extend(freed[long_free:].tolist())
    queue.spare = queue.depth - (pushed - kept - long_free)
    queue.tokens.clear()
    queue.consumer.kind[queue.port] = NONE
    if pushed > popped:
        left = rows[[TOKENS, READY, COME if queue.off_chip else READY], popped - base : pushed - base]
        for token, ready, come in left.T.tolist():
            queue.append(token & 3, token >> KIND_BITS, ready, come - queue.latency)
    queue.popped, queue.high, queue.dwell = popped, channel.high, channel.dwell
    queue.starved, queue.late, queue.blocked = channel.starved, channel.late, channel.blocked
    queue.kinds = [channel.vals, channel.stops, channel.empties, channel.dones]
    if channel.popped > popped:
        # These were counted when it was found who takes them.
        for kind in (rows[TOKENS, popped - base : channel.popped - base] & 3).tolist():
            queue.kinds[kind] -= 1
    queue.wanted = queue.full = False
