"""Python's garbage collector, kept away from work that leaves nothing for it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_collection", "old_objects_left_alone"]


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
