"""The memories of an actor, by the addresses in its record."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samhw.sim.machine_code import words_at
from samhw.sim.step import Memory

__all__ = ["array_of", "stores_of"]


def array_of(store: object) -> NDArray[np.int64]:
    """The words of a store of a worker, as an array that shares them if somebody may write them.

    Those of a list are copied: it is an extent or the tokens of a source.
    """
    return np.asarray(store) if isinstance(store, memoryview) else np.array(store, np.int64)


def stores_of(count: int) -> Callable[[int], Memory]:
    """The function that gives an actor's memories, whose addresses and sizes lie at an address."""
    if count == 0:

        def nothing(address: int) -> Memory:
            return ()

        return nothing
    before = stores_of(count - 1)

    def stored(address: int) -> Memory:
        place = words_at(address, 2 * count)
        return (*before(address), words_at(place[2 * count - 2], place[2 * count - 1]))

    return stored
