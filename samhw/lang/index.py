"""What an access has for each mode of its tensor: the coordinate there, as an expression of index variables.

Loops, orders and formats speak of the variables, which are strings. `Name` is a variable as it stands. A
further kind of index subclasses `IndexExpr` and answers the same three questions; what needs to know more
than these asks the access for its `names`, and gets an error where an index is more than a name.

Chains of indices, outermost first, which one order of loops is to follow.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

from samhw.precedence import Precedence

__all__ = [
    "OUTSIDE",
    "ComputedIndex",
    "IndexExpr",
    "Indirect",
    "LinearIndex",
    "Name",
    "StepIndex",
    "add_chains",
]

OUTSIDE = ("clamp", "wrap")
"""How the text calls what a computed index does with a coordinate outside of its mode, if it is not zero that
stands there."""


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


@dataclass(frozen=True)
class StepIndex(IndexExpr):
    """The step that a scan is at, or one a fixed number of coordinates away: the ``t`` and ``t - 1`` of a
    block ``scan t { .. }``. It is no variable: each statement of the block is computed for one step at a
    time.

    Attributes:
        index: that of the scan.
        offset: what is added to it.
    """

    index: str
    offset: int = 0

    @property
    def variables(self) -> tuple[str, ...]:
        return ()

    def renamed(self, names: Mapping[str, str]) -> "StepIndex":
        return self

    def __str__(self) -> str:
        return (
            f"{self.index} {'-' if self.offset < 0 else '+'} {abs(self.offset)}"
            if self.offset
            else self.index
        )


class LinearIndex:
    """Gives Python's ``+``, ``-`` and ``*`` by whole numbers to what can be part of a computed index."""

    def linear(self) -> "ComputedIndex":
        """It as a computed index."""
        raise NotImplementedError

    def __add__(self, other: "LinearIndex | int") -> "ComputedIndex":
        return _sum(self, other) if isinstance(other, LinearIndex | int) else NotImplemented

    def __radd__(self, other: int) -> "ComputedIndex":
        return _sum(other, self) if isinstance(other, int) else NotImplemented

    def __sub__(self, other: "LinearIndex | int") -> "ComputedIndex":
        return _sum(self, -other) if isinstance(other, LinearIndex | int) else NotImplemented

    def __rsub__(self, other: int) -> "ComputedIndex":
        return _sum(other, -self) if isinstance(other, int) else NotImplemented

    def __mul__(self, factor: int) -> "ComputedIndex":
        if not isinstance(factor, int):
            return NotImplemented
        own = self.linear()
        return ComputedIndex.of(((name, k * factor) for name, k in own.terms), own.offset * factor)

    __rmul__ = __mul__

    def __neg__(self) -> "ComputedIndex":
        return self * -1


@dataclass(frozen=True)
class ComputedIndex(IndexExpr, LinearIndex):
    """A whole number and multiples of variables: the ``2*i + d - 1`` of ``X[2*i + d - 1]``.

    Attributes:
        terms: variables with what each is multiplied by, no variable twice and none by zero.
        offset: the number.
        outside: what stands at a coordinate that the mode has not: ``"zero"``; the nearest element
            (``"clamp"``); or the one that is left when whole extents are taken off or added (``"wrap"``).
    """

    terms: tuple[tuple[str, int], ...]
    offset: int = 0
    outside: str = "zero"

    @classmethod
    def of(cls, terms: Iterable[tuple[str, int]], offset: int = 0, outside: str = "zero") -> "ComputedIndex":
        """That of a sum in which variables may come several times."""
        found: dict[str, int] = {}
        for name, factor in terms:
            found[name] = found.get(name, 0) + factor
        return cls(tuple((name, factor) for name, factor in found.items() if factor), offset, outside)

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.terms)

    def renamed(self, names: Mapping[str, str]) -> "ComputedIndex":
        terms = ((names.get(name, name), factor) for name, factor in self.terms)
        return ComputedIndex.of(terms, self.offset, self.outside)

    def linear(self) -> "ComputedIndex":
        return self

    def reaching(self, outside: str) -> "ComputedIndex":
        """The same with another of `OUTSIDE`."""
        return replace(self, outside=outside)

    def extent_inside(self, variable: str, extent: int, others: Mapping[str, int]) -> int | None:
        """The greatest extent of a variable with which no coordinate goes beyond the end that it moves
        towards; below 1 if all do. None if coordinates that come back leave that open.

        Args:
            extent: of the mode.
            others: the extents of the other variables.
        """
        own = dict(self.terms)[variable]
        if self.outside != "zero":
            return extent if len(self.terms) == 1 and abs(own) == 1 else None
        rest = (factor * (others[name] - 1) for name, factor in self.terms if name != variable)
        ahead = sum(step for step in rest if (step > 0) == (own > 0))
        room = extent - 1 - self.offset - ahead if own > 0 else self.offset + ahead
        return room // abs(own) + 1

    def __str__(self) -> str:
        text = "".join(f" {'-' if k < 0 else '+'} {_scaled(abs(k), name)}" for name, k in self.terms)
        # What looks like a variable would be one.
        bare = len(self.terms) == 1 and self.terms[0][1] == 1 and self.outside == "zero"
        if self.offset or not self.terms or bare:
            text += f" {'-' if self.offset < 0 else '+'} {abs(self.offset)}"
        text = text[3:] if text.startswith(" + ") else f"-{text[3:]}"
        return text if self.outside == "zero" else f"{self.outside}({text})"


def _scaled(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}*{name}"


def _sum(left: LinearIndex | int, right: LinearIndex | int) -> ComputedIndex:
    one, other = (
        ComputedIndex((), part) if isinstance(part, int) else part.linear() for part in (left, right)
    )
    return ComputedIndex.of((*one.terms, *other.terms), one.offset + other.offset)


def add_chains(graph: Precedence[str], chains: Iterable[Sequence[str]]) -> tuple[int, ...]:
    """Adds to a graph of indices each chain that leaves it without a cycle, beside those before it.

    Returns:
        The numbers of the other chains, which no order that follows these can follow.
    """
    against = []
    for number, chain in enumerate(chains):
        new = [edge for edge in dict.fromkeys(pairwise(chain)) if edge not in graph.edges]
        graph.add_edges(new)
        if not graph.is_acyclic:
            graph.remove_edges(new)
            against.append(number)
    return tuple(against)
