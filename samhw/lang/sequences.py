"""The built-in programs with windows and recurrences (docs/sequences.md): some are texts, and some are
functions of nested lists, those of `examples/nested`."""

import ast
from functools import cache
from pathlib import Path

from samhw.errors import InputError
from samhw.installed import installed
from samhw.lang.library import Library
from samhw.lang.objects import Example, load_object
from samhw.lang.program import Program

__all__ = ["load_sequence", "sequence_description", "sequence_names"]


@cache
def _texts() -> Library:
    return Library("sequences", "program")


@cache
def _functions() -> dict[str, Path]:
    """The files of the functions, each of which gives it under the name `example`."""
    files = installed("examples").items()
    return {
        name.stem: path for name, path in files if name.parts[:-1] == ("nested",) and name.suffix == ".py"
    }


def sequence_names() -> tuple[str, ...]:
    """The names of all of them, sorted."""
    return tuple(sorted((*_texts().names, *_functions())))


def load_sequence(name: str) -> Program | Example:
    """The built-in program `name`, whose extents come from the data (`Program.bind`); or the function, which
    has data of its own.

    Raises InputError when there is none of this name.
    """
    if name in _functions():
        return load_object(f"{_functions()[name]}:example")
    if name not in _texts().names:
        raise InputError(f"there is no built-in program '{name}'; there are {', '.join(sequence_names())}")
    return _texts().load(name)


def sequence_description(name: str) -> str:
    """What it computes, in one line: its first comment, or the first sentence of its file."""
    if name not in _functions():
        return _texts().description(name)
    told = ast.get_docstring(ast.parse(_functions()[name].read_text(encoding="utf-8"))) or ""
    return " ".join(told.split()).partition(". ")[0].removesuffix(".")
