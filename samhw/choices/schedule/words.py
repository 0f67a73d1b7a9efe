"""Schedules in the words of the command line, and every combination of some."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar

from samhw.choices.schedule.blocks import parse_blocks
from samhw.choices.schedule.cascade import parse_cascade
from samhw.choices.schedule.fields import AUTO, NO_RESULTS
from samhw.choices.schedule.lanes import parse_lanes
from samhw.choices.schedule.queues import parse_queues
from samhw.choices.schedule.schedule import Schedule
from samhw.errors import InputError

__all__ = ["every", "parse_order", "with_words"]

T = TypeVar("T")


def every(choices: Mapping[str, Sequence[T]]) -> Iterator[dict[str, T]]:
    """Every combination of one choice for each name, the last name varying fastest."""
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def with_words(schedule: Schedule, words: Mapping[str, Any]) -> Schedule:
    """The schedule with other fields in place of its own.

    Args:
        words: fields by name, as an option gives them; None leaves a field as it is. Beside the fields,
            `order.T` is the order of the region whose last result is T, `formats.T` the format of T,
            `brackets.T` the bracket of T, `split.T` the rule that splits T, and `permute_rows.T` the order of
            its rows, or `none`.

    Raises:
        InputError: for words that a field does not take.
    """
    chosen = {
        name: _READ[name](word) if name in _READ else word
        for name, word in words.items()
        if word is not None and "." not in name
    }
    if orders := _entries("order", words):
        before = schedule.order if isinstance(schedule.order, Mapping) else {}
        chosen["order"] = {**before, **{result: parse_order(text) for result, text in orders.items()}}
    if formats := _entries("formats", words):
        chosen["formats"] = {**schedule.formats, **formats}
    if brackets := _entries("brackets", words):
        chosen["brackets"] = {**schedule.brackets, **brackets}
    for table in ("split", "permute_rows"):
        if rules := _entries(table, words):
            chosen[table] = _without_none({**getattr(schedule, table), **rules})
    return replace(schedule, **chosen)


def _entries(table: str, words: Mapping[str, Any]) -> dict[str, Any]:
    return {name.partition(".")[2]: word for name, word in words.items() if name.startswith(f"{table}.")}


def _parse_split(text: str) -> dict[str, str]:
    return _parse_rules(text, "split", "one rule, as in A = rows(4)")


def _parse_permute_rows(text: str) -> dict[str, str]:
    return _parse_rules(text, "permute_rows", "one order, as in A = by length")


def _parse_rules(text: str, field: str, what: str) -> dict[str, str]:
    """Rules by tensor as `A = rows(4)`, several with semicolons.

    Args:
        field: whose words they are.
        what: a tensor is to have.
    """
    rules: dict[str, str] = {}
    for entry in filter(str.strip, text.split(";")):
        name, equals, rule = (part.strip() for part in entry.partition("="))
        if not equals or name in rules:
            raise InputError(f"{field} '{text}': give each tensor {what}, and a ; between them.")
        rules[name] = rule
    return rules


def _without_none(rules: Mapping[str, str]) -> dict[str, str]:
    """The rules that say something."""
    return {tensor: rule for tensor, rule in rules.items() if rule != "none"}


def parse_order(text: str) -> tuple[str, ...]:
    """The indices between the commas."""
    return tuple(index.strip() for index in text.split(","))


def _parse_partial_sums(text: str) -> str | tuple[str, ...]:
    """`auto`, `none`, or results with a + between them."""
    if text == NO_RESULTS:
        return ()
    return AUTO if text == AUTO else tuple(result.strip() for result in text.split("+"))


def _parse_share(text: str) -> str | dict[str, str]:
    """One word for all intermediates, or one for each of some: `T=buffer,U=store`, or with a + between."""
    if "=" not in text:
        return text
    ways: dict[str, str] = {}
    for entry in text.replace("+", ",").split(","):
        name, equals, way = (part.strip() for part in entry.partition("="))
        if not equals or name in ways:
            raise InputError(f"share '{text}': give each intermediate one way, as in T=buffer,U=store.")
        ways[name] = way
    return ways


def _parse_brackets(text: str) -> dict[str, str]:
    """Brackets as `T = A * (X * W)`, several with semicolons."""
    brackets: dict[str, str] = {}
    for entry in filter(str.strip, text.split(";")):
        name, equals, bracket = (part.strip() for part in entry.partition("="))
        if not equals or name in brackets:
            raise InputError(
                f"brackets '{text}': give each result one bracket, as in T = A * (X * W), and a ; "
                "between them."
            )
        brackets[name] = bracket
    return brackets


_READ: Mapping[str, Callable[[str], Any]] = {
    "blocks": parse_blocks,
    "brackets": _parse_brackets,
    "cascade": parse_cascade,
    "lanes": parse_lanes,
    "order": lambda text: parse_order(text) if text else {},
    "share": _parse_share,
    "split": _parse_split,
    "permute_rows": _parse_permute_rows,
    "queues": parse_queues,
    "partial_sums": _parse_partial_sums,
    "off_chip": lambda text: tuple(text.split("+")) if text else None,
}
"""Of the fields that are more than a word, how they are read."""
