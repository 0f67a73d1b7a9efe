"""What an expression can stand for while a function is translated.

An integer is known already, and so are functions and tables; of a tuple, which items it has. All else is
known when the code runs, and stands here as the name of what LLVM computes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from samhw.sim.machine_code.intrinsics import Record

__all__ = [
    "Computed",
    "Flag",
    "Named",
    "Real",
    "StandIns",
    "Untranslatable",
    "Value",
    "Word",
    "Words",
    "in_a_word",
    "is_named_tuple",
    "operand",
]


class Untranslatable(Exception):
    """A function does something that machine code cannot do; the message says what."""


@dataclass(frozen=True)
class Computed:
    """A 64-bit word that is known when the code runs."""

    name: str


@dataclass(frozen=True)
class Flag:
    """A truth value."""

    name: str


@dataclass(frozen=True)
class Real:
    """A number in double precision."""

    name: str


Word: TypeAlias = int | Computed


@dataclass(frozen=True)
class Words:
    """Words of memory in a row: the name of a pointer to the first, and how many they are."""

    pointer: str
    count: Word


@dataclass(frozen=True)
class Named:
    """A record of some kind: the name of a pointer to its first word."""

    kind: type[Record]
    pointer: str


Value: TypeAlias = Any
"""`Word`, `Flag`, `Real`, `Words`, `Named`; a tuple of values; a function, a table or a class."""


def is_named_tuple(kind: type) -> bool:
    """Whether a class is a `NamedTuple`, whose items have names in machine code too."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def in_a_word(number: int) -> int:
    """A number that is known; raises `Untranslatable` if it takes more than 64 bits with its sign."""
    if not -(1 << 63) <= number < 1 << 63:
        raise Untranslatable(f"{number} does not fit into 64 bits with a sign")
    return int(number)


def operand(word: Word) -> str:
    """A word as LLVM writes it; raises as `in_a_word`."""
    return word.name if isinstance(word, Computed) else str(in_a_word(word))


StandIns: TypeAlias = Mapping[Callable[..., int], Callable[..., int]]
"""Functions that are called in the place of others."""
