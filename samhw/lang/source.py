"""Texts of programs: where one came from, so that an error can show the place, and its words."""

import re
from dataclasses import dataclass
from enum import Enum

from samhw.errors import InputError

__all__ = [
    "KEYWORDS",
    "LONGEST_NAME",
    "Lexeme",
    "LexemeKind",
    "Source",
    "Span",
    "error_at",
    "is_name",
    "tokenize",
]

# How many characters of a long line an error shows on either side of the place.
_SHOWN_BEFORE = 80
_SHOWN_AFTER = 40


@dataclass(frozen=True)
class Span:
    """A place in a text; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A program text and the name under which errors speak of it (usually its path)."""

    name: str
    text: str

    def error(self, span: Span, message: str) -> InputError:
        """``name:line:column: message``, and below it the source line with a caret under the place."""
        line = self.text.split("\n")[span.line - 1].rstrip("\r")
        first = max(0, span.column - 1 - _SHOWN_BEFORE)
        before, after = line[first : span.column - 1], line[span.column - 1 :][:_SHOWN_AFTER]
        # Tabs are kept, so that the caret stands under its column however wide a terminal makes them.
        margin = "".join(c if c == "\t" else " " for c in before)
        return InputError(f"{self.name}:{span.line}:{span.column}: {message}\n  {before}{after}\n  {margin}^")


def error_at(source: Source | None, span: Span | None, message: str) -> InputError:
    """`message` as an error about a program, with the place in its text where there is one."""
    return InputError(message) if source is None or span is None else source.error(span, message)


KEYWORDS = frozenset({"tensor", "fuse", "order", "where"})

_TOKEN = re.compile(
    r"""
    (?P<blank>   [ \t\r]+ | \#[^\n]* )
  | (?P<newline> \n )
  | (?P<number>  (?:\d+(?:\.\d*)?|\.\d+) (?:[eE][+-]?\d+)? )
  | (?P<name>    [A-Za-z_]\w* )
  | (?P<symbol>  [-+*/()\[\]{},:=@<>] )
  | (?P<other>   . )
    """,
    re.VERBOSE | re.ASCII,
)

# A line's end after one of these does not end the statement.
_CONTINUES = frozenset("+-*/=,:@{")

_LONGEST_NUMBER = 100

LONGEST_NAME = 200
"""Characters of a name, since files are called after it."""


class LexemeKind(Enum):
    """What a token is."""

    NAME = "name"
    KEYWORD = "keyword"
    NUMBER = "number"
    SYMBOL = "symbol"
    NEWLINE = "newline"
    END = "end"


@dataclass(frozen=True)
class Lexeme:
    """A word, its place, and where in the text it starts and stops (offsets)."""

    kind: LexemeKind
    text: str
    span: Span
    start: int
    stop: int

    def __str__(self) -> str:
        match self.kind:
            case LexemeKind.NEWLINE:
                return "the end of the line"
            case LexemeKind.END:
                return "the end of the text"
        return f"'{self.text}'"


def is_name(text: str) -> bool:
    """Whether `text` can name a tensor or an index: ASCII letters, digits and ``_``, and no keyword."""
    return text.isascii() and text.isidentifier() and text not in KEYWORDS


def tokenize(source: Source) -> list[Lexeme]:
    """The tokens of a text, an END last. Only those line ends are kept that may end a statement.

    Raises InputError at a character that is not part of the language.
    """
    tokens: list[Lexeme] = []
    line, line_start, open_brackets = 1, 0, 0
    for match in _TOKEN.finditer(source.text):
        text, start, stop = match.group(), match.start(), match.end()
        span = Span(line, start - line_start + 1)
        match match.lastgroup:
            case "newline":
                if open_brackets == 0 and tokens and not _continues(tokens[-1]):
                    tokens.append(Lexeme(LexemeKind.NEWLINE, text, span, start, stop))
                line, line_start = line + 1, stop
            case "number":
                if len(text) > _LONGEST_NUMBER:
                    raise source.error(
                        span, f"this number is longer than {_LONGEST_NUMBER} characters; round it"
                    )
                tokens.append(Lexeme(LexemeKind.NUMBER, text, span, start, stop))
            case "name":
                kind = LexemeKind.KEYWORD if text in KEYWORDS else LexemeKind.NAME
                tokens.append(Lexeme(kind, text, span, start, stop))
            case "symbol":
                if text in "([":
                    open_brackets += 1
                elif text in ")]":
                    open_brackets = max(0, open_brackets - 1)
                tokens.append(Lexeme(LexemeKind.SYMBOL, text, span, start, stop))
            case "other":
                way = "begin a new line" if text == ";" else "an expression is made of + - * / ( )"
                raise source.error(span, f"unexpected character {text!r}; {way}")
    end = len(source.text)
    tokens.append(Lexeme(LexemeKind.END, "", Span(line, end - line_start + 1), end, end))
    return tokens


def _continues(last: Lexeme) -> bool:
    return last.kind is LexemeKind.NEWLINE or (last.kind is LexemeKind.SYMBOL and last.text in _CONTINUES)
