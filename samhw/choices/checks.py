"""Checks of values that several choices share. Each gives the value as a schedule keeps it, or raises
`InputError`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from samhw.errors import InputError, shown

__all__ = ["check_names", "check_one_of", "check_table", "check_whole", "is_list", "plain", "read_entries"]


def check_one_of(field: str, value: object, choices: Sequence[str]) -> None:
    """A value that there is."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"There is no {field} {shown(value)}; the choices are {', '.join(choices)}.")


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
    """The entries of a table in one word, such as `A = rows(4); B = even(2)`.

    Args:
        wanted: what each entry is to be, for the error of other words.
    """
    table: dict[str, str] = {}
    for item in filter(str.strip, word.split(";")):
        name, equals, text = (part.strip() for part in item.partition("="))
        if not equals or name in table:
            raise InputError(f"{field} '{word}': give {wanted}, and a ; between them.")
        table[name] = text
    return table


def is_list(value: object) -> bool:
    """Whether it is a sequence, but for texts."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def plain(value: Any) -> Any:
    """With lists instead of tuples."""
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if is_list(value) else value
