"""The memories of an actor, by the addresses in its record."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.machine_code import words_at
from samhw.primitives.step import Words

__all__ = ["array_of", "stores_of"]


def array_of(store: Any) -> NDArray[np.int64]:
    """The words of a store of a worker, as an array that shares them if somebody may write them.

    Those of a list are copied: it is an extent or the tokens of a source.
    """
    return np.asarray(store) if isinstance(store, memoryview) else np.array(store, np.int64)


def stores_of(at: int, count: int) -> Callable[[Words], tuple[Words, ...]]:
    """The function that gives the arrays of an actor's stores, which begin at a place of its record."""
    if count == 0:

        def nothing(me: Words) -> tuple[Words, ...]:
            return ()

        return nothing
    before = stores_of(at, count - 1)
    place = at + 2 * (count - 1)

    def stored(me: Words) -> tuple[Words, ...]:
        return (*before(me), words_at(me[place], me[place + 1]))

    return stored
