"""What a level type is, and a stored level. A type's room is its file in `samhw/tensors/formats/levels`: the
types are found there by name, and there is no list to add to."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from importlib import import_module
from itertools import takewhile
from pkgutil import iter_modules
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.formats import levels
from samhw.tensors.formats.arrays import IntArray

__all__ = [
    "Arrays",
    "Below",
    "Bools",
    "LevelNode",
    "LevelType",
    "Packing",
    "Rows",
    "StoredLevel",
    "level_type",
    "level_types",
]

Arrays: TypeAlias = Mapping[str, IntArray]
Bools: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = list[IntArray]
Below: TypeAlias = Sequence["StoredLevel"]


@dataclass(frozen=True)
class LevelNode:
    """A node of a graph that walks through a level, or looks up its coordinates, or writes it: plain data.

    Attributes:
        kind: of primitive.
        arrays: those of the level that it reads or writes, each the parameter of that name.
        numbers: further parameters.
        extents: parameters that are extents: that of the level, 0, or of one this many levels above.
    """

    kind: str
    arrays: tuple[str, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    extents: Mapping[str, int] = field(default_factory=lambda: {"extent": 0})

    def params(self, tensor: str, depth: int, extent: Callable[[int], str]) -> dict[str, Any]:
        """Its parameters at a level of a tensor.

        Args:
            extent: that of a level, by its depth.
        """
        return {
            **{name: f"{tensor}.{name}{depth}" for name in self.arrays},
            **self.numbers,
            **{name: extent(depth - above) for name, above in self.extents.items()},
        }


@dataclass
class Packing:
    """Entries on their way into the levels of a format, from the outermost level inwards.

    Attributes:
        format: as messages name it.
        types: of all levels.
        sizes: of all levels.
        coords: of shape (levels, entries), sorted and distinct.
        position: of each entry in the levels that are packed, of shape (entries,).
        count: how many positions these levels have.
        depth: the level that comes next.
    """

    format: str
    types: tuple["LevelType", ...]
    sizes: tuple[int, ...]
    coords: IntArray
    position: IntArray
    count: int = 1
    depth: int = 0

    @property
    def size(self) -> int:
        """The extent of the level that comes next."""
        return self.sizes[self.depth]

    @property
    def crd(self) -> IntArray:
        """The coordinate of each entry there."""
        crd: IntArray = self.coords[self.depth]
        return crd

    @property
    def tuples(self) -> IntArray:
        """Those coordinates, and below them the ones of levels that have exactly one for each."""
        below = takewhile(lambda type: type.is_branchless, self.types[self.depth + 1 :])
        return self.coords[self.depth : self.depth + 1 + len(list(below))]


@dataclass(frozen=True, eq=False)
class StoredLevel:
    """One level of a tensor: plain data.

    Attributes:
        type: how it stores coordinates.
        size: the extent of its coordinates.
        arrays: what it stores, by the names that the type has for it.
    """

    type: "LevelType"
    size: int
    arrays: Arrays = field(default_factory=dict)


class LevelType(ABC):
    """How one level stores the coordinates of its fibers: a fiber has those below one position of the level
    above, and each of them a position.

    In the terms of Chou et al. (Format abstraction for sparse tensor algebra compilers, 2018) all levels are
    *ordered* and *unique*: the coordinates of a fiber increase. Those of a coordinate list do so in tuples,
    with the branchless levels below. Other code asks a type what it can do, and does not ask which it is.
    """

    name: ClassVar[str]
    """In formats."""

    notation: ClassVar[str] = ""
    """How messages write it, if it has parameters."""

    is_matrix_format: ClassVar[bool] = False
    """Whether the name is also that of a format: of matrices with this level below dense rows."""

    is_full: ClassVar[bool] = False
    """Whether each fiber has every coordinate of the extent."""

    stores_fill: ClassVar[bool] = False
    """Whether there are places for coordinates that nobody stored: zeros, which are computed with."""

    is_branchless: ClassVar[bool] = False
    """Whether each position above has exactly one coordinate."""

    is_compact: ClassVar[bool] = True
    """Whether all that is stored are coordinates, and nothing is padding."""

    levels_by_place: ClassVar[int] = 0
    """How many levels, itself and those above it, have coordinates whose order and distance decide what is
    stored. If these are renumbered, other zeros have places."""

    arrays: ClassVar[tuple[str, ...]] = ()
    """What it stores. An array named x is x0 at the outermost level, x1 below it, and so on."""

    locator: ClassVar[LevelNode | None] = None
    """What gives the position of a coordinate without a walk to it, if something does."""

    writer: ClassVar[LevelNode | None] = None
    """What stores the coordinates of a result, if a region can; None for a level of inputs alone."""

    mlir: ClassVar[tuple[str, ...]] = ()
    """In encodings of MLIR: its own name, and those of levels that are stored as this one."""

    def __str__(self) -> str:
        numbers = list(vars(self).values())
        return f"{self.name}({','.join(map(str, numbers))})" if numbers else self.name

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.name, *vars(self).values()))

    @property
    @abstractmethod
    def scanner(self) -> LevelNode:
        """What gives the coordinates and positions of fibers."""

    @property
    def loaded(self) -> "LevelType":
        """The level as which this one lies in the memories of a design."""
        return self

    def misplaced(self, levels: Sequence["LevelType"], depth: int) -> str | None:
        """Why it cannot stand there among the levels of a format; None if it can."""
        return None

    # Packing

    @abstractmethod
    def pack(self, at: Packing) -> tuple[Arrays, IntArray, int]:
        """The level of some entries: its arrays, the position of each entry, and the number of positions.

        Raises
        ------
        InputError
            When it would store too much, or cannot store that.
        """

    @abstractmethod
    def unpack(self, level: StoredLevel, rows: Rows, is_stored: Bools) -> tuple[Rows, Bools]:
        """For each position its coordinates, an array for each level down to this one, and whether it is
        stored, and no padding.

        Args:
            rows: the coordinates of each position above.
            is_stored: whether these are stored.
        """

    @abstractmethod
    def check(self, level: StoredLevel, depth: int, fibers: int, below: Below) -> int:
        """The number of its positions.

        Args:
            fibers: how many positions there are above.
            below: the levels below it.

        Raises
        ------
        InputError
            Naming the first array and entry that break a rule.
        """

    # Memories

    @abstractmethod
    def most_positions(self, fibers: int, extent: int, entries: int) -> int:
        """How many positions it has at most.

        Args:
            fibers: the most positions above.
            extent: the greatest one of its coordinates.
            entries: the most that a compressed level holds.
        """

    def capacities(self, fibers: int, extent: int, positions: int) -> dict[str, int]:
        """The places that its arrays need.

        Args:
            positions: as `most_positions` gives them.
        """
        return {}

    def read_back(self, take: Callable[[str, int], IntArray], fibers: int, size: int) -> int:
        """Reads what a region has written, and gives the number of positions.

        Args:
            take: reads this many of the first words of an array.
        """
        raise TypeError(f"no region writes {self} levels")


_TEXT = re.compile(r"(\w+)(?:\(\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\))?")


@cache
def level_types() -> Mapping[str, type[LevelType]]:
    """All of them by their names, in alphabetical order of their files."""
    modules = [import_module(f"{levels.__name__}.{found.name}") for found in iter_modules(levels.__path__)]
    types = [
        thing
        for module in sorted(modules, key=lambda module: module.__name__)
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, LevelType) and thing.__module__ == module.__name__
    ]
    return {type.name: type for type in types}


def level_type(text: str) -> LevelType:
    """The level type that a text names, such as ``dense`` or ``ell(4)``.

    Raises
    ------
    InputError
        When the text names none.
    """
    parts = _TEXT.fullmatch(text)
    found = level_types().get(parts[1]) if parts else None
    numbers = [int(number) for number in parts[2].split(",")] if parts and parts[2] else []
    if found is None or len(numbers) != (len(fields(found)) if is_dataclass(found) else 0):
        known = ", ".join(type.notation or name for name, type in level_types().items())
        raise InputError(f"unknown level type {text!r}: use {known}")
    return found(*numbers)
