"""Blocks in what only passes payloads on: the step of the first word decides, and the further ones follow."""

from collections.abc import Sequence

from samhw.sim.step import NONE, TAKES, Memory, Step, Words

__all__ = ["carrying", "carrying_taken", "holding", "pass_both"]

Route = tuple[int, int, int]
"""Where further words lie in `data`, where they go to in `out_data`, and how many they are."""


def carrying(step: Step, routes: Sequence[Route]) -> Step:
    """A step that passes payloads of several words on: with each firing, all further words go along."""
    wide = tuple(routes)

    def carry(
        kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words
    ) -> int:
        word = step(kind, data, state, memory, out_kind, out_data)
        for route in range(len(wide)):
            source, target, count = wide[route]
            n = 0
            while n < count:
                out_data[target + n] = data[source + n]
                n += 1
        return word

    return carry


def carrying_taken(step: Step, routes: Sequence[Route]) -> Step:
    """As `carrying`, from the input alone that a firing takes; there is a route from each of them."""
    wide = tuple(routes)

    def carry(
        kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words
    ) -> int:
        word = step(kind, data, state, memory, out_kind, out_data)
        for route in range(len(wide)):
            source, target, count = wide[route]
            n = count if word > 0 and word >> TAKES >> route & 1 else 0
            while n > 0:
                n -= 1
                out_data[target + n] = data[source + n]
        return word

    return carry


def holding(step: Step, source: int, target: int, count: int, held: int) -> Step:
    """A step that keeps the payload which it takes from its first input, and pushes it on its first output.

    Args:
        source: where the further words of that input lie in `data`.
        target: where those of the output go to in `out_data`.
        count: how many they are.
        held: where they are kept in `state`.
    """

    def hold(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        word = step(kind, data, state, memory, out_kind, out_data)
        if word >> TAKES & 1 and word > 0:
            n = 0
            while n < count:
                state[held + n] = data[source + n]
                n += 1
        n = 0
        while n < count:
            out_data[target + n] = state[held + n]
            n += 1
        return word

    return hold


def pass_both(kind: Words, data: Words, out_kind: Words, out_data: Words) -> bool:
    """Puts the heads of inputs 0 and 1 on outputs 0 and 1; gives whether both are there."""
    out_kind[0] = kind[0]
    out_data[0] = data[0]
    out_kind[1] = kind[1]
    out_data[1] = data[1]
    return kind[0] != NONE and kind[1] != NONE
