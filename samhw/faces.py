"""What a message calls an option: `--value f32` on the command line, `value='f32'` in Python.

Messages are written in the words of the command line, and turned into those of Python when they are shown
there, so that each names a way out that its reader can take. An option with a value stands in quotes or
brackets, `'--value f32'`; one alone may stand anywhere. A whole command (`'samhw build .. --name x'`) is one
in both. This module imports nothing of samhw, so that errors may use it.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

__all__ = ["ARGUMENTS", "COMMANDS", "in_python", "in_words", "on_command_line"]


def _text(value: str) -> str:
    return repr(value)


def _texts(value: str) -> str:
    """`A=csr,X=dense` as a table."""
    return _table(value, repr)


def _numbers(value: str) -> str:
    """`i=64,k=N` as a table."""
    return _table(value, str)


def _table(value: str, shown: Callable[[str], str]) -> str:
    entries = (item.partition("=") for item in re.split(r"[,;]", value))
    return f"{{{', '.join(f'{name.strip()!r}: {shown(entry.strip())}' for name, _, entry in entries)}}}"


def _names(value: str) -> str:
    return repr(value.split(","))


def _flag(value: str) -> str:
    return repr(value != "no")


ARGUMENTS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "--value": ("value", _text),
    "--types": ("types", _texts),
    "--formats": ("formats", _texts),
    "--fuse": ("fuse", _text),
    "--order": ("order", _names),
    "--permute": ("permute", _flag),
    "--schedule": ("schedule", _text),
    "--data": ("data", _text),
    "--extents": ("extents", _numbers),
    "--capacity": ("entries", _numbers),
    "--arch": ("arch", _text),
    "--sparsify": ("sparsify", str),
    "--backend": ("backend", _text),
    "--memory": ("memory", _text),
    "--wave": ("wave", _text),
    "--host": ("host", _text),
    "--area": ("area", _text),
    "--budget": ("budget", str),
    "--objective": ("objective", _text),
    "--confirm": ("confirm", str),
    "--error": ("error", str),
}
"""By option, the argument that it is in Python and how that is written."""

FIELDS = (
    *("brackets", "iteration", "blocks", "split", "partial_sums", "permute_rows", "cascade", "share"),
    *("lanes", "deal", "queues", "largest_copy", "attempts", "place", "on_chip", "interleave"),
    *("share_hardware", "parallel", "fixed_extents"),
)
"""Fields of a schedule that are no arguments of their own."""

COMMANDS = {
    **dict.fromkeys(("--memory-log", "--port", "--emulate", "--ports", "--check", "--compare"), "run"),
    **dict.fromkeys(("--clock", "--baud", "--name", "--part", "--target", "--regions"), "build"),
    **dict.fromkeys(("--jobs", "--shard", "--against"), "sweep"),
    **dict.fromkeys(("--density", "--patterns"), "compile"),
    "--figure": "papers",
}
"""By option that is no argument in Python, a command that has it."""

OTHERS = {"--no-check": "no call of check()"}
"""By option that is no argument in Python, what does the same."""

_OPTION = "--[a-z]+(?:-[a-z]+)*"
_WORDS = re.compile(
    rf"""(?P<command> ['(\[] samhw\ [^')\]]* | samhw\ \w+\ {_OPTION} )
    | (?: ^ | (?<=:\ ) ) (?P<given> {_OPTION}\ [^\ ]+ ) (?=:\ )
    | ' (?P<quoted> {_OPTION} (?: \ (?: (?!\ --) [^'] )+ )? ) '
    | \( (?P<listed> {_OPTION} (?: \ [^,)]+ )? (?: ,\ {_OPTION} (?: \ [^,)]+ )? )* ) \)
    | (?<! [\w-] ) (?P<bare> {_OPTION} ) (?! [\w-] )
    """,
    re.VERBOSE,
)
_COMMAND_LINE = "SAMHW_OPTIONS"
"""Of the environment, so that processes that a command starts have its words too."""


@contextmanager
def on_command_line() -> Iterator[None]:
    """While this lasts, messages keep the words of the command line."""
    before = os.environ.get(_COMMAND_LINE)
    os.environ[_COMMAND_LINE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_COMMAND_LINE]


def in_words(message: str) -> str:
    """A message as whoever reads it calls things."""
    return message if _COMMAND_LINE in os.environ else in_python(message)


def in_python(message: str) -> str:
    """A message with the arguments of Python instead of options."""
    return _WORDS.sub(_replaced, message)


def _replaced(found: re.Match[str]) -> str:
    if written := found["given"] or found["quoted"]:
        return _argument(written)
    if found["listed"]:
        return f"({', '.join(map(_argument, found['listed'].split(', ')))})"
    return _alone(found["bare"]) if found["bare"] else found[0]


def _field(option: str) -> str | None:
    """The field of a schedule that an option is, if it is one alone."""
    name = option.removeprefix("--").replace("-", "_")
    return name if name in FIELDS else None


def _argument(typed: str) -> str:
    """An option, with its value if it stands there, as one writes it in Python."""
    option, _, value = typed.partition(" ")
    if option in ARGUMENTS:
        name, written = ARGUMENTS[option]
        is_said = written is _flag or value not in ("", "..")
        return f"{name}={written(value) if is_said else '..'}"
    if field := _field(option):
        return f"schedule={{{field!r}: {repr(value) if value else '..'}}}"
    return f"{_alone(option)} {value}".rstrip()


def _alone(option: str) -> str:
    """The name of an option, in a sentence."""
    if option in ARGUMENTS:
        return f"'{ARGUMENTS[option][0]}'"
    if field := _field(option):
        return f"the schedule's '{field}'"
    if option in COMMANDS:
        return f"samhw {COMMANDS[option]} {option}"
    return OTHERS.get(option, option)
