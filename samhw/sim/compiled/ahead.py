"""Producers that run ahead of their channels, for as long as it makes no difference.

A channel of four slots lets its producer fire four times before the consumer must have its turn. Longer
turns cost less, and where nobody waits for slots anyway a producer may go on as if its channel were deeper:
when the consumer comes to pop a token, it sees whether the one that took its slot was pushed too early. If
that happens to a single token, everything goes back to a state that is known to be right and is done again,
in a shorter window; so what is kept is right to the last cycle. Channels on which it happens in the shortest
windows too keep to their depth for a while, and for four times as long each time.

A state is known to be right when all tokens pushed before it have been looked at. That is so some time later,
so two copies are held: one that is right, and a later one that is to become so.
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

PATIENCE = 2
"""Windows for which tokens may wait to be looked at; longer, and the channel counts as too shallow."""

REST = 1 << 14
"""Firings for which a channel keeps to its depth when it was too shallow for the first time."""

HEAD = len(R)


class Ahead:
    """Runs the actors of some records, window by window."""

    def __init__(self, records: Records):
        self._records = records
        count = len(records.channels)
        self._rest = np.zeros(count, np.int64)
        """For how many firings each channel keeps to its depth."""
        self._penalty = np.full(count, REST)
        self._known = np.zeros(count, np.int64)
        """The tokens of each channel that had been pushed when the right copy was made."""
        self._pushed = np.zeros(count, np.int64)
        """The same of the later copy."""
        self._window = 0
        self.look_again()

    def look_again(self) -> None:
        """Must be called when rings have grown. No producer may be ahead."""
        self._kept = self._records.changing()
        self._pieces = np.array([(array.ctypes.data, array.size) for array in self._kept], np.int64)
        size = sum(array.size for array in self._kept)
        self._right = np.empty(size, np.int64)
        self._later = np.empty(size, np.int64)
        _save(self._pieces, self._right)
        _save(self._pieces, self._later)
        self._known[:] = self._pushed[:] = self._records.channels[:, C.PUSHED]
        self._least = max(LEAST, size // COPIED)

    def run(self, most: int) -> int:
        """Fires about so many times; gives the number, 0 if no firing is possible. Then the state is right."""
        records = self._records
        if self._least > MOST:
            return int(sweep(records.rows, most))
        fired, self._window = _run(
            records.rows,
            records.channels,
            records.rooms,
            self._pieces,
            self._right,
            self._later,
            self._known,
            self._pushed,
            self._rest,
            self._penalty,
            max(self._window, self._least),
            self._least,
            most,
        )
        return int(fired)

    def settle(self) -> None:
        """Leaves the records in a state that is known to be right, if need be an earlier one."""
        channels = self._records.channels
        if channels[:, C.BROKEN].any() or _any_unseen(channels, self._known, channels[:, C.PUSHED]):
            _restore(self._pieces, self._right)


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
def _is_unseen(channels: Words, c: int, known: Words, pushed: Words) -> bool:
    """Whether there are tokens of a channel, behind those that are known to be right, to be looked at."""
    unseen: bool = pushed[c] > known[c] and channels[c, C.POPPED] < pushed[c] - channels[c, C.SLOTS]
    return unseen


@njit(cache=True)
def _any_unseen(channels: Words, known: Words, pushed: Words) -> bool:
    for c in range(len(channels)):
        if _is_unseen(channels, c, known, pushed):
            return True
    return False


@njit(cache=True)
def _any_broken(channels: Words) -> bool:
    for c in range(len(channels)):
        if channels[c, C.BROKEN]:
            return True
    return False


@njit(cache=True)
def _fire(rows: Words, channels: Words, most: int) -> int:
    """Fires about so many times, or until it turns out to be in vain; gives the number."""
    fired = 0
    while fired < most and not _any_broken(channels):
        more = sweep(rows, LOOK)
        fired += more
        if more == 0:
            break
    return fired


@njit(cache=True)
def _run(
    rows: Words,
    channels: Words,
    rooms: Words,
    pieces: Words,
    right: Words,
    later: Words,
    known: Words,
    pushed: Words,
    rest: Words,
    penalty: Words,
    window: int,
    least: int,
    most: int,
) -> tuple[int, int]:
    """Windows until there are about `most` firings; gives their number, and the length of the next window."""
    total = 0
    waited = 0
    while total < most:
        _set_room(rows, channels, rooms, rest)
        fired = _fire(rows, channels, window)
        waited += 1
        if fired == 0:
            # Nothing more will be looked at.
            pushed[:] = channels[:, C.PUSHED]
        unseen = _any_unseen(channels, known, pushed)
        late = unseen and (fired == 0 or waited == PATIENCE)
        if late or _any_broken(channels):
            shortest = window == least
            window = max(window // 2, least)
            for c in range(len(channels)):
                if (shortest and channels[c, C.BROKEN]) or (late and _is_unseen(channels, c, known, pushed)):
                    rest[c] = penalty[c]
                    penalty[c] *= 4
            _restore(pieces, right)
            # Whatever comes of the next windows, the run goes on.
            _set_room(rows, channels, channels[:, C.SLOTS], rest)
            fired = sweep(rows, least)
            _save(pieces, later)
            pushed[:] = channels[:, C.PUSHED]
            waited = 0
        elif fired:
            window = min(window + window // GROWTH, MOST)
            if not unseen:
                right[:] = later
                known[:] = pushed
                _save(pieces, later)
                pushed[:] = channels[:, C.PUSHED]
                waited = 0
        if fired == 0:
            break
        total += fired
        np.maximum(rest - fired, 0, rest)
    return total, window
