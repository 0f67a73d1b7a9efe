"""The actors of reduce_scalar for floating-point sums, and for products: blocks of eight, pairwise, then one
after another.

Each element has a token that says what comes after it: VAL(0) if its fiber goes on, EMPTY if it ends and its
list goes on, or the STOP that ends the list.
"""

from samhw.graph.numerics import ScalarOp
from samhw.primitives.carry.model import pass_both
from samhw.sim.step import (
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

__all__ = ["CHAIN_STATE", "MARK_STATE", "PAIR_STATE", "chain", "copied", "mark", "pair", "stop_behind"]

X, HAVE, LOOPED = 0, 1, 2
MARK_STATE = PAIR_STATE = (0, 0)
CHAIN_STATE = (0, 0, 0)


def stop_behind(stop: int, out_kind: Words, out_data: Words) -> bool:
    """Puts on output 1 what comes after the sum of a fiber, or of none, at whose end is this STOP; gives
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


def copied(source: Words, at: int, target: Words, to: int, count: int) -> None:
    """Copies the further words of a block."""
    n = 0
    while n < count:
        target[to + n] = source[at + n]
        n += 1


def _combined(
    op: ScalarOp, held: Words, at: int, data: Words, further: int, out: Words, to: int, count: int
) -> int:
    """Combines the further words of a block that is held with those of the one that comes in; negative where
    a result leaves the range."""
    n = 0
    while n < count:
        word = op(held[at + n], data[further + n])
        if word < 0:
            return word
        out[to + n] = word
        n += 1
    return 0


def mark(words: int = 1) -> Step:
    """From the stream to elements with what comes after them. Input: val. Outputs: sum, stop. An element may
    be a block of this many `words`."""
    more, held = words - 1, len(MARK_STATE)
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
        if more:
            copied(state, held, out_data, 2, more)
        if head in PAYLOAD:
            state[X] = data[0]
            if more:
                _take(head, data, state, held, more)
            if state[HAVE]:
                out_kind[1] = VAL
                return take_push
            state[HAVE] = 1
            return take
        if head == STOP:
            if stop_behind(data[0], out_kind, out_data):
                state[X] = 0
                state[HAVE] = 0
                if more:
                    _take(EMPTY, data, state, held, more)
            else:
                out_kind[0] = EMPTY
                out_data[0] = 0
            return take_push
        out_kind[0] = out_kind[1] = DONE
        out_data[0] = 0
        return take_push

    return step


def _take(head: int, data: Words, state: Words, held: int, more: int) -> None:
    """Holds the further words of the block at the only input; those of an EMPTY are zero."""
    n = 0
    while n < more:
        state[held + n] = data[1 + n] if head == VAL else 0
        n += 1


def pair(op: ScalarOp, words: int = 1) -> Step:
    """Adds, or multiplies, neighbours; the last of a fiber may have none. Inputs and outputs: sum, stop."""
    more, held = words - 1, len(PAIR_STATE)
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
                if more and _combined(op, state, held, data, 2, out_data, 2, more) < 0:
                    return overflow
                state[HAVE] = 0
            elif stop == VAL:
                state[X] = data[0]
                if more:
                    copied(data, 2, state, held, more)
                state[HAVE] = 1
                return take
            elif more:
                copied(data, 2, out_data, 2, more)
            return take_push
        return take_push if _passes(total, stop) else protocol

    return step


def chain(op: ScalarOp, words: int = 1) -> Step:
    """Adds, or multiplies, the blocks of a fiber in sequence; what it has so far comes back to it in `loop`.

    Inputs and outputs: sum, stop, loop.
    """
    more, held, behind = words - 1, len(CHAIN_STATE), 3
    loop = behind + more
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
                if more and _combined(op, data, loop, data, behind, out_data, behind, more) < 0:
                    return overflow_with_loop
            elif state[HAVE]:
                out_data[0] = op(state[X], data[0])
                if out_data[0] < 0:
                    return overflow
                if more and _combined(op, state, held, data, behind, out_data, behind, more) < 0:
                    return overflow
            elif stop == VAL:
                state[X] = data[0]
                if more:
                    copied(data, behind, state, held, more)
                state[HAVE] = 1
                return take
            elif more:
                copied(data, behind, out_data, behind, more)
            state[HAVE] = 0
            if stop != VAL:
                state[LOOPED] = 0
                return take_loop_push if looped else take_push
            state[LOOPED] = 1
            out_kind[2] = VAL
            out_data[2] = out_data[0]
            if more:
                copied(out_data, behind, out_data, loop, more)
            return take_loop_push_loop if looped else take_push_loop
        return take_push if _passes(total, stop) else protocol

    return step
