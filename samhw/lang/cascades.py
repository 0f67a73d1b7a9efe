"""The built-in cascades: reductions that depend on each other (docs/cascades.md)."""

from functools import cache

from samhw.lang.library import Library
from samhw.lang.program import Program

__all__ = ["cascade_description", "cascade_names", "load_cascade"]


@cache
def _cascades() -> Library:
    return Library("cascades", "program")


def cascade_names() -> tuple[str, ...]:
    """The names of all built-in cascades, sorted."""
    return _cascades().names


def load_cascade(name: str) -> Program:
    """The built-in cascade `name`; its extents come from the data (`Program.bind`).

    Raises InputError when there is none of this name.
    """
    return _cascades().load(name)


def cascade_description(name: str) -> str:
    """What the built-in cascade computes, in one line: its first comment."""
    return _cascades().description(name)
