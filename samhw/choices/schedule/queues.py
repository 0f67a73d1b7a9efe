"""The queues of a schedule, as a table and in one word."""

from samhw.choices.schedule.counts import check_counts, parse_counts

__all__ = ["check_queues", "parse_queues"]

MOST = 1 << 20


def check_queues(queues: object) -> dict[str, int]:
    """A number of rows by intermediate; whether it can have a queue depends on its region."""
    return check_counts("queues", queues, MOST, "intermediate")


def parse_queues(text: str) -> dict[str, int]:
    """Queues in one word, such as `T=64+U=8`; raises `InputError` for other words. `1` is none."""
    return check_queues(parse_counts(text, "queues", "its number of rows", "intermediate"))
