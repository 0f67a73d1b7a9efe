"""Room for deep recursion, where the depth of a program says how deep it goes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["deep_recursion"]

FRAMES = 12_800
"""What a region of the most instances takes, at some fifty for each."""

_lock = Lock()
_inside = 0
_before = 0


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Lets functions inside nest more deeply than Python does by default. The limit is the process's, so it
    goes back to what it was when the last thread leaves."""
    global _inside, _before
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, FRAMES))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_before)
