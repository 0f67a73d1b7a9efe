"""Rules in words: `rows(4)`, `even(4)`, `columns(2)`, `hyb(1,2)`, `diagonal + csr`,
`dia(density=0.5) + csr`, `blocks(16, density=0.5) + csr`, and `file.py:function`.

A field of a schedule that says something of each of some tensors, in words.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError, shown
from samhw.lang.splits.partition import Coordinates, Places, SplitRule, TensorPart
from samhw.lang.splits.rules import Blocks, Columns, Dia, Diagonal, Even, Hyb, Rows
from samhw.lang.splits.statements import MOST_TERMS
from samhw.script import Script
from samhw.tensors import Format
from samhw.words import did_you_mean

__all__ = ["RuleFunction", "WrittenRule", "check_by_tensor", "check_split", "parse_rule", "rule_file"]


def rule_file(text: str) -> str | None:
    """The Python file that a rule is in; None for a built-in rule."""
    path, _, name = text.strip().rpartition(":")
    return path if path.endswith(".py") and name else None


@dataclass(frozen=True, eq=False)  # Another reading of the file may be another function.
class RuleFunction:
    """A function of that name in a file, which is not read before the function is called.

    Raises, when it is called:
        InputError: for a file or a function that is not there, and for what fails inside of it.
    """

    path: str
    name: str

    @classmethod
    def of(cls, text: str) -> "RuleFunction | None":
        """That of a rule in words, `file.py:function`; None for another rule."""
        path = rule_file(text)
        return None if path is None else cls(path, text.strip().rpartition(":")[2])

    def __call__(self, *arguments: object) -> object:
        called = self._called
        with self._script.failing(), self._script.around():
            return called(*arguments)

    @cached_property
    def _script(self) -> Script:
        return Script(self.path)

    @cached_property
    def _called(self) -> Callable[..., object]:
        objects = self._script.objects()
        found: Callable[..., object] | None = objects.get(self.name)
        if not callable(found):
            meant = did_you_mean(self.name, [name for name, held in objects.items() if callable(held)])
            raise InputError(
                f"'{self.path}' has no function '{self.name}'{meant}; name one that takes coordinates and a "
                "shape"
            )
        return found


@dataclass(frozen=True, eq=False)  # Another reading of the file may be another rule.
class WrittenRule(SplitRule):
    """A function of the coordinates, of shape (rank, entries), and the shape of a tensor. It gives, by the
    name of each part, which entries it has: an array of booleans of shape (entries,).

    Its parts are those that it gives for a tensor without entries, and have to be the same for every other
    one. They are stored in compressed levels.
    """

    function: RuleFunction

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        self.need_rank(fmt, 1)
        stored = Format.compressed(fmt.rank, fmt.mode_order)
        given = self._given(np.zeros((fmt.rank, 0), np.int64), (1,) * fmt.rank)
        return tuple(TensorPart(name, stored, f"{name}, by {self.text}") for name in given)

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        given = self._given(coords, shape)
        count = coords.shape[1]
        names = list(self._given(coords[:, :0], shape))
        if list(given) != names:
            raise InputError(
                f"the rule '{self.text}' gives the parts {', '.join(given)} here, and {', '.join(names)} for "
                "a tensor without entries; let it give the same parts for all data"
            )
        place, times = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for number, kept in enumerate(given.values()):
            place[kept] = number
            times += kept
        if not (times == 1).all():
            at = int(np.flatnonzero(times != 1)[0])
            where = ", ".join(map(str, coords[:, at]))
            said = "no part" if times[at] == 0 else f"{times[at]} parts"
            raise InputError(
                f"the rule '{self.text}' puts the entry at ({where}) into {said}; put every entry into one"
            )
        return place

    def _given(self, coords: Coordinates, shape: tuple[int, ...]) -> dict[str, NDArray[np.bool_]]:
        """What the function gives, checked."""
        given = self.function(coords, shape)
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                f"the rule '{self.text}' gives {shown(given)}; let it give a dictionary, by the name of each "
                "part an array of booleans"
            )
        return {self._name(name): self._mask(name, kept, coords.shape[1]) for name, kept in given.items()}

    def _name(self, name: object) -> str:
        if not isinstance(name, str) or not f"_{name}".isidentifier():
            raise InputError(
                f"the rule '{self.text}' calls a part {shown(name)}; use letters, digits and '_'"
            )
        return name

    def _mask(self, name: str, kept: object, count: int) -> NDArray[np.bool_]:
        mask = np.asarray(kept)
        if mask.dtype != np.bool_ or mask.shape != (count,):
            raise InputError(
                f"the rule '{self.text}' gives an array of {mask.dtype} and shape {mask.shape} for the part "
                f"'{name}'; give booleans of shape ({count},), one for each entry"
            )
        return mask


def check_by_tensor(
    field: str, value: object, parse: Callable[[str], object], *, what: str, several: str, example: str
) -> dict[str, str]:
    """The table of such a field, as a schedule keeps it.

    Args:
        parse: raises `InputError` for words that say nothing.
        what, several: what is said of a tensor, such as "a rule", and "rules".
        example: such words.

    Raises:
        InputError: for what is not a table of them.
    """
    if not isinstance(value, Mapping):
        raise InputError(
            f"'{field}' is {shown(value)}; give a table of {several} by tensor, A = \"{example}\"."
        )
    for tensor, text in value.items():
        if not isinstance(tensor, str) or not isinstance(text, str):
            raise InputError(
                f"'{field}' has {shown(text)} for {shown(tensor)}; give {what}, such as {example}."
            )
        try:
            parse(text)
        except InputError as error:
            raise InputError(f"'{field}' of '{tensor}': {error}.") from None
    return {tensor: text.strip() for tensor, text in value.items()}


_RULES = (
    "rows(n), even(n), columns(c), hyb(c,k), diagonal + csr, dia + csr, blocks(b, density=d) + csr or "
    "file.py:function"
)


_MOSTLY = 0.5
"""The share of a diagonal from which on a place for all of it costs less than a coordinate for each entry."""


def check_split(split: object) -> dict[str, str]:
    """Rules by tensor, as a schedule keeps them.

    Raises:
        InputError: for what is not a table of rules.
    """
    return check_by_tensor("split", split, parse_rule, what="a rule", several="rules", example="rows(4)")


def parse_rule(text: str) -> SplitRule:
    """The rule of a text. Of a user's file nothing is read until the rule is asked for its parts.

    Raises:
        InputError: for a text that is not a rule.
    """
    text = text.strip()
    if (function := RuleFunction.of(text)) is not None:
        return WrittenRule(text, function)
    first, plus, rest = (part.strip() for part in text.partition("+"))
    name, numbers, settings = _taken_apart(text, first)
    match name, numbers, list(settings.items()), bool(plus):
        case "rows", [count], [], False:
            return Rows(text, _within(text, count, 1, MOST_TERMS))
        case "even", [count], [], False:
            return Even(text, _within(text, count, 1, MOST_TERMS))
        case "columns", [count], [], False:
            return Columns(text, _within(text, count, 1, MOST_TERMS))
        case "hyb", [columns, log], [], False:
            c = _within(text, columns, 1, MOST_TERMS)
            return Hyb(text, c, _within(text, log, 0, MOST_TERMS // c - 1))
        case "diagonal", [], [], True:
            return Diagonal(text, rest)
        case "dia", [], [("density", density)], True:
            return Dia(text, _share(text, density), rest)
        case "dia", [], [], True:
            return Dia(text, _MOSTLY, rest)
        case "blocks", [side], [("density", density)], True:
            return Blocks(text, _within(text, side, 1, 1 << 20), _share(text, density), rest)
        case "bcsr" | "dbsr", _, _, _:
            raise InputError(
                f"the rule '{text}' has a part in {name}, which is not compiled; use blocks(b, density=d) + "
                "csr or dia + csr"
            )
    meant = did_you_mean(text, ("rows(n)", "even(n)", "columns(c)", "diagonal + csr", "dia + csr"))
    raise InputError(f"there is no rule '{text}'{meant}; the rules are {_RULES}")


def _taken_apart(text: str, first: str) -> tuple[str, list[str], dict[str, str]]:
    """A name with its arguments, in order and by name."""
    found = re.fullmatch(r"(\w+)\s*(?:\(([^()]*)\))?", first)
    if found is None:
        raise InputError(f"'{text}' is no rule; the rules are {_RULES}")
    items = [item.strip() for item in (found[2] or "").split(",")] if found[2] is not None else []
    named = dict(item.replace(" ", "").split("=", 1) for item in items if "=" in item)
    return found[1], [item for item in items if "=" not in item], named


def _within(text: str, number: str, least: int, most: int) -> int:
    if not (number.isascii() and number.isdecimal() and len(number) < 10 and least <= int(number) <= most):
        raise InputError(
            f"the rule '{text}' has {number or 'nothing'} where a number from {least} to {most} belongs"
        )
    return int(number)


def _share(text: str, number: str) -> float:
    try:
        share = float(number)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise InputError(f"the rule '{text}' has the density {number}; give one above 0, and at most 1")
    return share
