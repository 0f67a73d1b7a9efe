"""The lanes of a schedule, as a table and in one word."""

from collections.abc import Mapping

from samhw.errors import InputError, shown
from samhw.schedule.fields import check_whole

__all__ = ["check_lanes", "lanes_text", "parse_counts", "parse_lanes"]

MOST = 1024


def check_lanes(lanes: object) -> dict[str, int]:
    """A number of lanes by index; whether a region can have them depends on its graph."""
    if not isinstance(lanes, Mapping) or not all(isinstance(index, str) for index in lanes):
        raise InputError(
            f"'lanes' is {shown(lanes)}; give a table with an entry for each index, such as i = 4."
        )
    return {index: check_whole(f"lanes.{index}", count, MOST) for index, count in lanes.items()}


def parse_lanes(text: str) -> dict[str, int]:
    """Lanes in one word, such as `i=4+j=2`; raises `InputError` for other words. `1` is one lane."""
    return check_lanes(parse_counts(text, "lanes", "its number of lanes"))


def parse_counts(text: str, field: str, what: str, of: str = "index") -> dict[str, int]:
    """A number for each index, such as `i=4+j=2`, or for each of something else; `1` is none.

    Args:
        field: whose word it is.
        what: the number is.
        of: what has one.
    """
    counts: dict[str, int] = {}
    for item in text.split("+") if text not in ("", "1") else ():
        index, _, count = (part.strip() for part in item.partition("="))
        if not (index and count.isdecimal() and len(count) < 10) or index in counts:
            raise InputError(
                f"{field} '{text}': give each {of} once with {what}, and a + between them, such as "
                f"{'i=4+j=2' if of == 'index' else 'T=4+U=2'}; or 1 for none."
            )
        counts[index] = int(count)
    return counts


def lanes_text(lanes: Mapping[str, int]) -> str:
    """The word that `parse_lanes`, `parse_blocks` and `parse_queues` read; `1` for none."""
    return "+".join(f"{index}={count}" for index, count in lanes.items()) or "1"
