"""Words of memory with names."""

from typing import Any, ClassVar, Self

from samhw.sim.machine_code.intrinsics import words_at

__all__ = ["Record"]


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
