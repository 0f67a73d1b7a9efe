"""What functions need that are to be machine code and Python has no words for: memory and code by address.

Each is an ordinary function as well, so what is written with them also runs as the Python that it is.
"""

import ctypes
from collections.abc import Callable, MutableSequence
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "UNKNOWN",
    "Record",
    "Table",
    "apart",
    "call",
    "local_words",
    "real_of",
    "word_of",
    "words_at",
]

UNKNOWN = 1 << 60
"""Words of memory whose size nobody checks."""

_SHOWN = 1 << 20
"""As many of them Python sees."""

_Code = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)

_Apart = TypeVar("_Apart", bound=Callable[..., int | None])


def apart(function: _Apart) -> _Apart:
    """Has a function of words called where it would otherwise be written out: a loop over many words.

    LLVM takes more time for such a function, and makes vector instructions of its loop.
    """
    function.__dict__["apart"] = True
    return function


@cache
def _row(count: int) -> Any:
    return ctypes.c_int64 * count


def words_at(address: int, count: int) -> MutableSequence[int]:
    """The words of memory from an address on."""
    words: MutableSequence[int] = _row(max(0, count) if count < UNKNOWN else _SHOWN).from_address(address)
    return words


def local_words(count: int) -> MutableSequence[int]:
    """A known number of words that live as long as the call.

    Where every index is known too, they are kept in registers.
    """
    return [0] * count


def call(code: int, first: int, second: int) -> int:
    """What the function at an address gives, which takes two words and gives one."""
    result: int = _Code(code)(first, second)
    return result


def real_of(word: int) -> float:
    """The number whose bits in single precision are the lowest 32 of a word."""
    return float(np.uint32(word & 0xFFFFFFFF).view(np.float32))


def word_of(number: float) -> int:
    """The bits of a number, rounded to single precision."""
    with np.errstate(over="ignore"):
        return int(np.float32(number).view(np.uint32))


# Words of memory with names, and records in a row, as Python sees them.


class Record:
    """Words of memory in a row, each with a name: the annotated ones of a subclass, in their order.

    `Point.at(address).x` is the word of that name, in Python and in machine code::

        class Point(Record):
            x: int
            y: int
    """

    FIELDS: ClassVar[tuple[str, ...]] = ()
    WORDS: ClassVar[int] = 0
    """Words of a record."""

    def __init_subclass__(cls) -> None:
        own = tuple(name for name in cls.__annotations__ if not hasattr(Record, name))
        for place, name in enumerate(own, len(cls.FIELDS)):
            setattr(cls, name, _word(place))
        cls.FIELDS = (*cls.FIELDS, *own)
        cls.WORDS = len(cls.FIELDS)

    @classmethod
    def at(cls, address: int) -> Self:
        """The record that lies at an address."""
        return cls._over(words_at(address, cls.WORDS))

    @classmethod
    def _over(cls, words: Any) -> Self:
        record = cls()
        record._words = words
        return record

    @classmethod
    def local(cls, count: int) -> tuple[Self, ...]:
        """Some records that live as long as the call, in registers as far as there are some."""
        return tuple(cls._over([0] * cls.WORDS) for _ in range(count))

    @classmethod
    def words(cls, **values: int) -> list[int]:
        """The words of a record with some values, and 0 for the others."""
        words = dict.fromkeys(cls.FIELDS, 0) | values
        assert len(words) == cls.WORDS, "a value has a name that no word has"
        return list(words.values())

    @classmethod
    def offset(cls, name: str) -> int:
        """How many bytes a word lies after the record's address."""
        return 8 * cls.FIELDS.index(name)

    _words: Any


def _word(place: int) -> property:
    def get(record: Record) -> int:
        return int(record._words[place])

    def put(record: Record, word: int) -> None:
        record._words[place] = word

    return property(get, put)


class Table:
    """Some records of one kind, whose words are 0 at first.

    `table["x"]` are the words of that name, one of each record: an array that shares them.

    Attributes:
        addresses: those of the records.
    """

    def __init__(self, kind: type[Record], count: int):
        self._places = {name: place for place, name in enumerate(kind.FIELDS)}
        self._words = np.zeros((count, kind.WORDS), np.int64)
        self.addresses = self._words.ctypes.data + 8 * kind.WORDS * np.arange(count)

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self._words[:, self._places[name]]

    def put(self, **columns: ArrayLike) -> None:
        """Sets the words of some names: to one word, or to one for each record."""
        for name, column in columns.items():
            self[name][:] = column

    def rows(self, *names: str) -> list[list[int]]:
        """Of each record the words of those names."""
        rows: list[list[int]] = self._words[:, [self._places[name] for name in names]].tolist()
        return rows
