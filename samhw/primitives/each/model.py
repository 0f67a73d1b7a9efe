"""The actor that makes a word of each payload, and passes on every other token: of array, alu and shift."""

from collections.abc import Callable

from samhw.sim.step import NONE, PAYLOAD, VAL, Memory, Step, Words, firing

__all__ = ["each"]


def each(word: Callable[[int, int, Memory], int]) -> Step:
    """The step function. `word` is (kind, data, memory) of a payload -> the word to push, or a fault."""
    wait = firing(1)
    take = firing(1, 1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head in PAYLOAD:
            result = word(head, data[0], memory)
            if result < 0:
                return result
            out_kind[0] = VAL
            out_data[0] = result
        else:
            out_kind[0] = head
            out_data[0] = data[0]
        return take

    return step
