"""Streams as nested lists, and back: what a stream means, in plain Python.

A structure of depth 0 is one payload, an integer or None (EMPTY); one of depth d is a list of structures of
depth d - 1.
"""

from collections.abc import Iterable
from typing import Any

from samhw.graph.token import DONE, EMPTY, STOP, VAL, Token, check_stream, stop

__all__ = ["Nested", "from_stream", "to_stream"]

Nested = Any
"""An integer, None, or a list of these, nested to one depth."""


def to_stream(structure: Nested, depth: int) -> list[Token]:
    """The tokens of a structure, DONE included."""
    tokens: list[Token] = []
    _append(tokens, structure, depth)
    return [*tokens, Token(DONE)]


def _append(tokens: list[Token], structure: Nested, depth: int) -> None:
    if depth == 0:
        tokens.append(Token(EMPTY) if structure is None else Token(VAL, structure))
        return
    for item in structure:
        _append(tokens, item, depth - 1)
    level = depth - 1
    if level > 0 and structure:
        # The stop of the last fiber ends this list too.
        tokens.append(stop(level, tokens.pop().lo))
    else:
        tokens.append(stop(level, level))


def from_stream(tokens: Iterable[Token], depth: int) -> Nested:
    """The structure of a stream; raises `RunError` if it breaks the grammar."""
    stream = list(tokens)
    check_stream(stream, depth)
    open_lists: list[list[Nested]] = [[] for _ in range(depth + 1)]
    for token in stream:
        if token.kind is STOP:
            for level in range(token.lo, token.hi + 1):
                open_lists[level + 1].append(open_lists[level])
                open_lists[level] = []
        elif token.kind is not DONE:
            open_lists[0].append(token.payload if token.kind is VAL else None)
    return open_lists[depth][0]
