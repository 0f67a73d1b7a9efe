"""The compiled engine without a compiler: its loops run as the Python functions that they are written as.

So their logic is tested on any number of different graphs, none of which has to be compiled.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

from samhw.sim import compiled
from samhw.sim.compiled import ahead, burst, channel, firing, library, loop, ports, records, sweeps
from samhw.sim.machine import Worker

MOST_WORDS = 1 << 20
"""An array over memory of unknown size: more than any ring of a test."""


@cache
def _words_type(count: int) -> type:
    return ctypes.c_int64 * count


def words_at(address: int, count: int) -> np.ndarray:
    return np.frombuffer(_words_type(min(int(count), MOST_WORDS)).from_address(int(address)), np.int64)


def local_words(count: int) -> np.ndarray:
    return np.zeros(max(1, count), np.int64)


@contextmanager
def interpreted() -> Iterator[None]:
    """Inside, `engine="compiled"` interprets its loops."""
    loops: list[Callable[[int, int], int]] = [ports.look_at, ports.serve_next]

    def loop_address(worker: Worker, logs: bool) -> int:
        loops.append(library._loop(worker, logs))
        return len(loops) - 1

    def call(code: int, address: int, budget: int) -> int:
        return loops[code](int(address), budget)

    with pytest.MonkeyPatch.context() as patch:
        for name in channel.__all__:
            function = getattr(channel, name).py_func
            for module in (channel, loop, firing, burst):
                patch.setattr(module, name, function, raising=False)
        for module in (channel, loop, firing, burst, ports):
            patch.setattr(module, "words_at", words_at)
        patch.setattr(loop, "local_words", local_words)
        # Short windows, in which producers run ahead by few tokens.
        patch.setattr(records, "AHEAD", 6)
        patch.setattr(burst, "LEAST", 1)
        patch.setattr(ahead, "LEAST", 64)
        patch.setattr(ahead, "COPIED", MOST_WORDS)
        patch.setattr(ahead, "LOOK", 32)
        for name in (
            "_save",
            "_restore",
            "_set_room",
            "_is_ahead",
            "_any_ahead",
            "_broken",
            "_run_ahead",
            "_catch_up",
            "_run",
        ):
            patch.setattr(ahead, name, getattr(ahead, name).py_func)
        patch.setattr(ahead, "words_at", words_at)
        patch.setattr(sweeps, "words_at", words_at)
        for module in (firing, sweeps):
            patch.setattr(module, "call", call)
        for module in (compiled, ahead, sweeps):
            patch.setattr(module, "sweep", sweeps.sweep.py_func)
        patch.setattr(compiled, "sweep_and_serve", sweeps.sweep_and_serve.py_func)
        patch.setattr(compiled, "port_addresses", lambda: (0, 1))
        patch.setattr(records, "loop_address", loop_address)
        yield
