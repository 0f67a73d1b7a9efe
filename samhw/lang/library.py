"""Folders of built-in programs, each an ``.ein`` file."""

from importlib.resources import files

from samhw.errors import InputError
from samhw.lang.parse import parse
from samhw.lang.program import Program

__all__ = ["Library"]


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
