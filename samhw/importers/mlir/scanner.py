"""The tokens of a text in MLIR, one at a time: what a token is depends on what is expected."""

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from samhw.errors import InputError
from samhw.lang.source import Source, Span

__all__ = ["MlirScanner", "MlirText", "SyntaxProblem"]

_T = TypeVar("_T")
_SPACE = re.compile(r"(?:\s+|//[^\n]*)*")
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<value>%[\w$.\-]+(?:\#\d+)?)
    |(?P<symbol>@(?:[\w$.\-]+|"[^"\n]*"))
    |(?P<block>\^[\w$.\-]+)
    |(?P<alias>[\#!][A-Za-z_][\w$.\-]*)
    |(?P<hex>0x[0-9A-Fa-f]+)
    |(?P<float>\d+\.\d*(?:[eE][-+]?\d+)?)
    |(?P<int>\d+)
    |(?P<word>[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*)
    |(?P<mark>->|::|==|>=|<=|\{-\#|\#-\}|[^\s])""",
    re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">", "{-#": "#-}"}


class SyntaxProblem(Exception):
    """What cannot be read, and where: the caller decides whether anybody needs it.

    Args:
        offset: of the place in the text.
        message: what is wrong there.
    """

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


class MlirText:
    """A text, and the name that errors call it by."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """The number of the line, from 1."""
        return bisect_right(self._lines, offset)

    def error(self, offset: int, message: str) -> InputError:
        """``file:line:column: message``, with the line below it."""
        line = self.line(offset)
        span = Span(line, offset - self._lines[line - 1] + 1)
        return Source(self.name, self.text).error(span, message)


class MlirScanner:
    """Goes through a text. `kind` and `token` are of the next token, and `at` is where it begins; at the end
    of the text, the kind is `end` and the token empty."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.go_to(0)

    def go_to(self, offset: int) -> None:
        """Makes what begins at an offset the next token."""
        space = _SPACE.match(self.text, offset)
        self.at = space.end() if space else offset
        found = _TOKEN.match(self.text, self.at)
        self.end = found.end() if found else self.at
        self.kind = (found.lastgroup or "end") if found else "end"
        self.token = found.group() if found else ""

    def next(self) -> str:
        """Takes the next token."""
        token = self.token
        if self.kind == "end":
            raise self.problem("the text ends too early")
        self.go_to(self.end)
        return token

    def taken(self, token: str) -> bool:
        """Takes the next token if it is this one."""
        if self.token != token or self.kind == "string":
            return False
        self.go_to(self.end)
        return True

    def expect(self, token: str) -> None:
        """Takes the next token, which has to be this one."""
        if not self.taken(token):
            raise self.problem(f"'{token}' is expected")

    def expect_kind(self, kind: str, what: str) -> str:
        """Takes the next token, which has to be of a kind."""
        if self.kind != kind:
            raise self.problem(f"{what} is expected")
        return self.next()

    def separated(self, close: str, item: Callable[[], _T]) -> list[_T]:
        """Takes items with commas between them, and what closes them."""
        found: list[_T] = []
        while not self.taken(close):
            found.append(item())
            if self.token != close:
                self.expect(",")
        return found

    def matched(self, pattern: re.Pattern[str]) -> str | None:
        """Takes what a pattern matches here."""
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.go_to(found.end())
        return found.group()

    def skip_bracket(self) -> str:
        """Takes all from an opening bracket to the one that closes it; gives the text."""
        start, stack = self.at, [_CLOSING[self.token]]
        self.next()
        while stack:
            end = self.end
            token = self.next()
            if token == stack[-1]:
                stack.pop()
            elif token in _CLOSING and (token != "<" or stack[-1] == ">"):
                stack.append(_CLOSING[token])
            elif token in (")", "]", "}") and stack[-1] != ">":
                raise SyntaxProblem(end - 1, f"'{stack[-1]}' is expected")
        return self.text[start:end]

    def problem(self, message: str) -> SyntaxProblem:
        """What is wrong at the next token."""
        found = f", and '{self.token[:40]}' found" if self.token and "expected" in message else ""
        return SyntaxProblem(self.at, message + found)
