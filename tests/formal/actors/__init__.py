"""Actors beside the rows of their rules: what the names in the rows mean."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from tests.formal.firings import Actor

__all__ = ["ACTORS", "BY_FILE"]

_FILES = (
    "dropping",
    "ends",
    "fibers",
    "holding",
    "indices",
    "joining",
    "lanes",
    "ranking",
    "recurrence",
    "running",
    "scanning",
    "sums",
    "values",
    "vectors",
)

BY_FILE: Mapping[str, Sequence[Actor]] = {
    name: import_module(f"tests.formal.actors.{name}").ACTORS for name in _FILES
}

ACTORS = {actor.name: actor for actors in BY_FILE.values() for actor in actors}
"""By name."""
