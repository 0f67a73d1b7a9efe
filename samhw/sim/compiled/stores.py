"""The memories of an actor, by the addresses in its record."""

from collections.abc import Callable

from samhw.primitives.step import Words
from samhw.sim.compiled.native import words_at

__all__ = ["stores_of"]


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
