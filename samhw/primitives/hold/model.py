"""The actor `hold`: repeats an outer payload for each inner coordinate; of repeat, crd_hold and locate."""

from collections.abc import Callable

from samhw.sim.step import (
    DONE,
    NONE,
    PAYLOAD,
    PROTOCOL,
    RANGE,
    S0,
    STOP,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)

__all__ = ["HOLD_STATE", "hold", "same"]

OUTER, INNER = 0b01, 0b10
HELD, H_KIND, H_DATA = 0, 1, 2
HOLD_STATE = (0, 0, 0)


def same(h: int, x: int, memory: Memory) -> int:
    """f(h, x) = h."""
    return h


def hold(f: Callable[[int, int, Memory], int]) -> Step:
    """The step function; input 0 is the outer stream, input 1 the inner one.

    `f` is (held payload, inner coordinate, memory) -> the payload to push, or -1 if that is out of range.
    An EMPTY that is held is pushed as EMPTY.
    """
    both = OUTER | INNER
    wait_inner = firing(INNER)
    wait_both = firing(both)
    take_inner = firing(INNER, INNER, 1)
    take_outer = firing(both, OUTER)
    take_both = firing(both, both, 1)
    protocol = fault(PROTOCOL, both)
    beyond_inner = fault(RANGE, INNER)
    beyond_both = fault(RANGE, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        inner = kind[1]
        if inner == NONE:
            return wait_inner
        if state[HELD]:
            if inner == VAL:
                word = f(state[H_DATA], data[1], memory)
                if word < 0:
                    return beyond_inner
                out_kind[0] = state[H_KIND]
                out_data[0] = word if state[H_KIND] == VAL else 0
                return take_inner
            if inner == STOP and data[1] == S0:
                out_kind[0] = STOP
                out_data[0] = S0
                state[HELD] = 0
                return take_inner
        outer = kind[0]
        if outer == NONE:
            return wait_both
        payload = outer in PAYLOAD

        if inner == VAL and payload:
            word = f(data[0], data[1], memory)
            if word < 0:
                return beyond_both
            out_kind[0] = outer
            out_data[0] = word if outer == VAL else 0
            state[HELD] = 1
            state[H_KIND] = outer
            state[H_DATA] = data[0]
            return take_both
        if inner == STOP:
            if data[1] == S0:
                if payload:
                    out_kind[0] = STOP
                    out_data[0] = S0
                    return take_both
            elif data[1] & 15 == 0:
                if payload and not state[HELD]:
                    state[HELD] = 1
                    state[H_KIND] = outer
                    state[H_DATA] = data[0]
                    return take_outer
                if outer == STOP and state[HELD] and data[0] == data[1] - 16:
                    out_kind[0] = STOP
                    out_data[0] = data[1]
                    state[HELD] = 0
                    return take_both
            elif outer == STOP and not state[HELD] and data[0] == data[1] - 17:
                out_kind[0] = STOP
                out_data[0] = data[1]
                return take_both
        if inner == DONE and outer == DONE and not state[HELD]:
            out_kind[0] = DONE
            out_data[0] = 0
            return take_both
        return protocol

    return step
