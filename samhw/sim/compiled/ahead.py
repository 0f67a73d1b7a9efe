"""Producers that run ahead of their channels, for as long as it makes no difference.

A channel of four slots lets its producer fire four times before the consumer must have its turn. Longer
turns cost less, and where nobody waits for slots anyway a producer may go on as if its channel were deeper:
when the consumer comes to pop a token, it sees whether the one that took its slot was pushed too early. If
that happens to a single token, everything goes back to where the window began and is done again, in shorter
windows; so what is kept is right to the last cycle. Channels on which it happens in the shortest windows too
keep to their depth for a while, and for four times as long if it happens again soon.
"""

import numpy as np

from samhw.sim.compiled.channel import njit
from samhw.sim.compiled.layout import C, R
from samhw.sim.compiled.native import words_at
from samhw.sim.compiled.records import Records, Words
from samhw.sim.compiled.sweeps import sweep

__all__ = ["Ahead"]

LEAST, MOST = 1 << 12, 1 << 15
"""Firings of a window."""

GROWTH = 4
"""A window that was not in vain is followed by one that is longer by this part of it."""

COPIED = 8
"""Words that may be copied for each firing of a window."""

LOOK = 1 << 10
"""Firings between two looks at whether a window is in vain."""

CATCH_UP = 16
"""Turns that consumers need at most at the end of a window; those that pop less than a token in each are too
far behind for running ahead."""

STAGES = 8
"""In so many steps the actors keep to depths again then, the first ones first, so that tokens drain."""

NEAR = 16
"""Cycles behind the first wrong one in which others count as found at the same time."""

REST = 1 << 14
"""Firings for which a channel keeps to its depth when it was too shallow for the first time."""

HEAD = len(R)


class Ahead:
    """Runs the actors of some records, window by window. Between windows no producer is ahead."""

    def __init__(self, records: Records):
        self._records = records
        count = len(records.channels)
        self._rest = np.zeros(count, np.int64)
        """For how many firings each channel keeps to its depth."""
        self._calm = np.zeros(count, np.int64)
        """For how many firings it has been free since."""
        self._penalty = np.full(count, REST)
        self._sources = np.array([records.position[queue.producer] for queue in records.queues], np.int64)
        """For each channel the place of its producer among the actors."""
        self._window = 0
        self.look_again()

    def look_again(self) -> None:
        """Must be called when rings have grown."""
        changing = self._records.changing()
        self._pieces = np.array([(array.ctypes.data, array.size) for array in changing], np.int64)
        size = sum(array.size for array in changing)
        self._copy = np.empty(size, np.int64)
        self._least = max(LEAST, size // COPIED)

    def run(self, most: int) -> int:
        """Fires about so many times; gives the number, 0 if no firing is possible."""
        records = self._records
        if self._least > MOST:
            return int(sweep(records.rows, most))
        fired, self._window = _run(
            records.rows,
            records.channels,
            records.rooms,
            self._sources,
            self._pieces,
            self._copy,
            self._rest,
            self._calm,
            self._penalty,
            max(self._window, self._least),
            self._least,
            most,
        )
        return int(fired)


@njit(cache=True)
def _save(pieces: Words, copy: Words) -> None:
    at = 0
    for n in range(len(pieces)):
        words = words_at(pieces[n, 0], pieces[n, 1])
        for k in range(pieces[n, 1]):
            copy[at + k] = words[k]
        at += pieces[n, 1]


@njit(cache=True)
def _restore(pieces: Words, copy: Words) -> None:
    at = 0
    for n in range(len(pieces)):
        words = words_at(pieces[n, 0], pieces[n, 1])
        for k in range(pieces[n, 1]):
            words[k] = copy[at + k]
        at += pieces[n, 1]


@njit(cache=True)
def _set_room(rows: Words, channels: Words, rooms: Words, rest: Words) -> None:
    """Lets producers run ahead on the channels that do not rest."""
    for c in range(len(channels)):
        ahead = rest[c] == 0 and channels[c, C.SHORT] == 0
        channels[c, C.ROOM] = rooms[c] if ahead else channels[c, C.SLOTS]
    for n in range(len(rows)):
        record = words_at(rows[n], HEAD)
        if record[R.WORD]:
            # It waits for a slot: there may be more of them now.
            record[R.SEEN] = -1


@njit(cache=True)
def _is_ahead(channels: Words, c: int) -> bool:
    """Whether a channel has more tokens than slots."""
    ahead: bool = channels[c, C.PUSHED] - channels[c, C.POPPED] > channels[c, C.SLOTS]
    return ahead


@njit(cache=True)
def _any_ahead(channels: Words) -> bool:
    for c in range(len(channels)):  # noqa: SIM110 (Numba has no generators)
        if _is_ahead(channels, c):
            return True
    return False


@njit(cache=True)
def _broken(channels: Words) -> int:
    """The first cycle in which a token was pushed too early, or 0."""
    first = 0
    for c in range(len(channels)):
        cycle = channels[c, C.BROKEN]
        if cycle and (first == 0 or cycle < first):
            first = cycle
    return first


@njit(cache=True)
def _run_ahead(rows: Words, channels: Words, most: int) -> int:
    """Fires about so many times, or until it turns out to be in vain; gives the number."""
    fired = 0
    while fired < most and _broken(channels) == 0:
        more = sweep(rows, LOOK)
        fired += more
        if more == 0:
            break
    return fired


@njit(cache=True)
def _catch_up(rows: Words, channels: Words, sources: Words, slow: Words) -> int:
    """Fires until no producer is ahead, or it turns out to be in vain; gives the number of firings.

    Sets `slow` for the channels that take long.
    """
    fired = 0
    turns = 0
    before = channels[:, C.POPPED].copy()
    slow[:] = 0
    while _any_ahead(channels) and _broken(channels) == 0:
        turns += 1
        for c in range(len(channels)):
            if STAGES * sources[c] < turns * len(rows):
                channels[c, C.ROOM] = channels[c, C.SLOTS]
        more = sweep(rows, 1)
        fired += more
        if turns == CATCH_UP or (more == 0 and turns >= STAGES):
            for c in range(len(channels)):
                few = channels[c, C.POPPED] - before[c] < turns
                slow[c] = few and _is_ahead(channels, c)
        if more == 0 and turns >= STAGES:
            break
    return fired


@njit(cache=True)
def _run(
    rows: Words,
    channels: Words,
    rooms: Words,
    sources: Words,
    pieces: Words,
    copy: Words,
    rest: Words,
    calm: Words,
    penalty: Words,
    window: int,
    least: int,
    most: int,
) -> tuple[int, int]:
    """Windows until there are about `most` firings; gives their number, and the length of the next window."""
    total = 0
    slow = np.zeros(len(channels), np.int64)
    while total < most:
        _save(pieces, copy)
        _set_room(rows, channels, rooms, rest)
        fired = _run_ahead(rows, channels, window)
        fired += _catch_up(rows, channels, sources, slow)
        broken = _broken(channels)
        for c in range(len(channels)):
            # Long behind the first wrong cycle, others may be wrong because of it.
            shallow = window == least and 0 < channels[c, C.BROKEN] <= broken + NEAR
            if shallow or slow[c]:
                if calm[c] > penalty[c]:
                    penalty[c] = REST
                rest[c] = penalty[c]
                penalty[c] *= 4
                calm[c] = 0
        if broken or _any_ahead(channels):
            _restore(pieces, copy)
            _set_room(rows, channels, channels[:, C.SLOTS], rest)
            # Whatever comes of the next windows, the run goes on.
            fired = sweep(rows, least)
            window = max(window // 2, least)
        else:
            window = min(window + window // GROWTH, MOST)
        if fired == 0:
            break
        total += fired
        for c in range(len(channels)):
            if rest[c]:
                rest[c] = max(rest[c] - fired, 0)
            else:
                calm[c] += fired
    return total, window
