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
BOTH = OUTER | INNER
WAIT_INNER, WAIT_BOTH = firing(INNER), firing(BOTH)
TAKE_INNER = firing(INNER, INNER, 1)
TAKE_OUTER = firing(BOTH, OUTER)
TAKE_BOTH = firing(BOTH, BOTH, 1)
DISAGREE = fault(PROTOCOL, BOTH)
BEYOND_INNER, BEYOND_BOTH = fault(RANGE, INNER), fault(RANGE, BOTH)
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

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        inner = kind[1]
        if inner == NONE:
            return WAIT_INNER
        if state[HELD]:
            if inner == VAL:
                word = f(state[H_DATA], data[1], memory)
                if word < 0:
                    return BEYOND_INNER
                out_kind[0] = state[H_KIND]
                out_data[0] = word if state[H_KIND] == VAL else 0
                return TAKE_INNER
            if inner == STOP and data[1] == S0:
                out_kind[0] = STOP
                out_data[0] = S0
                state[HELD] = 0
                return TAKE_INNER
        outer = kind[0]
        if outer == NONE:
            return WAIT_BOTH
        payload = outer in PAYLOAD

        if inner == VAL and payload:
            word = f(data[0], data[1], memory)
            if word < 0:
                return BEYOND_BOTH
            out_kind[0] = outer
            out_data[0] = word if outer == VAL else 0
            state[HELD] = 1
            state[H_KIND] = outer
            state[H_DATA] = data[0]
            return TAKE_BOTH
        if inner == STOP:
            if data[1] == S0:
                if payload:
                    out_kind[0] = STOP
                    out_data[0] = S0
                    return TAKE_BOTH
            elif data[1] & 15 == 0:
                if payload and not state[HELD]:
                    state[HELD] = 1
                    state[H_KIND] = outer
                    state[H_DATA] = data[0]
                    return TAKE_OUTER
                if outer == STOP and state[HELD] and data[0] == data[1] - 16:
                    out_kind[0] = STOP
                    out_data[0] = data[1]
                    state[HELD] = 0
                    return TAKE_BOTH
            elif outer == STOP and not state[HELD] and data[0] == data[1] - 17:
                out_kind[0] = STOP
                out_data[0] = data[1]
                return TAKE_BOTH
        if inner == DONE and outer == DONE and not state[HELD]:
            out_kind[0] = DONE
            out_data[0] = 0
            return TAKE_BOTH
        return DISAGREE

    return step
