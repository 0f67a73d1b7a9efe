"""Producers that run ahead of their channels, for as long as it makes no difference.

A channel of four slots lets its producer fire four times before the consumer must have its turn. Longer
turns cost less, and where nobody waits for slots anyway a producer may go on as if its channel were deeper:
when the consumer comes to pop a token, it sees whether the one that took its slot was pushed too early. If
that happens to a single token, everything goes back to where the window began and is done again at the true
depths; so what is kept is right to the last cycle. Channels on which it happened keep to their depth for a
while, and for four times as long each time.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samhw.sim.compiled.layout import C
from samhw.sim.compiled.records import Records

__all__ = ["Ahead"]

LEAST, MOST = 1 << 12, 1 << 19
"""Firings of a window."""

LOOK = 1 << 13
"""Firings between two looks at whether a window is in vain."""

COPY = 2
"""Firings of a window for each word that has to be copied before it."""

CATCH_UP = 64
"""Turns that consumers get at the end of a window; whom that does not suffice was too far behind."""

LONGEST = 1 << 10
"""Most windows for which a channel keeps to its depth."""

Sweep = Callable[[NDArray[np.int64], int], int]


class Ahead:
    """Runs the actors of some records, window by window. Between windows no producer is ahead.

    Args:
        sweep: runs actors, by the addresses of their records, for about as many firings; gives their number.
    """

    def __init__(self, records: Records, sweep: Sweep):
        self._records = records
        self._sweep = sweep
        self.look_again()
        self._window = self._least
        count = len(records.channels)
        self._rest = np.ones(count, np.int64)
        """For how many windows each channel keeps to its depth."""
        self._penalty = np.ones(count, np.int64)

    def look_again(self) -> None:
        """Must be called when rings have grown."""
        self._kept = self._records.changing()
        self._copies = [array.copy() for array in self._kept]
        self._least = max(LEAST, COPY * sum(array.size for array in self._kept))

    def run(self) -> int:
        """Runs a window; gives the number of firings, 0 if none is possible."""
        channels = self._records.channels
        free = (self._rest == 0) & (self._records.rooms > channels[:, C.SLOTS]) & (channels[:, C.SHORT] == 0)
        np.maximum(self._rest - 1, 0, out=self._rest)
        if not free.any() or self._least > MOST:
            return self._sweep(self._records.rows, self._least)
        for array, copy in zip(self._kept, self._copies, strict=True):
            np.copyto(copy, array)
        channels[free, C.ROOM] = self._records.rooms[free]
        self._records.wake_pending()
        fired = self._run_ahead()
        channels[:, C.ROOM] = channels[:, C.SLOTS]
        fired += self._catch_up()
        broken = self._broken()
        if not broken.any():
            self._window = min(2 * self._window, MOST)
            return fired
        for array, copy in zip(self._kept, self._copies, strict=True):
            np.copyto(array, copy)
        self._rest[broken] = self._penalty[broken]
        self._penalty[broken] = np.minimum(4 * self._penalty[broken], LONGEST)
        self._window = max(self._window // 2, self._least)
        return self._sweep(self._records.rows, self._least)

    def _run_ahead(self) -> int:
        """Fires until the window ends, or it turns out that it is in vain."""
        fired = 0
        while fired < self._window and not self._records.channels[:, C.BROKEN].any():
            more = self._sweep(self._records.rows, LOOK)
            fired += more
            if not more:
                break
        return fired

    def _catch_up(self) -> int:
        """Gives consumers some turns, until no producer is ahead."""
        fired = 0
        for _ in range(CATCH_UP):
            if not self._is_ahead().any() or self._records.channels[:, C.BROKEN].any():
                break
            fired += self._sweep(self._records.rows, 1)
        return fired

    def _is_ahead(self) -> NDArray[np.bool_]:
        channels = self._records.channels
        ahead: NDArray[np.bool_] = channels[:, C.PUSHED] - channels[:, C.POPPED] > channels[:, C.SLOTS]
        return ahead

    def _broken(self) -> NDArray[np.bool_]:
        """The channels on which running ahead made a difference, or may have."""
        return (self._records.channels[:, C.BROKEN] == 1) | self._is_ahead()
