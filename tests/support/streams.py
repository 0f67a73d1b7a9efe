"""Streams as tests write them, in words.

`7` is VAL(7), `S1` is STOP(0, 1), `S1:2` is STOP(1, 2), `N` is EMPTY, `D` is DONE; `7@3` is VAL(7) in cycle
3.
"""

from collections.abc import Iterable

from samhw.graph import DONE, EMPTY, VAL, Token, stop

__all__ = ["Timed", "timed", "token", "tokens", "written"]

Timed = list[tuple[int, Token]]
"""Tokens, each with a cycle."""


def token(text: str) -> Token:
    """A token from its text, which is what it prints as."""
    match text[0]:
        case "N":
            return Token(EMPTY)
        case "D":
            return Token(DONE)
        case "S":
            lo, _, hi = text[1:].rpartition(":")
            return stop(int(hi), int(lo or 0))
    return Token(VAL, int(text, 0))


def tokens(text: str) -> list[Token]:
    """Tokens from a text, separated by blanks."""
    return [token(word) for word in text.split()]


def timed(text: str) -> Timed:
    """Tokens with their cycles."""
    words = (word.split("@") for word in text.split())
    return [(int(cycle), token(word)) for word, cycle in words]


def written(trace: Iterable[tuple[int, Token]]) -> str:
    """The text of tokens with their cycles."""
    return " ".join(f"{token}@{cycle}" for cycle, token in trace)
