"""The two ways a samhw call can go wrong. This module imports nothing of samhw but what options are
called, so that every folder may use it."""

from reprlib import Repr
from typing import Self

from samhw.faces import in_words

__all__ = [
    "InputError",
    "InterruptedWorkError",
    "RunError",
    "SamhwError",
    "ScheduleError",
    "StreamError",
    "shown",
]

_LONGEST = 100
_REPR = Repr()
_REPR.maxlevel, _REPR.maxlist, _REPR.maxtuple, _REPR.maxdict = 3, 8, 8, 8
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = _LONGEST


def shown(value: object) -> str:
    """What was given, for the sentence of an error: the value if it is short, else its type."""
    try:
        text = _REPR.repr(value)
    except Exception:  # That of another package, or of a number with too many digits.
        text = ""
    short = 0 < len(text) < _LONGEST and text.isprintable() and " at 0x" not in text
    return text if short else f"of type {type(value).__name__}"


class SamhwError(Exception):
    """Base of every error that samhw reports to its user in one sentence, which calls options as its user
    does (`samhw.faces`)."""

    exit_code = 1

    def within(self, place: str) -> Self:
        """The same error, with the place where it came up before its message."""
        self.args = (f"{place}: {super().__str__()}",)
        return self

    def __str__(self) -> str:
        return in_words(super().__str__())

    def __reduce__(self) -> tuple[object, ...]:
        # Workers send errors to the process that started them, and some take more than a message to make.
        return _remade, (type(self), self.args), vars(self)


class InputError(SamhwError):
    """Bad usage or bad input: a text that does not parse, shapes that disagree, a missing tool.

    The message is one sentence that names the cause and gives a hint. The command line exits with 2.
    """

    exit_code = 2


class RunError(SamhwError):
    """A run or a check that failed: deadlock, overflow, capacity, protocol violation, wrong result.

    The command line exits with 1.
    """


class InterruptedWorkError(RunError):
    """Work that its user has stopped. The command line exits with 130, as shells say of Ctrl-C."""

    exit_code = 130


class ScheduleError(InputError):
    """A program that streams cannot compute in this order, in these regions or with these formats.

    The message is the cause, and after a semicolon the ways out.

    Args:
        cause: a sentence without its full stop.
        ways: what a user may do, each an imperative; any of them will do.
    """

    def __init__(self, cause: str, *ways: str):
        *others, last = ways or ("",)
        choice = f"{', '.join(others)}, or {last}" if others else last
        super().__init__(f"{cause}; {choice}." if choice else f"{cause}.")
        self.cause = cause
        self.ways = ways


class StreamError(ScheduleError):
    """A region that streams cannot follow as one graph; in several regions they may.

    Args:
        result: the result that they cannot give in its format, but could in compressed levels.
    """

    def __init__(self, cause: str, *ways: str, result: str | None = None):
        super().__init__(cause, *ways)
        self.result = result


def _remade(kind: type[SamhwError], arguments: tuple[object, ...]) -> SamhwError:
    """An error as another process has sent it."""
    return kind.__new__(kind, *arguments)
