"""Actors beside the tables of their firings: what the words of each table mean."""

from tests.formal.actors import (
    dropping,
    ends,
    fibers,
    holding,
    indices,
    joining,
    lanes,
    ranking,
    recurrence,
    running,
    scanning,
    sums,
    values,
    vectors,
)

__all__ = ["ACTORS", "BY_FILE"]

BY_FILE = {
    file.__name__.rpartition(".")[2]: file.ACTORS
    for file in (
        dropping,
        ends,
        fibers,
        holding,
        indices,
        joining,
        lanes,
        ranking,
        recurrence,
        running,
        scanning,
        sums,
        values,
        vectors,
    )
}

ACTORS = {actor.name: actor for actors in BY_FILE.values() for actor in actors}
"""By name."""
