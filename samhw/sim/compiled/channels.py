"""Queues as records with rows of words, and back."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.sim.compiled.phases import SLACK
from samhw.sim.compiled.records import NEVER, ChannelRecord
from samhw.sim.compiled.rows import kind_of, packed, unpacked
from samhw.sim.compiled.spare import Borrowed
from samhw.sim.machine_code import Table
from samhw.sim.step import NONE
from samhw.sim.worker import Queue

__all__ = ["ROWS", "Channels"]

Words = NDArray[np.int64]

TOKENS, READY, FREED, COME, BROUGHT = range(5)
"""The rows of a channel. It has the last two only if its tokens may carry data from off-chip memory."""

ROWS, LATE_ROWS = 3, 5
"""How many rows a channel has, without and with these."""

KINDS = ("vals", "stops", "empties", "dones")
"""Words that count tokens by kind."""


class Channels:
    """The records of queues.

    Attributes:
        queues: one for each record.
        table: the records.
    """

    def __init__(self, queues: Sequence[Queue], phase: int, room: int, ahead: int):
        """
        Args:
            phase: the most tokens of a channel in a phase.
            room: tokens that there is room for at first in channels that are deeper than that.
            ahead: by this many tokens a producer may run ahead of its channel's depth.
        """
        self.queues = queues
        self.table = Table(ChannelRecord, len(queues))
        self._phase, self._ahead = phase, ahead
        come = np.array([len(queue.tokens) for queue in queues], np.int64)
        there = come + [len(queue.carried) for queue in queues]
        taken = np.array([len(queue.free) for queue in queues], np.int64)
        popped = np.array([queue.popped for queue in queues], np.int64)
        depth = np.array([queue.depth for queue in queues], np.int64)
        late = np.array([queue.off_chip for queue in queues], np.bool_)
        found = np.minimum(depth, room + there) + ahead
        # The first word is for slots that have long been free.
        base = popped - taken - 1
        size = 1 + taken + there + 2 * (found + phase) + SLACK
        further = np.array([queue.words - 1 for queue in queues], np.int64)
        words = np.array([_row_count(queue) for queue in queues], np.int64) * size
        self._begin = np.cumsum(words) - words
        self._borrowed = Borrowed()
        self._rows = self._borrowed.take(int(words.sum()))
        self._longer: dict[int, Words] = {}
        """The rows of those channels that need longer ones."""
        self.table.put(
            **_addresses(self._rows.ctypes.data + 8 * self._begin, base, size, late, further),
            more_words=further,
            resolved=popped + come,
            base=base,
            size=size,
            guard=base,
            depth=depth,
            latency=[queue.latency for queue in queues],
            room=found,
            pushed=popped + there,
            popped=popped,
            timed_pushed=popped + there,
            timed_popped=popped,
            new_pushed=popped + there,
            new_popped=popped,
            high=[queue.high for queue in queues],
            dwell=[queue.dwell for queue in queues],
            starved=[queue.starved for queue in queues],
            late=[queue.late for queue in queues],
            blocked=[queue.blocked for queue in queues],
        )
        for kind, name in enumerate(KINDS):
            self.table[name][:] = [queue.kinds[kind] for queue in queues]
        for n in np.flatnonzero(there + taken).tolist():
            self._begin_rows(n)

    def _begin_rows(self, n: int) -> None:
        """Puts the tokens and slots of a queue into its rows."""
        queue, rows = self.queues[n], self.rows(n)
        taken = len(queue.free)
        rows[FREED, 1 : 1 + taken] = queue.free
        blocks = _further(queue, rows)
        for at, (kind, payload, ready, pushed) in enumerate(queue.tokens, 1 + taken):
            first, *more = payload if isinstance(payload, list) else [payload]
            rows[TOKENS, at] = packed(kind, first)
            blocks[at] = more
            rows[READY, at] = ready
            if queue.off_chip:
                rows[COME, at] = pushed + queue.latency
        for at, (kind, payload, pushed) in enumerate(queue.carried, 1 + taken + len(queue.tokens)):
            first, *more = payload if isinstance(payload, list) else [payload]
            rows[TOKENS, at] = packed(kind, first)
            blocks[at] = more
            rows[READY, at], rows[COME, at] = NEVER, pushed + queue.latency
            rows[BROUGHT, at] = more[-1] if more else first

    def places(self) -> dict[Queue, int]:
        """The address of each queue's record."""
        return dict(zip(self.queues, self.table.addresses.tolist(), strict=True))

    def rows(self, n: int) -> Words:
        """The rows of a channel."""
        if n in self._longer:
            return self._longer[n]
        count = _row_count(self.queues[n])
        size = int(self.table["size"][n])
        begin = int(self._begin[n])
        return self._rows[begin : begin + count * size].reshape(count, size)

    def lengthen(self, numbers: Words) -> None:
        """Doubles the rows of those channels in which there is no room for another phase."""
        pushed, base, size = self.table["pushed"], self.table["base"], self.table["size"]
        short = numbers[(pushed + self._phase + SLACK > base + size)[numbers]].tolist()
        words = self._borrowed.take(sum(2 * self.rows(n).size for n in short))
        for n in short:
            before, used = self.rows(n), pushed[n] - base[n]
            rows, words = np.split(words, [2 * before.size])
            rows = rows.reshape(len(before), -1)
            queue = self.queues[n]
            plain = _plain_rows(queue)
            rows[:plain, :used] = before[:plain, :used]
            _further(queue, rows)[:used] = _further(queue, before)[:used]
            size[n] *= 2
            self._longer[n] = rows
            places = _addresses(rows.ctypes.data, base[n], size[n], queue.off_chip, queue.words - 1)
            for name, address in places.items():
                self.table[name][n] = address

    def widen(self) -> list[int]:
        """Doubles the room of channels that are full, but not to their depths; gives which these are."""
        room, most = self.table["room"], self.table["depth"] + self._ahead
        full = (self.table["pushed"] - self.table["popped"] == room) & (room < most)
        room[full] = np.minimum(2 * room, most)[full]
        numbers: list[int] = np.flatnonzero(full).tolist()
        return numbers

    def show(self, n: int, seen: int | None, window: tuple[int, int]) -> int:
        """Shows the tap of a channel tokens whose pops are timed; gives how many tokens it has seen then.

        Args:
            seen: how many it has seen; None if none of this run.
            window: the first cycle whose pops it sees, and the cycle after the last one.
        """
        queue, rows, base = self.queues[n], self.rows(n), int(self.table["base"][n])
        assert queue.tap is not None
        begin, end = window
        first = queue.popped if seen is None else seen
        last = max(first, int(self.table["timed_popped"][n]))
        shown = rows[[TOKENS, _come(queue), FREED], first - base : last - base]
        blocks = _further(queue, rows)[first - base : last - base]
        for (token, come, freed), more in zip(shown.T.tolist(), blocks, strict=True):
            if begin <= freed - 1 < end:
                kind, payload = unpacked(token)
                number = queue.number(kind, payload, more.tolist())
                queue.tap(come - queue.latency, freed - 1, kind, number)
        return last

    def store(self) -> None:
        """Puts tokens and statistics back into the queues, as far as they are timed.

        Slots are free or hold a token: since nobody goes on from there, it does not matter from when on.
        """
        statistics = self.table.rows("timed_popped", "high", "dwell", "starved", "late", "blocked")
        kinds = self.table.rows(*KINDS)
        for queue, words, counts in zip(self.queues, statistics, kinds, strict=True):
            queue.popped, queue.high, queue.dwell, queue.starved, queue.late, queue.blocked = words
            queue.kinds = counts
            queue.tokens.clear()
            queue.carried.clear()
            queue.free.clear()
            queue.spare = queue.depth
            queue.consumer.kind[queue.port] = NONE
            queue.wanted = queue.full = False
        popped, found = self.table["timed_popped"], self.table["popped"]
        pushed = self.table["timed_pushed"]
        for n in np.flatnonzero(np.maximum(found, pushed) > popped).tolist():
            self._store_tokens(n, *(int(word[n] - self.table["base"][n]) for word in (popped, found, pushed)))
        self._borrowed.give_back()

    def _store_tokens(self, n: int, popped: int, found: int, pushed: int) -> None:
        """Puts the tokens that are left into a queue.

        Args:
            popped: where in the rows the token is after those whose pops are timed,
            found: after those whose pops are found,
            pushed: and after those whose pushes are timed.
        """
        queue, rows = self.queues[n], self.rows(n)
        blocks = _further(queue, rows)[popped:pushed]
        stored = rows[[TOKENS, READY, _come(queue)], popped:pushed].T.tolist()
        for (token, ready, come), more in zip(stored, blocks, strict=True):
            kind, first = unpacked(token)
            payload = first if queue.words == 1 else [first, *more.tolist()]
            queue.append(kind, payload, ready, come - queue.latency)
            queue.spare -= 1
        # These were counted when it was found who takes them.
        for kind in kind_of(rows[TOKENS, popped:found]).tolist():
            queue.kinds[kind] -= 1


def _row_count(queue: Queue) -> int:
    """How many rows a channel has, those of further words included."""
    return _plain_rows(queue) + queue.words - 1


def _plain_rows(queue: Queue) -> int:
    """How many rows with a word for each token come first."""
    return LATE_ROWS if queue.off_chip else ROWS


def _further(queue: Queue, rows: Words) -> Words:
    """The words of blocks after the first: an array with a line for each token, in the rows after those."""
    own = rows[_plain_rows(queue) :]
    return own.reshape(rows.shape[1], queue.words - 1)


def _come(queue: Queue) -> int:
    """The row of the cycles in which a queue's tokens come, but for data from off-chip memory."""
    return COME if queue.off_chip else READY


def _addresses(
    begin: ArrayLike, base: ArrayLike, size: ArrayLike, late: ArrayLike, further: ArrayLike
) -> dict[str, Words]:
    """The words of channels for rows that lie at `begin`, one after the other, and after these this many
    further words of each token."""
    first = np.asarray(begin) - 8 * np.asarray(base)
    bytes_of_row = 8 * np.asarray(size)
    behind = np.asarray(begin) + np.where(late, LATE_ROWS, ROWS) * bytes_of_row
    return {
        "tokens": first,
        "more": np.where(further, behind - 8 * np.asarray(base) * np.asarray(further), 0),
        "ready": first + READY * bytes_of_row,
        "freed": first + FREED * bytes_of_row,
        "come": first + np.where(late, COME, READY) * bytes_of_row,
        "brought": np.where(late, first + BROUGHT * bytes_of_row, 0),
    }
