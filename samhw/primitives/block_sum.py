"""The actors of reduce_scalar for floating-point sums, and for products: blocks of eight, pairwise, then one
after another.

Beside each element goes the token that says what comes behind it: VAL(0) if its fiber goes on, EMPTY if it
ends and its list goes on, or the STOP that ends the list.
"""

from samhw.numerics import ScalarOp
from samhw.primitives.lockstep import pass_both
from samhw.primitives.step import (
    DONE,
    EMPTY,
    NONE,
    OVERFLOW,
    PAYLOAD,
    PROTOCOL,
    S0,
    STOP,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)

__all__ = ["CHAIN_STATE", "MARK_STATE", "PAIR_STATE", "chain", "mark", "pair", "stop_behind"]

X, HAVE, LOOPED = 0, 1, 2
MARK_STATE = PAIR_STATE = (0, 0)
CHAIN_STATE = (0, 0, 0)


def stop_behind(stop: int, out_kind: Words, out_data: Words) -> bool:
    """Puts on output 1 what comes behind the sum of a fiber, or of none, at whose end is this STOP; gives
    whether a fiber ends."""
    ends = stop & 15 == 0
    if stop == S0:
        out_kind[1] = EMPTY
        out_data[1] = 0
    else:
        out_kind[1] = STOP
        out_data[1] = stop - 16 if ends else stop - 17  # STOP(0, hi-1), STOP(lo-1, hi-1)
    return ends


def _passes(total: int, stop: int) -> bool:
    """Whether these kinds stand for no element: the end of a list without a fiber, or of everything."""
    return (total == EMPTY and stop == STOP) or (total == DONE and stop == DONE)


def mark() -> Step:
    """From the stream to elements with what comes behind them. Input: val. Outputs: sum, stop."""
    wait = firing(1)
    take = firing(1, 1)
    take_push = firing(1, 1, 0b11)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        out_kind[0] = VAL
        out_data[0] = state[X]
        out_data[1] = 0
        if head in PAYLOAD:
            state[X] = data[0]
            if state[HAVE]:
                out_kind[1] = VAL
                return take_push
            state[HAVE] = 1
            return take
        if head == STOP:
            if stop_behind(data[0], out_kind, out_data):
                state[X] = 0
                state[HAVE] = 0
            else:
                out_kind[0] = EMPTY
                out_data[0] = 0
            return take_push
        out_kind[0] = out_kind[1] = DONE
        out_data[0] = 0
        return take_push

    return step


def pair(op: ScalarOp) -> Step:
    """Adds, or multiplies, neighbours; the last of a fiber may have none. Inputs and outputs: sum, stop."""
    both = 0b11
    wait = firing(both)
    take = firing(both, both)
    take_push = firing(both, both, both)
    protocol = fault(PROTOCOL, both)
    overflow = fault(OVERFLOW, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if not pass_both(kind, data, out_kind, out_data):
            return wait
        total = kind[0]
        stop = kind[1]
        if total == VAL and stop != DONE:
            if state[HAVE]:
                word = op(state[X], data[0])
                if word < 0:
                    return overflow
                out_data[0] = word
                state[HAVE] = 0
            elif stop == VAL:
                state[X] = data[0]
                state[HAVE] = 1
                return take
            return take_push
        return take_push if _passes(total, stop) else protocol

    return step


def chain(op: ScalarOp) -> Step:
    """Adds, or multiplies, the blocks of a fiber in sequence; what it has so far comes back to it in `loop`.

    Inputs and outputs: sum, stop, loop.
    """
    both = 0b011
    every = 0b111
    wait = firing(both)
    wait_loop = firing(every)
    take = firing(both, both)
    take_push = firing(both, both, both)
    take_push_loop = firing(both, both, 0b100)
    take_loop_push = firing(every, every, both)
    take_loop_push_loop = firing(every, every, 0b100)
    protocol = fault(PROTOCOL, both)
    overflow = fault(OVERFLOW, both)
    overflow_with_loop = fault(OVERFLOW, every)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if not pass_both(kind, data, out_kind, out_data):
            return wait
        total = kind[0]
        stop = kind[1]
        if total == VAL and stop != DONE:
            looped = state[LOOPED]
            if looped:
                if kind[2] == NONE:
                    return wait_loop
                out_data[0] = op(data[2], data[0])
                if out_data[0] < 0:
                    return overflow_with_loop
            elif state[HAVE]:
                out_data[0] = op(state[X], data[0])
                if out_data[0] < 0:
                    return overflow
            elif stop == VAL:
                state[X] = data[0]
                state[HAVE] = 1
                return take
            state[HAVE] = 0
            if stop != VAL:
                state[LOOPED] = 0
                return take_loop_push if looped else take_push
            state[LOOPED] = 1
            out_kind[2] = VAL
            out_data[2] = out_data[0]
            return take_loop_push_loop if looped else take_push_loop
        return take_push if _passes(total, stop) else protocol

    return step
