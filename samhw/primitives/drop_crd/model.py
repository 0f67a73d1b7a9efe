"""drop_crd: removes outer coordinates whose inner fiber is empty, and those fibers."""

from samhw.graph import Arch, Graph, Node
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import DONE, NONE, PROTOCOL, PUSHES, S0, STOP, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]

OUTER, INNER = 0, 1
HAVE, GONE, PEND, PEND_DATA = 0, 1, 2, 3
START = (0, 0, NONE, 0)


def _emit(kind: int, data: int, state: Words, out_kind: Words, out_data: Words) -> int:
    """Emits a token on inner, after the one that is pending; gives the set of outputs that it pushes to."""
    if state[PEND] == NONE:
        if kind == STOP and data == S0:
            state[PEND] = STOP
            state[PEND_DATA] = S0
            return 0
        out_kind[INNER] = kind
        out_data[INNER] = data
    else:
        out_kind[INNER] = state[PEND]
        out_data[INNER] = state[PEND_DATA]
        state[PEND] = kind
        state[PEND_DATA] = data
    return 1 << INNER


def _drop() -> Step:
    emit = _emit
    outer_bit, inner_bit = 1 << OUTER, 1 << INNER
    both = outer_bit | inner_bit
    wait_inner = firing(inner_bit)
    wait_both = firing(both)
    take_inner = firing(inner_bit, inner_bit)
    take_outer = firing(both, outer_bit)
    take_both = firing(both, both)
    push_pend = firing(inner_bit, 0, inner_bit)
    push_outer = outer_bit << PUSHES
    protocol = fault(PROTOCOL, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        inner = kind[INNER]
        x = data[INNER]
        if inner == NONE:
            return wait_inner
        if inner == DONE and state[PEND] != NONE:
            out_kind[INNER] = state[PEND]
            out_data[INNER] = state[PEND_DATA]
            state[PEND] = NONE
            return push_pend
        if state[HAVE]:
            if inner == VAL:
                return take_inner | emit(VAL, x, state, out_kind, out_data) << PUSHES
            if inner == STOP and x == S0:
                state[HAVE] = 0
                return take_inner | emit(STOP, S0, state, out_kind, out_data) << PUSHES

        outer = kind[OUTER]
        if outer == NONE:
            return wait_both
        out_kind[OUTER] = outer
        out_data[OUTER] = data[OUTER]
        if inner == VAL and outer == VAL:
            state[HAVE] = 1
            return take_both | push_outer | emit(VAL, x, state, out_kind, out_data) << PUSHES
        if inner == STOP and x == S0 and outer == VAL:
            return take_both
        if inner == STOP and x & 15 == 0 and outer == VAL and not state[HAVE] and not state[GONE]:
            state[GONE] = 1
            return take_outer
        if inner == STOP and x & 15 == 0 and outer == STOP and data[OUTER] == x - 16:
            if state[HAVE]:
                state[HAVE] = 0
                return take_both | push_outer | emit(STOP, x, state, out_kind, out_data) << PUSHES
            if state[GONE]:
                state[GONE] = 0
                if state[PEND] == STOP and state[PEND_DATA] == S0:
                    state[PEND_DATA] = x
                    return take_both | push_outer
                return take_both | push_outer | emit(STOP, x + 1, state, out_kind, out_data) << PUSHES
        if inner == STOP and x & 15 != 0 and outer == STOP and data[OUTER] == x - 17:
            return take_both | push_outer | emit(STOP, x, state, out_kind, out_data) << PUSHES
        if inner == DONE and outer == DONE:
            out_kind[INNER] = DONE
            out_data[INNER] = 0
            return take_both | push_outer | inner_bit << PUSHES
        return protocol

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The coordinate dropper of two adjacent levels."""
    return ActorNetwork((Actor("drop", _drop(), ("outer", "inner"), ("outer", "inner"), START),))
