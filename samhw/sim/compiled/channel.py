"""What an actor does with a channel, on the channel's record (layout.py). Inlined into every loop."""

from typing import Any

import numba

from samhw.sim.compiled.layout import ENTRY, C, L
from samhw.sim.compiled.native import words_at

__all__ = ["has_token", "head", "is_full", "log_passage", "pop", "push", "slot_cycle"]

CHANNEL = len(C)
LOG = len(L)
RING_WORDS = 1 << 60
"""Any ring has fewer; nothing checks bounds."""

njit: Any = numba.njit
inlined = njit(error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@inlined
def has_token(address: int) -> bool:
    """Whether there is a head."""
    channel = words_at(address, CHANNEL)
    return channel[C.POPPED] < channel[C.PUSHED]


@inlined
def head(address: int) -> tuple[int, int]:
    """The token at the head, and the first cycle in which it is available."""
    channel = words_at(address, CHANNEL)
    ring = words_at(channel[C.RING], RING_WORDS)
    slot = 2 * (channel[C.POPPED] & channel[C.MASK])
    return ring[slot], ring[slot + 1]


@inlined
def is_full(address: int) -> bool:
    """Whether no slot is known to become free."""
    channel = words_at(address, CHANNEL)
    taken = channel[C.PUSHED] - channel[C.FREED]
    return taken == channel[C.SLOTS] and (channel[C.FREED] == channel[C.POPPED] or channel[C.SHORT] == 1)


@inlined
def slot_cycle(address: int) -> int:
    """The first cycle in which the next token has a slot, or one long past."""
    channel = words_at(address, CHANNEL)
    if channel[C.PUSHED] - channel[C.FREED] < channel[C.SLOTS]:
        return 0
    return words_at(channel[C.RING], RING_WORDS)[2 * (channel[C.FREED] & channel[C.MASK]) + 1]


@inlined
def pop(address: int, token: int, ready: int, t: int) -> None:
    """Takes the head, which is that token, available from cycle `ready` on, in cycle t."""
    channel = words_at(address, CHANNEL)
    ring = words_at(channel[C.RING], RING_WORDS)
    mask = channel[C.MASK]
    popped = channel[C.POPPED]
    pushed = channel[C.PUSHED]
    high = channel[C.HIGH]
    while popped + high < pushed and ring[2 * (popped + high & mask) + 1] - channel[C.LATENCY] <= t:
        high += 1
    channel[C.HIGH] = high
    channel[C.DWELL] += t - ready
    channel[C.VALS + (token & 3)] += 1
    ring[2 * (popped & mask) + 1] = t + 1
    channel[C.POPPED] = popped + 1


@inlined
def push(address: int, token: int, t: int) -> None:
    """Puts a token in, in cycle t."""
    channel = words_at(address, CHANNEL)
    ring = words_at(channel[C.RING], RING_WORDS)
    mask = channel[C.MASK]
    popped = channel[C.POPPED]
    freed = channel[C.FREED]
    while freed < popped and ring[2 * (freed & mask) + 1] <= t:
        freed += 1
    channel[C.FREED] = freed
    pushed = channel[C.PUSHED]
    # As long as no later pop is known, the tokens may have been popped by now; then `pop` counts them.
    if freed < popped and pushed + 1 - freed > channel[C.HIGH]:
        channel[C.HIGH] = pushed + 1 - freed
    slot = 2 * (pushed & mask)
    ring[slot] = token
    ring[slot + 1] = t + channel[C.LATENCY]
    channel[C.PUSHED] = pushed + 1


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
