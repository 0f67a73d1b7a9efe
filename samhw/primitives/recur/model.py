"""recur: at each element of a fiber, a sum that each element rescales.

As running_blocks.py, of elements that are a factor and a value, in blocks of sixteen.
"""

from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import RECURRENCE_BLOCK, ScalarOp
from samhw.sim.network import Actor, ActorNetwork, Link
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

__all__ = ["expand"]

N, P, X = 0, 1, 2
BEHIND, Z = 1, 2
LOOPED = 0


def _spread(add: ScalarOp, multiply: ScalarOp, k: int, block: int) -> Step:
    """Round k. Inputs: factor, val. Outputs: both, and in the last round also whole blocks and all ends."""
    upper = 1 << k
    is_last = 2 * upper == block
    both = 0b11
    wait = firing(both)
    take_push = firing(both, both, both)
    take_push_all = firing(both, both, 0b1111)
    protocol = fault(PROTOCOL, both)
    overflow = fault(OVERFLOW, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE or kind[1] == NONE:
            return wait
        head = kind[1]
        place = state[N]
        factor = data[0]
        word = data[1]
        if head in PAYLOAD and kind[0] in PAYLOAD:
            if place & upper:
                word = multiply(state[X], factor)
                if word < 0:
                    return overflow
                word = add(word, data[1])
                factor = multiply(state[P], factor)
                if word < 0 or factor < 0:
                    return overflow
            elif place & upper - 1 == upper - 1:
                state[P] = factor
                state[X] = word
            state[N] = place + 1 & block - 1
            head = VAL
        elif head == kind[0] and (head == DONE or (head == STOP and factor == word)):
            place = block - 1
            state[N] = 0
        else:
            return protocol
        out_kind[0] = out_kind[1] = head
        out_data[0] = factor
        out_data[1] = word
        if is_last:
            out_kind[2] = out_kind[3] = head
            out_data[2] = factor
            out_data[3] = word
            if place == block - 1:
                return take_push_all
        return take_push

    return step


def _chain(add: ScalarOp, multiply: ScalarOp) -> Step:
    """Joins the blocks of a fiber in sequence; what it has so far comes back to it in `loop`.

    Inputs: factors, values, loop. Outputs: carry, loop.
    """
    both = 0b011
    every = 0b111
    wait = firing(both)
    wait_loop = firing(every)
    take = firing(both, both)
    take_loop = firing(every, every)
    take_push = firing(both, both, 0b11)
    take_loop_push = firing(every, every, 0b11)
    take_done = firing(both, both, 0b01)
    overflow = fault(OVERFLOW, every)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE or kind[1] == NONE:
            return wait
        head = kind[1]
        looped = state[LOOPED]
        if looped and head != DONE and kind[2] == NONE:
            return wait_loop
        if head == VAL:
            word = data[1]
            if looped:
                word = multiply(data[2], data[0])
                if word < 0:
                    return overflow
                word = add(word, data[1])
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


def _add(add: ScalarOp, multiply: ScalarOp, block: int) -> Step:
    """Joins each element to what the blocks before its own have become. Inputs: factor, val, carry."""
    both = 0b011
    every = 0b111
    wait = firing(both)
    wait_carry = firing(every)
    take_push = firing(both, both, 1)
    take_carry_push = firing(every, every, 1)
    overflow = fault(OVERFLOW, both)
    overflow_with_carry = fault(OVERFLOW, every)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE or kind[1] == NONE:
            return wait
        head = kind[1]
        behind = state[BEHIND]
        place = state[N]
        word = data[1]
        carried = head == DONE or (behind != 0 and place == 0)
        if carried and kind[2] == NONE:
            return wait_carry
        if head == VAL:
            if behind:
                if carried:
                    state[Z] = data[2]
                word = multiply(state[Z], data[0])
                if word >= 0:
                    word = add(word, data[1])
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


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The linear recurrence."""
    value, block = graph.operand_type(node), RECURRENCE_BLOCK
    add, multiply = value.scalar("add"), value.scalar("mul")
    latency = arch.reduce_latency("recur", value)
    near = Link(latency, arch.internal_depth(latency))
    # After the last round a block waits for what is before it.
    waiting = Link(latency, 2 * latency + 2)
    rounds = block.bit_length() - 1
    actors, links = [], {"carry": near, "loop": Link(latency, 2)}
    here: tuple[str, ...] = ("factor", "val")
    for k in range(rounds):
        last = k == rounds - 1
        there = (f"factor{k + 1}", f"val{k + 1}", *(("factors", "values") if last else ()))
        step = _spread(add, multiply, k, block)
        actors.append(Actor(f"spread{k}", step, here, there, (0, 0, 0)))
        links |= dict.fromkeys(there, waiting if last else near)
        here = there[:2]
    chain, join = _chain(add, multiply), _add(add, multiply, block)
    actors += [
        Actor("chain", chain, ("factors", "values", "loop"), ("carry", "loop"), (0,)),
        Actor("add", join, (*here, "carry"), ("val",), (0, 0, 0)),
    ]
    return ActorNetwork(tuple(actors), links)
