"""The built-in programs that are no networks: kernels, those of the Sparse Abstract Machine paper; cascades,
reductions that depend on each other (docs/cascades.md); and sequences, programs with windows and recurrences
(docs/sequences.md), of which some are functions of nested lists, those of `examples/nested`. The others are
texts, ``.ein`` files in folders of this package."""

import ast
from functools import cache
from importlib.resources import files
from pathlib import Path

from samhw.errors import InputError
from samhw.installed import installed
from samhw.lang.objects import Example, load_object
from samhw.lang.parse import parse
from samhw.lang.program import Program

__all__ = [
    "Library",
    "cascade_description",
    "cascade_names",
    "kernel_description",
    "kernel_names",
    "load_cascade",
    "load_kernel",
    "load_sequence",
    "sequence_description",
    "sequence_names",
]


class Library:
    """The programs of one folder of this package. `what` is how errors call one of them."""

    def __init__(self, folder: str, what: str) -> None:
        self._folder = files("samhw.lang") / folder
        self._what = what
        names = (path.name for path in self._folder.iterdir())
        self.names = tuple(sorted(name.removesuffix(".ein") for name in names if name.endswith(".ein")))
        """Sorted."""

    def load(self, name: str) -> Program:
        """The program `name`. Raises InputError when there is none of this name."""
        return parse(self._text(name), f"{name}.ein")

    def description(self, name: str) -> str:
        """What the program computes, in one line: its first comment."""
        return self._text(name).partition("\n")[0].removeprefix("#").strip()

    def _text(self, name: str) -> str:
        if name not in self.names:
            raise InputError(f"there is no built-in {self._what} '{name}'; there are {', '.join(self.names)}")
        return (self._folder / f"{name}.ein").read_text(encoding="utf-8")


@cache
def _kernels() -> Library:
    return Library("kernels", "program")


def kernel_names() -> tuple[str, ...]:
    """The names of all built-in kernels, sorted."""
    return _kernels().names


def load_kernel(name: str) -> Program:
    """The built-in kernel `name`; its extents come from the data (`Program.bind`).

    Raises InputError when there is none of this name.
    """
    return _kernels().load(name)


def kernel_description(name: str) -> str:
    """What the built-in kernel computes, in one line: its first comment."""
    return _kernels().description(name)


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
