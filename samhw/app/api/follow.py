"""A line that says how far a loop over inputs is."""

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import track

__all__ = ["followed"]

T = TypeVar("T")


def followed(inputs: Iterable[T], progress: bool) -> Iterator[T]:
    """The inputs; with `progress`, a line on stderr, or beneath a notebook's cell, counts those that are
    done."""
    if not progress:
        yield from inputs
        return
    total = len(inputs) if isinstance(inputs, Sized) else None
    yield from track(inputs, "runs", total=total, console=Console(stderr=True))
