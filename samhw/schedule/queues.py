"""The queues of a schedule, as a table and in one word."""

from collections.abc import Mapping

from samhw.errors import InputError, shown
from samhw.schedule.fields import check_whole
from samhw.schedule.lanes import parse_counts

__all__ = ["check_queues", "parse_queues"]

MOST = 1 << 20


def check_queues(queues: object) -> dict[str, int]:
    """A number of rows by intermediate; whether it can have a queue depends on its region."""
    if not isinstance(queues, Mapping) or not all(isinstance(tensor, str) for tensor in queues):
        raise InputError(
            f"'queues' is {shown(queues)}; give a table with an entry for each intermediate, such as T = 64."
        )
    return {tensor: check_whole(f"queues.{tensor}", rows, MOST) for tensor, rows in queues.items()}


def parse_queues(text: str) -> dict[str, int]:
    """Queues in one word, such as `T=64+U=8`; raises `InputError` for other words. `1` is none."""
    return check_queues(parse_counts(text, "queues", "its number of rows", "intermediate"))
