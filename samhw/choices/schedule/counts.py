"""Numbers by name in a schedule, such as lanes by index, as a table and in one word."""

from collections.abc import Mapping

from samhw.choices.schedule.fields import check_whole
from samhw.errors import InputError, shown

__all__ = ["check_counts", "counts_text", "parse_counts"]

_SUCH_AS = {"index": ("i = 4", "i=4+j=2"), "intermediate": ("T = 64", "T=4+U=2")}
"""Of what has a number, an entry of a table, and a word."""


def check_counts(field: str, counts: object, most: int, of: str = "index") -> dict[str, int]:
    """A number from 1 to `most` for each name of a table.

    Args:
        field: of the schedule.
        of: what the names are of.

    Raises:
        InputError: for anything else.
    """
    if not isinstance(counts, Mapping) or not all(isinstance(name, str) for name in counts):
        raise InputError(
            f"'{field}' is {shown(counts)}; give a table with an entry for each {of}, such as "
            f"{_SUCH_AS[of][0]}."
        )
    return {name: check_whole(f"{field}.{name}", count, most) for name, count in counts.items()}


def parse_counts(text: str, field: str, what: str, of: str = "index") -> dict[str, int]:
    """The same in one word, such as `i=4+j=2`; `1` is none.

    Args:
        field: whose word it is.
        what: the number is.
        of: what has one.

    Raises:
        InputError: for other words.
    """
    counts: dict[str, int] = {}
    for item in text.split("+") if text not in ("", "1") else ():
        name, _, count = (part.strip() for part in item.partition("="))
        if not (name and count.isdecimal() and len(count) < 10) or name in counts:
            raise InputError(
                f"{field} '{text}': give each {of} once with {what}, and a + between them, such as "
                f"{_SUCH_AS[of][1]}; or 1 for none."
            )
        counts[name] = int(count)
    return counts


def counts_text(counts: Mapping[str, int]) -> str:
    """The word that `parse_counts` reads; `1` for none."""
    return "+".join(f"{name}={count}" for name, count in counts.items()) or "1"
