"""Where a program came from, so that an error can show the place."""

from dataclasses import dataclass

from samhw.errors import InputError

__all__ = ["Source", "Span", "error_at"]

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
