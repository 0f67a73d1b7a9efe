"""Workers as records with their registers, tables and rows of words, and back."""

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from samhw.sim.compiled.actor_shapes import asked_by, gate_words, key_of, ports_of
from samhw.sim.compiled.engine_code import codes_of
from samhw.sim.compiled.phases import SLACK
from samhw.sim.compiled.points import points_words, words_before
from samhw.sim.compiled.records import NEVER, ActorRecord, array_of
from samhw.sim.compiled.spare import Borrowed
from samhw.sim.machine_code import Table
from samhw.sim.network import Place
from samhw.sim.result import LATE
from samhw.sim.step import fault_needs
from samhw.sim.worker import Queue, Worker

__all__ = ["Actors"]

Words = NDArray[np.int64]

LONG_AGO = -NEVER

COUNTS = {"inputs": "input_count", "outputs": "output_count", "gate": "gate_words"}
"""The words of a record that say how many words lie at another one's address."""


class Actors:
    """The records of workers.

    Attributes:
        workers: one for each record.
        table: the records.
        history: this many cycles are kept of an actor's last firings.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        position: Mapping[Worker, int],
        channels: Mapping[Queue, int],
        phase: int,
        careful: bool,
    ):
        """
        Args:
            position: the number of each worker.
            channels: the address of each queue's record.
            phase: most firings of an actor in a phase.
            careful: nothing is ever assumed of cycles.
        """
        self.workers = workers
        self.table = table = Table(ActorRecord, len(workers))
        self.history = 1 + max((w.actor.spacing.latency for w in workers if w.actor.spacing), default=0)
        self._row = self.history + phase + SLACK
        self._borrowed = Borrowed()
        self._kept: list[Words] = []
        """Arrays that records hold addresses of."""
        self._stores: dict[int, tuple[int, int]] = {}
        """Of each store by its identity: its address, and how many words it has."""
        self._private: list[tuple[Words, Words]] = []
        """Memories of actors, with what was in them."""
        outputs = [[queue for queues in worker.outputs for queue in queues] for worker in workers]
        codes = codes_of(workers, careful)
        self._before = firings = np.array([worker.firings for worker in workers], np.int64)
        table.put(
            find=[find for find, _ in codes],
            word=[worker.pending_word() for worker in workers],
            # The watched word differs from the one seen, so that an actor can go on, unless it never may.
            watch=table.addresses + ActorRecord.offset("fault"),
            seen=[-1 if worker.fault is None else 0 for worker in workers],
            earlier=[min([n, *(position[q.consumer] for q in queues)]) for n, queues in enumerate(outputs)],
            runs=1,
            base=firings - self.history,
            found=firings,
            timed=firings,
            last=[worker.last for worker in workers],
            spaced=[worker.spaced for worker in workers],
            stalled=[worker.stalled for worker in workers],
        )
        table["careful" if careful else "time"][:] = [time for _, time in codes]
        self._put_leaders(position, outputs)
        lists: dict[str, Sequence[Sequence[int]]] = {
            "inputs": [[channels[w.inputs[i]] for i in range(len(w.inputs))] for w in workers],
            "outputs": [[channels[queue] for queue in queues] for queues in outputs],
            "ports": [ports_of(worker) for worker in workers],
            "stores": [self._store_words(worker) for worker in workers],
            "gate": [gate_words(worker) for worker in workers],
            "tokens": [[*worker.out_kind, *worker.out_data] for worker in workers],
            "state": [worker.state for worker in workers],
        }
        self._lists = {name: self._put_lists(name, rows) for name, rows in lists.items()}
        self._put_rows(phase, [(len(w.inputs), len(q)) for w, q in zip(workers, outputs, strict=True)])
        for n, worker in enumerate(workers):
            if key_of(worker) is not None:
                self._put_waits(n, worker)

    def _put_leaders(self, position: Mapping[Worker, int], outputs: Sequence[Sequence[Queue]]) -> None:
        """Notes with whom each worker is timed where nothing is assumed: the actors of ports with those that
        ask them, and others alone.

        Args:
            outputs: the channels that each pushes to.
        """
        leader, addresses = self.table["leader"], self.table.addresses
        leader[:] = addresses
        for n, queues in enumerate(outputs):
            for asked in filter(None, map(asked_by, queues)):
                leader[position[asked]] = addresses[n]

    def _put_rows(self, phase: int, sizes: Sequence[tuple[int, int]]) -> None:
        """Gives the records room for trails and points.

        Args:
            sizes: how many inputs each worker has, and how many channels it pushes to.
        """
        words = 2 * (phase + SLACK)
        trails = self._borrowed.take(words * len(sizes)).reshape(-1, words)
        trails[:, 0], trails[:, 1] = 0, self.table["found"]
        before = np.array([words_before(*size) for size in sizes])
        counts = np.array([points_words(phase, *size) for size in sizes])
        points = self._borrowed.take(int(counts.sum()))
        self.table.put(
            trail=self._keep(trails) + 8 * words * np.arange(len(sizes)),
            points=self._keep(points) + 8 * (np.cumsum(counts) - counts + before),
        )

    def _put_lists(self, name: str, rows: Sequence[Sequence[int]]) -> Words:
        """Puts a list of words for each worker after one another; notes their addresses in the records, and
        how many words they are if that is in COUNTS."""
        words = np.array([word for row in rows for word in row], np.int64)
        lengths = [len(row) for row in rows]
        self.table[name][:] = self._keep(words) + 8 * (np.cumsum(lengths) - lengths)
        if name in COUNTS:
            self.table[COUNTS[name]][:] = lengths
        return words

    def _keep(self, words: Words) -> int:
        """The address of words that stay as long as the records."""
        self._kept.append(words)
        return words.ctypes.data

    def _store_words(self, worker: Worker) -> list[int]:
        """For each of a worker's stores its address, and how many words it has."""
        words: list[int] = []
        for store in worker.memory:
            if id(store) not in self._stores:
                array = array_of(store)
                self._stores[id(store)] = self._keep(array), len(array)
                places = zip(worker.memory, worker.actor.memory, strict=False)
                if any(s is store and declared.place is Place.PRIVATE for s, declared in places):
                    self._private.append((array, array.copy()))
            words += self._stores[id(store)]
        return words

    def _put_waits(self, n: int, worker: Worker) -> None:
        """Gives the record of a worker what it has for its turns, or for its spacing."""
        if worker.actor.turn is None:
            self._put_spacing(n, worker)
        else:
            self._put_turns(n, worker)

    def _put_spacing(self, n: int, worker: Worker) -> None:
        """Gives the record of a worker what it has for its spacing."""
        spacing = worker.actor.spacing
        assert spacing is not None
        keys = np.full(spacing.words, LONG_AGO, np.int64)
        cycles, ago = np.empty((2, self._row), np.int64)
        cycles[: self.history] = worker.last
        # As if the last firings were those that left a key: they were no more recent than that.
        latest = sorted(worker.updated.items(), key=lambda item: -item[1])[: spacing.latency]
        first = 1 if latest and latest[0][1] == worker.last else 2
        for back, (key, cycle) in enumerate(latest, first):
            if back < self.history:
                keys[key] = worker.firings - back
                cycles[self.history - back] = cycle
        base = worker.firings - self.history
        table = self.table
        table["keys"][n], table["apart"][n] = self._keep(keys), spacing.latency
        table["cycles"][n], table["ago"][n] = self._keep(cycles) - 8 * base, self._keep(ago) - 8 * base

    def _put_turns(self, n: int, worker: Worker) -> None:
        """Gives the record of a worker what it has for its turns."""
        turn, rows = worker.actor.turn, np.zeros((2, self._row), np.int64)
        assert turn is not None
        begin = 8 * (worker.firings - self.history)
        table = self.table
        table["apart"][n] = turn.banks
        table["cycles"][n], table["ago"][n] = (self._keep(row) - begin for row in rows)

    def be_careful(self) -> None:
        """Gives the records the code that assumes nothing."""
        self.table["careful"][:] = [time for _, time in codes_of(self.workers, careful=True)]

    def count_firings(self) -> int:
        """All firings so far; each worker's own count is brought up to date."""
        timed: list[int] = self.table["timed"].tolist()
        for worker, count in zip(self.workers, timed, strict=True):
            worker.firings = count
        return sum(timed)

    def are_clean(self) -> bool:
        """Whether all that was found is timed, and nothing went wrong."""
        return not self.table["fault"].any() and np.array_equal(self.table["found"], self.table["timed"])

    def undo(self) -> None:
        """Puts back what a run changes before `store`."""
        for words, before in self._private:
            words[:] = before
        for worker, firings in zip(self.workers, self._before.tolist(), strict=True):
            worker.firings = firings

    def store(self, limit: int) -> None:
        """Puts everything back into the workers, as far as it is timed; queues have been put back.

        Args:
            limit: the last cycle of a firing.
        """
        tokens, state = iter(self._lists["tokens"].tolist()), iter(self._lists["state"].tolist())
        rows = self.table.rows("timed", "last", "spaced", "stalled", "word")
        for worker, words in zip(self.workers, rows, strict=True):
            worker.firings, worker.last, worker.spaced, worker.stalled, word = words
            worker.out_kind[:] = islice(tokens, len(worker.out_kind))
            worker.out_data[:] = islice(tokens, len(worker.out_data))
            worker.state[:] = islice(state, len(worker.state))
            worker.pending = worker.plan(word) if word else None
        beyond, fault = self.table["beyond"], self.table["fault"]
        late = (beyond > limit) & (beyond < NEVER)
        for n in np.flatnonzero(late | (fault != 0)).tolist():
            worker = self.workers[n]
            if worker.fault is None and late[n]:
                worker.fault = int(beyond[n]), LATE
            elif worker.fault is None and self.table["found"][n] == self.table["timed"][n]:
                needs = fault_needs(int(fault[n]))
                heads = [_ready(queue) for i, queue in worker.inputs.items() if needs >> i & 1]
                if (cycle := max(worker.last + 1, *heads, 0)) < NEVER:
                    worker.fault = cycle, int(fault[n])
        self._borrowed.give_back()


def _ready(queue: Queue) -> int:
    """The first cycle in which the head of a queue is available."""
    return queue.tokens[0][2] if queue.tokens else NEVER
