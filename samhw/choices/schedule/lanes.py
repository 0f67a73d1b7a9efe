"""The lanes of a schedule, as a table and in one word."""

from samhw.choices.schedule.counts import check_counts, parse_counts

__all__ = ["check_lanes", "parse_lanes"]

MOST = 1024


def check_lanes(lanes: object) -> dict[str, int]:
    """A number of lanes by index; whether a region can have them depends on its graph."""
    return check_counts("lanes", lanes, MOST)


def parse_lanes(text: str) -> dict[str, int]:
    """Lanes in one word, such as `i=4+j=2`; raises `InputError` for other words. `1` is one lane."""
    return check_lanes(parse_counts(text, "lanes", "its number of lanes"))
