"""What a choice is: a field of a schedule, in all the forms in which it is given, kept and shown; and the
checks of values that several choices share, each of which gives the value as a schedule keeps it, or raises
`InputError`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from samhw.errors import InputError, shown
from samhw.installed import folders
from samhw.lang import Program, Region
from samhw.lang.splits import rule_file
from samhw.words import did_you_mean

__all__ = [
    "AUTO",
    "Choice",
    "CountsByName",
    "Numbers",
    "RegionLists",
    "Rules",
    "Texts",
    "YesOrNo",
    "all_numbered",
    "check_names",
    "check_once",
    "check_one_of",
    "check_table",
    "check_whole",
    "choice",
    "counts_text",
    "is_list",
    "lists_with_numbers",
    "read_entries",
    "table_with_numbers",
]


T = TypeVar("T")


def check_one_of(field: str, value: object, choices: Sequence[str]) -> None:
    """A value that there is."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(
            f"There is no {field} {shown(value)}{did_you_mean(value, choices)}; the choices are "
            f"{', '.join(choices)}."
        )


def check_names(what: str, names: Any) -> tuple[str, ...]:
    """A list of texts."""
    if not is_list(names) or not all(isinstance(name, str) for name in names):
        raise InputError(f"'{what}' is {shown(names)}; give a list of names.")
    return tuple(names)


def check_whole(name: str, value: object, most: int) -> int:
    """A whole number from 1 to `most`, which may be one of NumPy's."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
        raise InputError(f"'{name}' is {shown(value)}; give a whole number from 1 to {most:,}.")
    return int(value)


def check_table(what: str, table: object, example: str) -> dict[str, Any]:
    """A table of entries by name."""
    if not isinstance(table, Mapping) or not all(isinstance(name, str) for name in table):
        raise InputError(f"'{what}' is {shown(table)}; give a table with an entry for each name, {example}.")
    return dict(table)


def read_entries(field: str, word: str, wanted: str) -> dict[str, str]:
    """The entries of a table in one word, such as `A = rows(4); B = even(2)`; a comma before a name and `=`
    stands between them too.

    Args:
        wanted: what each entry is to be, for the error of other words.
    """
    table: dict[str, str] = {}
    for item in filter(str.strip, _BETWEEN.split(word)):
        name, equals, text = (part.strip() for part in item.partition("="))
        if not equals:
            raise InputError(f"{field} '{word}': give {wanted}, and a ; between them.")
        check_once(field, name, table, text)
        table[name] = text
    return table


_BETWEEN = re.compile(r";|,(?=\s*[\w.*]+\s*=)(?![^(]*\))")
"""No comma within brackets stands between entries."""


def check_once(field: str, name: str, table: Mapping[str, object], text: object) -> None:
    """Raises `InputError` for a name that a word gives two entries."""
    if name in table:
        raise InputError(
            f"{field}: '{name}' has both {table[name]} and {text}; leave one of them out, or give both to "
            "'samhw compare'."
        )


def numbered(name: str, names: Iterable[str]) -> dict[str, str]:
    """By number the name of it that one with stars stands for; empty if there are no stars, or no such name.
    What follows a dot is an array's, and stays."""
    if "*" not in name:
        return {}
    stem, dot, array = name.partition(".")
    # Each star is the same number.
    first, *others = map(re.escape, stem.split("*"))
    form = re.compile(f"{first}([0-9]+)" + r"(?:\1)".join(others))
    found = ((match[1], known) for known in names if (match := form.fullmatch(known)))
    return {number: f"{known}{dot}{array}" for number, known in found}


def all_numbered(wanted: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Names, with all of these in the place of each that has a star."""
    return tuple(name for one in wanted for name in numbered(one, names).values() or [one])


def table_with_numbers(table: Mapping[str, T], names: Iterable[str]) -> dict[str, T]:
    """A table of entries by name, with all of these names that one with a star stands for. An entry of its
    own comes before that of a star."""
    found: dict[str, T] = {}
    for name, entry in table.items():
        found |= dict.fromkeys(numbered(name, names).values() or [name], entry)
    return found | {name: entry for name, entry in table.items() if name in found}


def lists_with_numbers(lists: Iterable[Sequence[str]], names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Lists of names, each with a star once for each number that all such names of it have."""
    found: list[tuple[str, ...]] = []
    for own in lists:
        by_number = {name: numbered(name, names) for name in own if "*" in name}
        numbers = [n for n in next(iter(by_number.values()), {}) if all(n in k for k in by_number.values())]
        found += [tuple(by_number[name][n] if name in by_number else name for name in own) for n in numbers]
        found += [] if numbers else [tuple(own)]
    return tuple(found)


def is_list(value: object) -> bool:
    """Whether it is a sequence, but for texts."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def plain(value: Any) -> Any:
    """With lists instead of tuples."""
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if is_list(value) else value


AUTO = "auto"
"""In words, of what the compiler or a search is to choose."""


class Choice(Generic[T]):
    """Base of the choices.

    A subclass's docstring is the text of its row in docs/schedule.md.
    """

    name: ClassVar[str]
    """Of the field, and of the folder."""
    by_default: ClassVar[str] = "none"
    """What the field is if nothing is said, for the row of the document."""
    metavar: ClassVar[str]
    """Of its option."""
    several: ClassVar[str]
    """The same where several words are compared."""
    help: ClassVar[str]
    """Of its option."""
    kind: ClassVar[type] = str
    """Of what an axis of a sweep holds: a text, `bool` or `int`."""
    names: ClassVar[Sequence[str]] = ()
    """The words that there are, if they can be listed."""
    has_commas: ClassVar[bool] = False
    """Commas belong to the word."""
    has_entries: ClassVar[bool] = False
    """It is a table of words, each of whose entries may be an axis of its own."""
    between: ClassVar[str] = ""
    """In a word, what stands between several entries; empty where there are none."""
    of: ClassVar[str] = "tensor"
    """What has an entry."""
    nothing: ClassVar[str] = ""
    """What a table says of a schedule without it, beside others; by default no and its name."""
    may_grow: ClassVar[bool] = False
    """Its option takes `auto` too: a search may enlarge a design by it, if it is asked to."""
    grows_in_area: ClassVar[bool] = False
    """The same if --area alone says how large a design may be."""
    is_always_said: ClassVar[bool] = False
    """A schedule's line and its JSON have it even where it is the default."""

    @property
    def option(self) -> str:
        """The name of its option on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def check(self, value: Any) -> T:
        """The value as a schedule keeps it; raises `InputError` for what is none."""
        raise NotImplementedError

    def read(self, word: str) -> Any:
        """What `check` takes, of a word; raises `InputError` for other words."""
        return word

    def taken(self, value: Any) -> T:
        """The value as a schedule keeps it, also of its word. Raises as `read` and `check` do."""
        return self.check(self.read(value) if isinstance(value, str) else value)

    def word(self, value: T) -> str:
        """The word that `read` reads."""
        return str(value)

    def with_entry(self, value: T, entry: str, word: str) -> Any:
        """What `check` takes: a value with one of its entries in words.

        Raises:
            InputError: for a choice that has no entries.
        """
        raise InputError(f"'{self.name}.{entry}' is no field: {self.name} has no entries; give it whole.")

    def columns(self, value: T) -> Mapping[str, Any]:
        """What a sweep's table says of it, by column."""
        return {self.name: self.word(value) if self.kind is str else value}

    def said(self, value: T) -> Iterator[str]:
        """What a schedule's line says of a value that is not the default."""
        yield f"{self.name.replace('_', ' ')} {self.word(value)}"

    def to_json(self, value: T) -> Any:
        """The value in plain form, which `check` takes."""
        return plain(value)

    def with_numbers(self, value: T, names: Iterable[str]) -> T:
        """A value with all of these names that one with a star stands for, which may be any number: in a
        table each has the entry, and of a list there is one for each number."""
        return value

    def apply(self, program: Program, value: T, *, is_open: bool) -> Program:
        """The program as a value wants it. What it says of tensors that passes have yet to add is left to the
        compiler.

        Args:
            is_open: passes may add tensors.

        Raises:
            InputError: for what the program cannot have.
        """
        return program

    def matters(self, regions: Sequence[Region]) -> bool:
        """Whether values of it may make a difference in a program of these regions."""
        return True

    def fits(self, value: T, regions: Sequence[Region]) -> bool:
        """Whether a value may make one there."""
        return self.matters(regions)

    def files(self, value: T) -> Iterator[str]:
        """The files that it reads."""
        return iter(())

    def anywhere(self, value: T) -> T:
        """The same with absolute paths of these files, for a process in another working directory."""
        return value


@cache
def choice(name: str) -> Choice[Any]:
    """The choice of a name; raises `KeyError` for what is none."""
    if name not in folders("samhw.choices"):
        raise KeyError(name)
    found: Choice[Any] = import_module(f"samhw.choices.{name}").CHOICE
    return found


# Choices that hold something for each of several names: a text or a number.


class Texts(Choice[dict[str, str]]):
    """A text for each of some names, such as a format for each of some tensors."""

    has_entries = True
    between = ";"
    entry: ClassVar[str]
    """What it is."""
    example: ClassVar[str]
    """A text."""
    such_as: ClassVar[str]
    """An entry in words."""

    def check(self, value: Any) -> dict[str, str]:
        table = check_table(self.name, value, f'such as T = "{self.example}"')
        for name, text in table.items():
            if not isinstance(text, str):
                raise InputError(
                    f"The {self.entry} of '{name}' is {shown(text)}; give a text, such as \"{self.example}\"."
                )
        return table

    def read(self, word: str) -> dict[str, str]:
        """`A = rows(4)`, several with semicolons."""
        return read_entries(self.name, word, f"each {self.of} one {self.entry}, as in {self.such_as}")

    def word(self, value: Mapping[str, str]) -> str:
        return "; ".join(f"{name} = {text}" for name, text in value.items())

    def with_entry(self, value: Mapping[str, str], entry: str, word: str) -> dict[str, str]:
        return {**value, entry: word}

    def with_numbers(self, value: dict[str, str], names: Iterable[str]) -> dict[str, str]:
        return table_with_numbers(value, names)

    def columns(self, value: Mapping[str, str]) -> dict[str, str]:
        return {f"{self.name}.{name}": text for name, text in value.items()}


class Rules(Texts):
    """A rule for each of some tensors, which may be a function in a user's file; `none` takes one away."""

    def with_entry(self, value: Mapping[str, str], entry: str, word: str) -> dict[str, str]:
        return {name: rule for name, rule in {**value, entry: word}.items() if rule != "none"}

    def files(self, value: Mapping[str, str]) -> Iterator[str]:
        return filter(None, map(rule_file, value.values()))

    def anywhere(self, value: Mapping[str, str]) -> dict[str, str]:
        return {tensor: _absolute(rule) for tensor, rule in value.items()}


def _absolute(rule: str) -> str:
    file = rule_file(rule)
    return rule if file is None else f"{Path(file).absolute()}{rule[len(file) :]}"


class CountsByName(Choice[dict[str, int]]):
    """A number for each of some names, such as lanes for each of some indices; or the word of both."""

    between = "+"
    of = "index"
    what: ClassVar[str]
    """What the number is."""
    entry_example: ClassVar[str] = "i = 4"
    word_example: ClassVar[str] = "i=4+j=2"
    most: ClassVar[int]

    def check(self, value: Any) -> dict[str, int]:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise InputError(
                f"'{self.name}' is {shown(value)}; give a table with an entry for each {self.of}, such as "
                f"{self.entry_example}."
            )
        return {name: check_whole(f"{self.name}.{name}", count, self.most) for name, count in value.items()}

    def read(self, word: str) -> dict[str, int]:
        """`i=4+j=2`; `1` is none."""
        counts: dict[str, int] = {}
        for item in word.split("+") if word not in ("", "1") else ():
            name, _, count = (part.strip() for part in item.partition("="))
            if not (name and count.isdecimal() and len(count) < 10):
                raise InputError(
                    f"{self.name} '{word}': give each {self.of} once with {self.what}, and a + between them, "
                    f"such as {self.word_example}; or 1 for none."
                )
            check_once(self.name, name, counts, count)
            counts[name] = int(count)
        return counts

    def with_numbers(self, value: dict[str, int], names: Iterable[str]) -> dict[str, int]:
        return table_with_numbers(value, names)

    def word(self, value: Mapping[str, int]) -> str:
        return counts_text(value)


def counts_text(counts: Mapping[str, int]) -> str:
    """Numbers by name in a word; `1` for none."""
    return "+".join(f"{name}={count}" for name, count in counts.items()) or "1"


class YesOrNo(Choice[bool]):
    """True or false."""

    by_default = "`false`"
    metavar = several = ""
    kind = bool

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"'{self.name}' is {shown(value)}; give true or false.")
        return bool(value)

    def read(self, word: str) -> Any:
        return {"true": True, "false": False}.get(word.lower(), word)


class Numbers(Choice[int]):
    """A whole number."""

    kind = int
    most: ClassVar[int]

    def check(self, value: Any) -> int:
        return check_whole(self.name, value, self.most)

    def read(self, word: str) -> Any:
        return int(word) if word.isdecimal() and len(word) < 20 else word


class RegionLists(Choice[str | tuple[tuple[str, ...], ...]]):
    """Lists of regions, each named by one of its results; or a word for all regions."""

    metavar = "WHICH"
    known: ClassVar[tuple[str, ...]]
    """The words that there are."""

    def check(self, value: Any) -> str | tuple[tuple[str, ...], ...]:
        if isinstance(value, str):
            check_one_of(self.name, value, self.known)
            return value
        if not is_list(value):
            raise InputError(
                f"'{self.name}' is {shown(value)}; give one of {', '.join(self.known)}, or lists of results."
            )
        lists = tuple(check_names(self.name, names) for names in value)
        if any(len(names) < 2 for names in lists):
            raise InputError(f"A list of '{self.name}' names {shown(min(lists, key=len))}; give two or more.")
        return lists

    def read(self, word: str) -> str | list[list[str]]:
        """One word for all regions, or `Q+K+V,T1+T2`."""
        if word in self.known or "+" not in word:
            return word
        return [[name.strip() for name in names.split("+")] for names in word.split(",")]

    def word(self, value: str | Sequence[Sequence[str]]) -> str:
        return value if isinstance(value, str) else ",".join("+".join(names) for names in value)

    def with_numbers(
        self, value: str | tuple[tuple[str, ...], ...], names: Iterable[str]
    ) -> str | tuple[tuple[str, ...], ...]:
        return value if isinstance(value, str) else lists_with_numbers(value, names)

    def apply(self, program: Program, value: str | tuple[tuple[str, ...], ...], *, is_open: bool) -> Program:
        if not isinstance(value, str) and not is_open:
            program.check_computed(self.name, [name for names in value for name in names])
        return program

    def matters(self, regions: Sequence[Region]) -> bool:
        return len(regions) > 1
