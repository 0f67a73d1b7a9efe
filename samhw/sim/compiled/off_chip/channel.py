"""What an actor does with a channel's ring (layout.py).

A row of a ring is given by its address and the ring's mask, a token by its number; `popped` and `pushed` are
the tokens that are known to be popped and pushed.
"""

from typing import Any

from samhw.machine_code import words_at
from samhw.sim.compiled.off_chip.layout import ENTRY, C, L

__all__ = ["fullest_at_pop", "fullest_at_push", "is_crowded", "log_passage", "words_of"]

CHANNEL = len(C)
LOG = len(L)


def words_of(row: int, mask: int, number: int) -> Any:
    """The words of a row from a token's slot on, up to the last slot."""
    return words_at(row + 8 * (number & mask), mask + 1 - (number & mask))


def is_crowded(cycles: int, mask: int, popped: int, pushed: int, high: int, t: int) -> bool:
    """Not, if a push in cycle t finds a slot and leaves the channel no fuller than ever, as far as is known.

    Slots become free in the order of the tokens, and no more than `high`, hence no more than there are, were
    ever taken at once: it is enough that the token of so many pushes ago has left, or else the last one that
    is known to leave.
    """
    late: bool = words_of(cycles, mask, min(pushed - high, popped - 1))[0] > t
    return late


def fullest_at_push(cycles: int, mask: int, popped: int, pushed: int, high: int, t: int) -> int:
    """The most slots taken at once, which were `high`, when one more is taken in cycle t.

    As long as no pop in that cycle or later is known, the tokens may have left by then; then the pop counts.
    """
    n = min(pushed - high, popped - 1)
    while words_of(cycles, mask, n)[0] > t:
        high = pushed + 1 - n
        n -= 1
    return high


def fullest_at_pop(cycles: int, mask: int, popped: int, pushed: int, high: int, ready: int) -> int:
    """The most slots taken at once, which were `high`, counting those that are taken when the next pop comes:
    of the tokens that are available before cycle `ready`."""
    while popped + high < pushed and words_of(cycles, mask, popped + high)[0] < ready:
        high += 1
    return high


def log_passage(log_address: int, address: int, token: int, ready: int, t: int) -> None:
    """Puts a pop in cycle t into the log, if it belongs there."""
    log = words_at(log_address, LOG)
    channel = words_at(address, CHANNEL)
    if channel[C.LOGGED] and log[L.BEGIN] <= t and t < log[L.END]:
        entry = words_at(log[L.ENTRIES] + 8 * ENTRY * log[L.COUNT], ENTRY)
        entry[0] = channel[C.NUMBER]
        entry[1] = ready - channel[C.LATENCY]
        entry[2] = t
        entry[3] = token
        log[L.COUNT] += 1
