"""Producers that run ahead of their channels, for as long as it makes no difference.

A channel of four slots lets its producer fire four times before the consumer must have its turn. Longer
turns cost less, and where nobody waits for slots anyway a producer may go on as if its channel were deeper:
when the consumer comes to pop a token, it sees whether the one that took its slot was pushed too early. If
that happens to a single token, everything goes back to a state that is known to be right and is done again
at the true depths; so what is kept is right to the last cycle. Channels on which it happened keep to their
depth for a while, and for four times as long each time.

A state is known to be right when all tokens pushed before it have been looked at. That is so some time later,
so two copies are held: one that is right, and a later one that is to become so.
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

PATIENCE = 2
"""Windows for which tokens may wait to be looked at; longer, and the channel counts as too shallow."""

LONGEST = 1 << 10
"""Most windows for which a channel keeps to its depth."""

Sweep = Callable[[NDArray[np.int64], int], int]


class Ahead:
    """Runs the actors of some records, window by window.

    Args:
        sweep: runs actors, by the addresses of their records, for about as many firings; gives their number.
    """

    def __init__(self, records: Records, sweep: Sweep):
        self._records = records
        self._sweep = sweep
        count = len(records.channels)
        self._rest = np.ones(count, np.int64)
        """For how many windows each channel keeps to its depth."""
        self._penalty = np.ones(count, np.int64)
        self.look_again()
        self._window = self._least

    def look_again(self) -> None:
        """Must be called when rings have grown. No producer may be ahead."""
        self._kept = self._records.changing()
        self._right = [array.copy() for array in self._kept]
        self._later = [array.copy() for array in self._kept]
        self._pushed = self._records.channels[:, C.PUSHED].copy()
        """The tokens that had been pushed when the later copy was made."""
        self._waited = 0
        """Windows since then."""
        self._least = max(LEAST, COPY * sum(array.size for array in self._kept))

    def run(self) -> int:
        """Runs a window; gives the number of firings, 0 if none is possible. Then the state is right."""
        channels = self._records.channels
        free = (self._rest == 0) & (channels[:, C.SHORT] == 0)
        np.maximum(self._rest - 1, 0, out=self._rest)
        self._set_room(np.where(free, self._records.rooms, channels[:, C.SLOTS]))
        fired = self._run_ahead()
        self._waited += 1
        unseen = self._unseen(self._pushed if fired else channels[:, C.PUSHED])
        wrong = channels[:, C.BROKEN] == 1
        if not fired or self._waited == PATIENCE:
            wrong |= unseen
        if wrong.any():
            self._rest[wrong] = self._penalty[wrong]
            self._penalty[wrong] = np.minimum(4 * self._penalty[wrong], LONGEST)
            self._window = max(self._window // 2, self._least)
            self._go_back()
            fired = self._sweep(self._records.rows, self._least)
            self._keep_later()
        elif fired:
            self._window = min(2 * self._window, MOST)
            if not unseen.any():
                self._right, self._later = self._later, self._right
                self._keep_later()
        return fired

    def settle(self) -> None:
        """Leaves the records in a state that is known to be right, if need be an earlier one."""
        channels = self._records.channels
        if channels[:, C.BROKEN].any() or self._unseen(channels[:, C.PUSHED]).any():
            self._go_back()

    def _run_ahead(self) -> int:
        """Fires until the window ends, or it turns out that it is in vain."""
        fired = 0
        while fired < self._window and not self._records.channels[:, C.BROKEN].any():
            more = self._sweep(self._records.rows, LOOK)
            fired += more
            if not more:
                break
        return fired

    def _unseen(self, pushed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The channels of which not all of so many tokens have been looked at."""
        channels = self._records.channels
        unseen: NDArray[np.bool_] = channels[:, C.POPPED] < pushed - channels[:, C.SLOTS]
        return unseen

    def _keep_later(self) -> None:
        for array, copy in zip(self._kept, self._later, strict=True):
            np.copyto(copy, array)
        self._pushed = self._records.channels[:, C.PUSHED].copy()
        self._waited = 0

    def _go_back(self) -> None:
        for array, copy in zip(self._kept, self._right, strict=True):
            np.copyto(array, copy)
        self._set_room(self._records.channels[:, C.SLOTS])

    def _set_room(self, room: NDArray[np.int64]) -> None:
        self._records.channels[:, C.ROOM] = room
        self._records.wake_pending()
