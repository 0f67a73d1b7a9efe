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
    "CASCADES",
    "KERNELS",
    "SEQUENCES",
    "Library",
    "cascade_names",
    "kernel_description",
    "kernel_names",
    "load_cascade",
    "load_kernel",
    "load_sequence",
    "sequence_names",
]


class Library:
    """The programs of one folder of this package. `what` is how errors call one of them.

    The extents of a program come from the data (`Program.bind`).
    """

    def __init__(self, folder: str, what: str) -> None:
        self._folder = files("samhw.lang") / folder
        self._what = what

    def names(self) -> tuple[str, ...]:
        """The names of all of them, sorted."""
        names = (path.name for path in self._folder.iterdir())
        return tuple(sorted(name.removesuffix(".ein") for name in names if name.endswith(".ein")))

    def load(self, name: str) -> Program:
        """The program `name`. Raises InputError when there is none of this name."""
        return parse(self._text(name), f"{name}.ein")

    def description(self, name: str) -> str:
        """What the program computes, in one line: its first comment."""
        return self._text(name).partition("\n")[0].removeprefix("#").strip()

    def _text(self, name: str) -> str:
        if name not in self.names():
            known = ", ".join(self.names())
            raise InputError(f"there is no built-in {self._what} '{name}'; there are {known}")
        return (self._folder / f"{name}.ein").read_text(encoding="utf-8")


class Sequences:
    """The same of programs some of which are functions, which have data of their own."""

    texts = Library("sequences", "program")

    def names(self) -> tuple[str, ...]:
        """The names of all of them, sorted."""
        return tuple(sorted((*self.texts.names(), *_functions())))

    def load(self, name: str) -> Program | Example:
        """The program `name`, or the function. Raises InputError when there is none of this name."""
        if name in _functions():
            return load_object(f"{_functions()[name]}:example")
        if name not in self.texts.names():
            raise InputError(f"there is no built-in program '{name}'; there are {', '.join(self.names())}")
        return self.texts.load(name)

    def description(self, name: str) -> str:
        """What it computes, in one line: its first comment, or the first sentence of its file."""
        if name not in _functions():
            return self.texts.description(name)
        told = ast.get_docstring(ast.parse(_functions()[name].read_text(encoding="utf-8"))) or ""
        return " ".join(told.split()).partition(". ")[0].removesuffix(".")


@cache
def _functions() -> dict[str, Path]:
    """The files of the functions, each of which gives it under the name `example`."""
    files = installed("examples").items()
    return {
        name.stem: path for name, path in files if name.parts[:-1] == ("nested",) and name.suffix == ".py"
    }


KERNELS, CASCADES = Library("kernels", "program"), Library("cascades", "program")
SEQUENCES = Sequences()

kernel_names, load_kernel, kernel_description = KERNELS.names, KERNELS.load, KERNELS.description
cascade_names, load_cascade = CASCADES.names, CASCADES.load
sequence_names, load_sequence = SEQUENCES.names, SEQUENCES.load
