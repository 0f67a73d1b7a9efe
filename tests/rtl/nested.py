"""Streams of nested lists, for tests that make random tensors."""

from collections.abc import Callable, Iterator
from typing import Any

from samhw.graph import Token, stop

Nested = list[Any]
"""A list of level n holds lists of level n - 1; a list of level 0 holds the payloads."""


def encode(nested: Nested, level: int, payload: Callable[[Any], Token]) -> list[Token]:
    """The tokens of a list of the given level, up to its stop."""
    if level == 0:
        return [*map(payload, nested), stop(0)]
    if not nested:
        return [stop(level, level)]
    tokens = [token for inner in nested for token in encode(inner, level - 1, payload)]
    tokens[-1] = stop(level, tokens[-1].lo)
    return tokens


def leaves(nested: Any) -> Iterator[Any]:
    """What lies in the lists, in order."""
    if isinstance(nested, list):
        for inner in nested:
            yield from leaves(inner)
    else:
        yield nested
