"""Random nested lists, what primitives make of them, and the streams that stand for them."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from samhw.graph import DONE, EMPTY, VAL, Token, stop

Nested = Any
"""A payload (None is EMPTY), or a list of nested things one level further in."""


def encode(nested: Nested, depth: int) -> list[Token]:
    """The stream of a nested list of `depth` levels."""
    body = list(_fiber(nested, depth - 1, depth - 1)) if depth else [_payload(nested)]
    return [*body, Token(DONE)]


def _fiber(fiber: list[Nested], level: int, hi: int) -> Iterator[Token]:
    if level == 0:
        yield from map(_payload, fiber)
        yield stop(hi)
    elif not fiber:
        yield stop(hi, level)
    else:
        for child in fiber[:-1]:
            yield from _fiber(child, level - 1, level - 1)
        yield from _fiber(fiber[-1], level - 1, hi)


def _payload(payload: int | None) -> Token:
    return Token(EMPTY) if payload is None else Token(VAL, payload)


def generate(random: Random, depth: int, payload: Callable[[], Nested]) -> Nested:
    """A random nested list of payloads; fibers of any length, empty ones included."""
    if depth == 0:
        return payload()
    return [generate(random, depth - 1, payload) for _ in range(random.choice([0, 1, 1, 2, 3]))]


def transform(function: Callable[..., Nested], depth: int, *nested: Nested) -> Nested:
    """Applies a function to what lies `depth` levels inside of several nested lists of one structure."""
    if depth == 0:
        return function(*nested)
    return [transform(function, depth - 1, *parts) for parts in zip(*nested, strict=True)]
