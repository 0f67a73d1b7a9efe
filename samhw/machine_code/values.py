"""What an expression can stand for while a function is translated.

An integer or a tuple is known already, and so are functions and tables. All else is known when the code runs,
and stands here as the name of what LLVM computes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from samhw.machine_code.record import Record

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


def operand(word: Word) -> str:
    """A word as LLVM writes it."""
    return word.name if isinstance(word, Computed) else str(int(word))


StandIns: TypeAlias = Mapping[Callable[..., int], Callable[..., int]]
"""Functions that are called in the place of others."""
