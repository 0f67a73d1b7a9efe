"""The ways to share that a search tries."""

from collections.abc import Iterator
from dataclasses import replace

from samhw.choices.schedule import Schedule
from samhw.choices.share import SHARES
from samhw.compiler.search.tried import Start

__all__ = ["neighbours"]


def neighbours(at: Start) -> Iterator[Schedule]:
    """With another word for all intermediates, where none has one of its own."""
    if isinstance(at.schedule.share, str):
        yield from (replace(at.schedule, share=share) for share in SHARES)
