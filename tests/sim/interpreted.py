"""The compiled engine without a compiler: its functions run as the Python that they are written as.

So their logic is tested on any number of different graphs, none of which has to be compiled.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from samhw.sim.compiled import gate, off_chip, on_chip, stores
from samhw.sim.compiled.off_chip import channel, firing, loop, ports, sweeps
from samhw.sim.compiled.on_chip import cycles, marks, phases, streams, timing, tokens

MOST_WORDS = 1 << 20
"""An array over memory of unknown size: more than any ring of a test."""


@cache
def _words_type(count: int) -> Any:
    return ctypes.c_int64 * count


def words_at(address: int, count: int) -> np.ndarray:
    words = _words_type(min(max(int(count), 0), MOST_WORDS))
    return np.frombuffer(words.from_address(int(address)), np.int64)


def local_words(count: int) -> np.ndarray:
    return np.zeros(max(1, count), np.int64)


@contextmanager
def interpreted() -> Iterator[None]:
    """Inside, `engine="compiled"` interprets its functions."""
    functions: list[FunctionType] = []

    def address_of(function: FunctionType, where: str) -> int:
        functions.append(function)
        return len(functions) - 1

    def call(code: int, first: int, second: int) -> int:
        return functions[code](int(first), int(second))

    with pytest.MonkeyPatch.context() as patch:
        for module in (
            gate,
            stores,
            channel,
            firing,
            loop,
            ports,
            sweeps,
            cycles,
            marks,
            phases,
            timing,
            tokens,
        ):
            patch.setattr(module, "words_at", words_at)
        for module in (loop, cycles, tokens):
            patch.setattr(module, "local_words", local_words)
        for module in (firing, sweeps, phases, timing):
            patch.setattr(module, "call", call)
        for side in (on_chip, off_chip):
            patch.setattr(side, "run_code", call)
            patch.setattr(side.functions, "address_of", address_of)
        patch.setattr(on_chip.functions, "_addresses", WeakKeyDictionary())
        # Short phases with few saved states, in which producers run ahead by few tokens, at first with little
        # room.
        patch.setattr(streams, "PHASE", 64)
        patch.setattr(streams, "AHEAD", 6)
        patch.setattr(streams, "ROOM", 8)
        patch.setattr(cycles, "LEAST", 2)
        patch.setattr(cycles, "STREAK", 2)
        patch.setattr(cycles, "SPAN", 2)
        for module in (cycles, streams):
            patch.setattr(module, "STATES", 9)
        yield
