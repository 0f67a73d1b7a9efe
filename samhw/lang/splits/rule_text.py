"""Rules in words: `rows(4)`, `even(4)`, `columns(2)`, `hyb(1,2)`, `diagonal + csr`,
`dia(density=0.5) + csr`, `blocks(16, density=0.5) + csr`, and `file.py:function`.

A field of a schedule that says something of each of some tensors, in words.
"""

import re
from collections.abc import Callable, Mapping

from samhw.errors import InputError, shown
from samhw.lang.splits.partition import SplitRule
from samhw.lang.splits.rules import Blocks, Columns, Dia, Diagonal, Even, Hyb, Rows
from samhw.lang.splits.statements import MOST_TERMS
from samhw.lang.splits.written_rule import RuleFunction, WrittenRule

__all__ = ["check_by_tensor", "check_split", "parse_rule"]


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
    raise InputError(f"there is no rule '{text}'; the rules are {_RULES}")


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
