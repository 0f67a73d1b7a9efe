"""Memory for rows and trails, which a process keeps for its next run.

The system clears memory that it gives out, which with thousands of channels takes a quarter of a run.
"""

from mmap import mmap
from threading import Lock

import numpy as np
from numpy.typing import NDArray

__all__ = ["Borrowed"]

Words = NDArray[np.int64]

KEEP = 1 << 29
"""Words that are kept at most. Few of them are touched, and only those take memory."""

_spare: list[Words] = []
"""What nobody uses, the oldest first."""

_lock = Lock()


class Borrowed:
    """What a run has taken."""

    def __init__(self) -> None:
        self._taken: list[Words] = []

    def take(self, count: int) -> Words:
        """This many words with anything in them: the smallest array that suffices, or a new one."""
        with _lock:
            enough = [n for n, words in enumerate(_spare) if len(words) >= count]
            best = min(enough, key=lambda n: len(_spare[n]), default=None)
            words = _in_small_pages(count) if best is None else _spare.pop(best)
        self._taken.append(words)
        return words[:count]

    def give_back(self) -> None:
        """Leaves everything to the next run."""
        with _lock:
            _spare.extend(self._taken)
            self._taken.clear()
            while sum(map(len, _spare)) > KEEP:
                del _spare[0]


def _in_small_pages(count: int) -> Words:
    """This many new words. Most rows and trails are long enough for the few that are long; NumPy would have
    them in huge pages, which the system clears as a whole when one word is touched."""
    return np.frombuffer(mmap(-1, 8 * max(1, count)), np.int64)
