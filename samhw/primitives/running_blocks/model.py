"""The actors of running for floating-point sums and products: blocks of eight, so that no step has to use the
result of the one before it.

Three rounds make of each element the reduction of its block up to it. What the blocks before add up to comes
to it from the actor that adds up whole blocks.
"""

from samhw.graph.numerics import ScalarOp
from samhw.sim.step import (
    DONE,
    NONE,
    OVERFLOW,
    PAYLOAD,
    PROTOCOL,
    STOP,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)

__all__ = ["ADD_STATE", "CHAIN_STATE", "SPREAD_STATE", "add", "chain", "spread"]

N, X = 0, 1
BEHIND, Z = 1, 2
LOOPED = 0
SPREAD_STATE = (0, 0)
CHAIN_STATE = (0,)
ADD_STATE = (0, 0, 0)


def spread(op: ScalarOp, k: int, block: int) -> Step:
    """Round k: adds the last element of the first half of each group of 2 to the power of k + 1 to every
    element of its second half. Outputs: val, and in the last round the whole blocks and all ends as well."""
    upper = 1 << k
    is_last = 2 * upper == block
    wait = firing(1)
    take_push = firing(1, 1, 0b01)
    take_push_both = firing(1, 1, 0b11)
    overflow = fault(OVERFLOW, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        place = state[N]
        word = data[0]
        if head in PAYLOAD:
            if place & upper:
                word = op(state[X], word)
                if word < 0:
                    return overflow
            elif place & upper - 1 == upper - 1:
                state[X] = word
            state[N] = place + 1 & block - 1
            head = VAL
        else:
            place = block - 1
            state[N] = 0
        out_kind[0] = head
        out_data[0] = word
        if is_last:
            out_kind[1] = head
            out_data[1] = word
            if place == block - 1:
                return take_push_both
        return take_push

    return step


def chain(op: ScalarOp) -> Step:
    """Adds the blocks of a fiber in sequence; what it has so far comes back to it in `loop`.

    Inputs: total, loop. Outputs: carry, loop.
    """
    wait = firing(0b01)
    wait_loop = firing(0b11)
    take = firing(0b01, 0b01)
    take_loop = firing(0b11, 0b11)
    take_push = firing(0b01, 0b01, 0b11)
    take_loop_push = firing(0b11, 0b11, 0b11)
    take_done = firing(0b01, 0b01, 0b01)
    overflow = fault(OVERFLOW, 0b11)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        looped = state[LOOPED]
        if looped and head != DONE and kind[1] == NONE:
            return wait_loop
        if head == VAL:
            word = data[0]
            if looped:
                word = op(data[1], word)
                if word < 0:
                    return overflow
            state[LOOPED] = 1
            out_kind[0] = out_kind[1] = VAL
            out_data[0] = out_data[1] = word
            return take_loop_push if looped else take_push
        if head == DONE:
            out_kind[0] = DONE
            out_data[0] = 0
            return take_done
        state[LOOPED] = 0
        return take_loop if looped else take

    return step


def add(op: ScalarOp, block: int) -> Step:
    """Adds to each element what the blocks before its own add up to. Inputs: val, carry. Output: val."""
    wait = firing(0b01)
    wait_carry = firing(0b11)
    take_push = firing(0b01, 0b01, 1)
    take_carry_push = firing(0b11, 0b11, 1)
    protocol = fault(PROTOCOL, 0b11)
    overflow = fault(OVERFLOW, 0b01)
    overflow_with_carry = fault(OVERFLOW, 0b11)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        behind = state[BEHIND]
        place = state[N]
        word = data[0]
        carried = head == DONE or (behind != 0 and place == 0)
        if carried:
            if kind[1] == NONE:
                return wait_carry
            if kind[1] != (DONE if head == DONE else VAL):
                return protocol
        if head == VAL:
            if behind:
                if carried:
                    state[Z] = data[1]
                word = op(state[Z], word)
                if word < 0:
                    return overflow_with_carry if carried else overflow
            state[N] = place + 1 & block - 1
            if place == block - 1:
                state[BEHIND] = 1
        elif head == STOP:
            state[N] = 0
            state[BEHIND] = 0
        out_kind[0] = head
        out_data[0] = word
        return take_carry_push if carried else take_push

    return step
