"""Tokens and the grammar of streams (docs/timing.md): the one checker that simulator, monitors and tests
share."""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from samhw.errors import RunError

__all__ = [
    "DONE",
    "EMPTY",
    "STOP",
    "VAL",
    "GrammarChecker",
    "Kind",
    "Token",
    "check_stream",
    "stop",
    "stop_payload",
]


class Kind(IntEnum):
    """The 2-bit kind of a token; the codes are those of the hardware."""

    VAL = 0
    STOP = 1
    EMPTY = 2
    DONE = 3


VAL, STOP, EMPTY, DONE = Kind


class Token(NamedTuple):
    """A kind beside a payload word. Build stops with `stop`."""

    kind: Kind
    payload: int = 0

    @property
    def lo(self) -> int:
        """Innermost fiber level that a stop ends."""
        return self.payload & 15

    @property
    def hi(self) -> int:
        """Outermost fiber level that a stop ends."""
        return self.payload >> 4

    def __str__(self) -> str:
        match self.kind:
            case Kind.VAL:
                return str(self.payload)
            case Kind.STOP:
                return f"S{self.lo}:{self.hi}" if self.lo else f"S{self.hi}"
            case Kind.EMPTY:
                return "N"
            case _:
                return "D"


def stop_payload(lo: int, hi: int) -> int:
    """The payload word of STOP(lo, hi): two nibbles, hence streams of at most 15 levels."""
    return lo | hi << 4


def stop(hi: int, lo: int = 0) -> Token:
    """STOP(lo, hi): ends the fibers of levels lo..hi."""
    return Token(STOP, stop_payload(lo, hi))


class GrammarChecker:
    """Checks one stream token by token; `push` raises `RunError` at the first token that breaks the grammar.

    Args:
        depth: number of fiber levels around a payload.
        ordered: the payloads are coordinates, which strictly increase inside a fiber.
        name: what the message calls the stream.
    """

    def __init__(self, depth: int, *, ordered: bool = False, name: str = "stream"):
        self.depth = depth
        self.ordered = ordered
        self.name = name
        self.count = 0
        self._open: int | None = depth
        """Highest level whose list is still empty: depth at the start, hi after a stop, None after a
        payload."""
        self._last: int | None = None
        self._closed = False
        self.done = False

    def _fail(self, token: Token, why: str) -> RunError:
        return RunError(
            f"protocol: token {self.count} of {self.name} (depth {self.depth}) is {token}, but {why}."
        )

    def push(self, token: Token) -> None:
        """Takes the next token."""
        if self.done:
            raise self._fail(token, "the stream had ended with DONE")
        if token.kind is DONE:
            if not self._closed:
                raise self._fail(token, "the outermost fiber is still open")
            self.done = True
        elif self._closed:
            raise self._fail(token, "only DONE may follow here")
        elif token.kind is STOP:
            self._push_stop(token)
        else:
            self._push_payload(token)
        self.count += 1

    def _push_stop(self, token: Token) -> None:
        lo, hi = token.lo, token.hi
        if not lo <= hi < self.depth:
            raise self._fail(token, "its levels do not fit the depth")
        if lo > 0 and (self._open is None or self._open < lo):
            raise self._fail(token, f"the list of level {lo} holds fibers")
        self._open, self._last = hi, None
        self._closed = hi == self.depth - 1

    def _push_payload(self, token: Token) -> None:
        if self.ordered and token.kind is VAL:
            if self._last is not None and token.payload <= self._last:
                raise self._fail(token, f"it does not follow coordinate {self._last}")
            self._last = token.payload
        self._open = None
        self._closed = self.depth == 0

    def finish(self) -> None:
        """Call at the end: raises if DONE has not come."""
        if not self.done:
            raise RunError(f"protocol: {self.name} ends after {self.count} tokens without DONE.")


def check_stream(tokens: Iterable[Token], depth: int, *, ordered: bool = False, name: str = "stream") -> None:
    """Checks a whole stream; raises `RunError` where it breaks the grammar."""
    checker = GrammarChecker(depth, ordered=ordered, name=name)
    for token in tokens:
        checker.push(token)
    checker.finish()
