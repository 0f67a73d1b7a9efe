"""The actor `write`: takes a stream to its end, and commits there. The writers share it."""

from collections.abc import Callable

from samhw.sim.step import CAPACITY, COMMITTED, NONE, PAYLOAD, STOP, Memory, Step, Words, fault, firing

__all__ = ["append", "write"]

_FULL = fault(CAPACITY, 1)


def append(words: Words, word: int, state: Words, count: int) -> int:
    """Stores a word after those that are there, of which the register `count` tells how many; gives 0, or
    the fault of a memory that is full."""
    n = state[count]
    if n >= len(words):
        return _FULL
    words[n] = word
    state[count] = n + 1
    return 0


def write(
    payload: Callable[[int, int, Words, Memory], int],
    fiber_end: Callable[[Words, Memory], int],
) -> Step:
    """The step function; its register `COMMITTED` is set at DONE.

    Args:
        payload: what (kind, data, state, memory) of a payload changes; gives 0 or a fault.
        fiber_end: what (state, memory) change where an innermost fiber ends; gives 0 or a fault.
    """
    wait = firing(1)
    take = firing(1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        word = 0
        if head in PAYLOAD:
            word = payload(head, data[0], state, memory)
        elif head == STOP:
            if data[0] & 15 == 0:
                word = fiber_end(state, memory)
        else:
            state[COMMITTED] = 1
        return word if word < 0 else take

    return step
