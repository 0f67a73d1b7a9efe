"""Whether a search lets tensors be copied."""

from collections.abc import Iterator
from dataclasses import replace

from samhw.choices.schedule import Schedule
from samhw.compiler.search.tried import Start

__all__ = ["neighbours"]


def neighbours(at: Start) -> Iterator[Schedule]:
    """With copies, or without them."""
    yield replace(at.schedule, permute=not at.schedule.permute)
