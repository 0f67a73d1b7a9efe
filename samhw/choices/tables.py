"""Choices that hold something for each of several names: a text or a number; or lists of names."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from samhw.choices.choice import (
    Choice,
    check_names,
    check_one_of,
    check_table,
    check_whole,
    is_list,
    read_entries,
)
from samhw.errors import InputError, shown
from samhw.lang import Program, Region
from samhw.lang.splits import rule_file

__all__ = ["CountsByName", "Numbers", "RegionLists", "Rules", "Texts", "counts_text"]


class Texts(Choice[dict[str, str]]):
    """A text for each of some names, such as a format for each of some tensors."""

    has_entries = True
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
    """A number for each of some names, such as lanes for each of some indices."""

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
            if not (name and count.isdecimal() and len(count) < 10) or name in counts:
                raise InputError(
                    f"{self.name} '{word}': give each {self.of} once with {self.what}, and a + between them, "
                    f"such as {self.word_example}; or 1 for none."
                )
            counts[name] = int(count)
        return counts

    def word(self, value: Mapping[str, int]) -> str:
        return counts_text(value)


def counts_text(counts: Mapping[str, int]) -> str:
    """Numbers by name in a word; `1` for none."""
    return "+".join(f"{name}={count}" for name, count in counts.items()) or "1"


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

    def apply(self, program: Program, value: str | tuple[tuple[str, ...], ...], *, is_open: bool) -> Program:
        if not isinstance(value, str) and not is_open:
            program.check_computed(self.name, [name for names in value for name in names])
        return program

    def matters(self, regions: Sequence[Region]) -> bool:
        return len(regions) > 1
