"""What an access has for each mode of its tensor: the coordinate there, as an expression of index variables.

Loops, orders and formats speak of the variables, which are strings. `Name` is a variable as it stands. A
further kind of index subclasses `IndexExpr` and answers the same three questions; what needs to know more
than these asks the access for its `names`, and gets an error where an index is more than a name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

__all__ = ["IndexExpr", "Indirect", "Name"]


@dataclass(frozen=True)
class IndexExpr:
    """Base of the kinds of index. ``str()`` of an index is its text in the ``.ein`` language."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The index variables that it uses, each once, in order of appearance."""
        raise NotImplementedError

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same index of other variables, all at once; a variable that `names` lacks keeps its name."""
        raise NotImplementedError


@dataclass(frozen=True)
class Name(IndexExpr):
    """The index variable itself: the ``i`` of ``A[i, k]``."""

    variable: str

    @property
    def variables(self) -> tuple[str]:
        return (self.variable,)

    def renamed(self, names: Mapping[str, str]) -> "Name":
        return Name(names.get(self.variable, self.variable))

    def __str__(self) -> str:
        return self.variable


@dataclass(frozen=True)
class Indirect(IndexExpr):
    """The coordinate that an index tensor names: the ``src[e]`` of ``E[src[e], f]``.

    Attributes:
        tensor: the index tensor, an input of whole numbers.
        names: its index variables, one for each mode.
    """

    tensor: str
    names: tuple[str, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.names))

    def renamed(self, names: Mapping[str, str]) -> "Indirect":
        return Indirect(self.tensor, tuple(names.get(name, name) for name in self.names))

    def __str__(self) -> str:
        return f"{self.tensor}[{', '.join(self.names)}]"
