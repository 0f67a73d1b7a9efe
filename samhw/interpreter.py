"""What is asked of Python's interpreter: to keep its collector away, and to recur deeply."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["deep_recursion", "no_collection", "old_objects_left_alone"]


@contextmanager
def no_collection() -> Iterator[None]:
    """For making many objects that all live on: the collector would walk through them again and again, for a
    third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def old_objects_left_alone() -> Iterator[None]:
    """For work that leaves something for the collector, in a process that may have PyTorch's millions of
    objects: a full collection of them takes as long as a small program's compilation."""
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


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
