"""What an actor does with a channel's ring (layout.py). Inlined into every loop.

A ring is given by its address and its mask, a token by its number; `popped` and `pushed` are the tokens that
are known to be popped and pushed.
"""

from typing import Any

import numba

from samhw.sim.compiled.layout import CYCLE, ENTRY, SLOT, C, L
from samhw.sim.compiled.native import words_at

__all__ = [
    "came_early",
    "entry",
    "fullest_at_pop",
    "fullest_at_push",
    "is_crowded",
    "log_passage",
    "with_data",
]

CHANNEL = len(C)
LOG = len(L)

njit: Any = numba.njit
inlined = njit(error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@inlined
def entry(ring: int, mask: int, number: int) -> Any:
    """The words of a token's slot."""
    return words_at(ring + 8 * (SLOT * number & mask), SLOT)


@inlined
def with_data(there: int, mask: int, number: int) -> Any:
    """The word that says when a token is there with its data from off-chip memory; `there` as in `C`."""
    return words_at(there + 8 * (number & mask // SLOT), 1)


@inlined
def is_crowded(ring: int, mask: int, popped: int, pushed: int, high: int, t: int) -> bool:
    """Not, if a push in cycle t finds a slot and leaves the channel no fuller than ever, as far as is known.

    Slots become free in the order of the tokens, and no more than `high`, hence no more than there are, were
    ever taken at once: it is enough that the token of so many pushes ago has left, or else the last one that
    is known to leave.
    """
    late: bool = entry(ring, mask, min(pushed - high, popped - 1))[CYCLE] > t
    return late


@inlined
def fullest_at_push(ring: int, mask: int, popped: int, pushed: int, high: int, t: int) -> int:
    """The most slots taken at once, which were `high`, when one more is taken in cycle t.

    As long as no pop in that cycle or later is known, the tokens may have left by then; then the pop counts.
    """
    n = min(pushed - high, popped - 1)
    # A ring that is all taken belongs to a producer that has run ahead in vain.
    while SLOT * high < mask and entry(ring, mask, n)[CYCLE] > t:
        high = pushed + 1 - n
        n -= 1
    return high


@inlined
def fullest_at_pop(ring: int, mask: int, popped: int, pushed: int, high: int, ready: int) -> int:
    """The most slots taken at once, which were `high`, counting those that are taken when the next pop comes:
    of the tokens that are available before cycle `ready`."""
    while popped + high < pushed and entry(ring, mask, popped + high)[CYCLE] < ready:
        high += 1
    return high


@inlined
def came_early(ring: int, mask: int, number: int, pushed: int, ready: int) -> bool:
    """Whether that token, which was to take the slot of a head, was pushed before the head has left, and so
    is available before cycle `ready`."""
    return number < pushed and entry(ring, mask, number)[CYCLE] < ready


@inlined
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
