"""Hypothesis strategies of well-formed streams."""

from typing import Any

from hypothesis import strategies as st

from tests.support.nested import Nested

__all__ = ["coordinates", "like", "payloads", "structures"]

MOST_FIBERS = 4
MOST_POINTS = 5


def payloads(limit: int, *, empty: bool = False) -> st.SearchStrategy[int | None]:
    """Payload words below the limit; with `empty` also None, which is EMPTY."""
    words: st.SearchStrategy[int | None] = st.integers(0, limit - 1)
    return st.none() | words if empty else words


def structures(depth: int, leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Nested]:
    """Nested lists of that depth, empty lists of every kind among them, with a drawn leaf at each end."""
    structure: st.SearchStrategy[Nested] = leaf
    for level in range(depth):
        structure = st.lists(structure, max_size=MOST_POINTS if level == 0 else MOST_FIBERS)
    return structure


def coordinates(depth: int, limit: int) -> st.SearchStrategy[Nested]:
    """Nested lists of that depth >= 1 whose innermost lists are increasing coordinates below the limit."""
    fibers = st.sets(st.integers(0, limit - 1), max_size=MOST_POINTS).map(sorted)
    return structures(depth - 1, fibers)


def like(structure: Nested, depth: int, leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Nested]:
    """Nested lists with the shape of a given one down to `depth`, and a drawn leaf at each place there."""
    if depth == 0:
        return leaf
    return st.tuples(*(like(item, depth - 1, leaf) for item in structure)).map(list)
