"""The actor `walk`: enumerates the coordinates of fibers. The level scanners share it."""

from collections.abc import Callable

from samhw.sim.network import Read
from samhw.sim.step import DONE, NONE, PROTOCOL, RANGE, S0, STOP, VAL, Memory, Step, Words, fault, firing

__all__ = ["BEYOND", "DISORDERED", "WALK_READS", "WALK_STATE", "walk"]

C, OPEN = 0, 1
BEYOND, DISORDERED = -1, -2
"""Instead of a coordinate: it lies beyond its memory or its extent, or is not greater than the last one."""
WALK_STATE = (0, 0)
WALK_READS = (Read(0, output=0, port=1, pushed=True),)
"""A coordinate lies where its reference says, in the array of a level that stores coordinates."""


def walk(
    inputs: int,
    length: Callable[[Words, Memory], int],
    crd: Callable[[Words, Memory, int], int],
    ref: Callable[[Words, Memory, int], int],
) -> Step:
    """The step function of a walk over `inputs` streams in lockstep; outputs 0 and 1 are crd and ref.

    Args:
        length: (payloads, memory) -> number of coordinates of the fiber.
        crd: (payloads, memory, c) -> coordinate c of the fiber, `BEYOND` or `DISORDERED`.
        ref: (payloads, memory, c) -> its reference.
    """
    heads = (1 << inputs) - 1
    both = 0b11
    wait = firing(heads)
    push = firing(heads, 0, both)
    take = firing(heads, heads)
    take_push = firing(heads, heads, both)
    protocol = fault(PROTOCOL, heads)
    beyond = fault(RANGE, heads)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        for i in range(inputs):
            if kind[i] == NONE:
                return wait
        head = kind[0]
        if head == STOP:
            _end(
                STOP, data[0] + 16 if data[0] & 15 == 0 and state[OPEN] else data[0] + 17, out_kind, out_data
            )
            state[OPEN] = 0
            return take_push
        if head == DONE:
            if state[OPEN]:
                _end(STOP, S0, out_kind, out_data)
                state[OPEN] = 0
                return push
            _end(DONE, 0, out_kind, out_data)
            return take_push

        c = state[C]
        n = length(data, memory) if head == VAL else 0
        if n < 0:
            return protocol
        if state[OPEN] and c == 0:
            _end(STOP, S0, out_kind, out_data)
            if n > 0:
                state[OPEN] = 0
                return push
            return take_push
        if n == 0:
            state[OPEN] = 1
            return take
        coordinate = crd(data, memory, c)
        if coordinate < 0:
            return beyond if coordinate == BEYOND else protocol
        out_kind[0] = out_kind[1] = VAL
        out_data[0] = coordinate
        out_data[1] = ref(data, memory, c)
        if c < n - 1:
            state[C] = c + 1
            state[OPEN] = 0
            return push
        state[C] = 0
        state[OPEN] = 1
        return take_push

    return step


def _end(kind: int, data: int, out_kind: Words, out_data: Words) -> None:
    """Pushes a STOP or DONE on both outputs."""
    out_kind[0] = out_kind[1] = kind
    out_data[0] = out_data[1] = data
