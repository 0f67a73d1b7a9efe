"""Indices whose axes split and unite as operators demand it, so that views move nothing.

A tensor's mode is a row of indices, outermost first; a view only regroups them. Where it needs a part of an
index, the index's *axis* splits, and with it every index on that axis, in whatever tensor: of a stored input
the host then splits the mode. Axes unite where an operator goes through two tensors side by side.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

__all__ = ["Axes", "AxisConflict"]

Indices = tuple[str, ...]


class AxisConflict(Exception):
    """Two groupings of one axis that have no common parts: its elements have to be moved."""


@dataclass(eq=False)
class _Axis:
    size: int
    united: "_Axis | None" = None
    parts: "tuple[_Axis, _Axis] | None" = None
    rigid: bool = False
    """It cannot split: a concatenation, or what is put into one, has it whole."""


class Axes:
    """All indices of a program in the making, by name."""

    def __init__(self) -> None:
        self._axis: dict[str, _Axis] = {}
        self._parts: dict[str, tuple[str, str]] = {}

    def index(self, size: int) -> str:
        """A new index on an axis of its own."""
        return self._named(_Axis(size))

    def like(self, index: str) -> str:
        """Another index on the axis of this one."""
        return self._named(self._root(index))

    def size(self, indices: Iterable[str]) -> int:
        """The product of the extents."""
        return prod(self._root(index).size for index in indices)

    def same(self, one: str, other: str) -> bool:
        """Whether two indices are on one axis."""
        return self._root(one) is self._root(other)

    def resolved(self, indices: Iterable[str]) -> Indices:
        """The indices with the parts in the place of those that have split."""
        found: list[str] = []
        for index in indices:
            axis = self._root(index)
            if axis.parts is None:
                found.append(index)
                continue
            if index not in self._parts:
                outer, inner = (self._named(part) for part in axis.parts)
                self._parts[index] = (outer, inner)
            found += self.resolved(self._parts[index])
        return tuple(found)

    def key(self, index: str) -> int:
        """Equal for indices on one axis."""
        return id(self._root(index))

    def fix(self, indices: Iterable[str]) -> None:
        """Lets no index split from now on."""
        for index in indices:
            self._root(index).rigid = True

    def align(self, one: Sequence[str], other: Sequence[str]) -> dict[str, str]:
        """Goes through two rows of one size side by side; gives, for each index of the other one, that of the
        first. Raises `AxisConflict` if they have no common parts."""
        if self.size(one) != self.size(other):
            raise ValueError("rows of different sizes")
        left, right = list(self.resolved(one)), list(self.resolved(other))
        pairs: dict[str, str] = {}
        while left and right:
            a, b = left[0], right[0]
            sizes = self.size([a]), self.size([b])
            if sizes[0] == sizes[1]:
                pairs[b] = a
                self._unite(a, b)
                del left[0], right[0]
            elif sizes[0] > sizes[1]:
                self._split(a, sizes[1])
            else:
                self._split(b, sizes[0])
            # A split or a union may reach any of the others.
            left, right = list(self.resolved(left)), list(self.resolved(right))
        return {part: mine for b, a in pairs.items() for part, mine in self._parts_of(b, a)}

    def _parts_of(self, b: str, a: str) -> list[tuple[str, str]]:
        return list(zip(self.resolved([b]), self.resolved([a]), strict=True))

    def grouped(self, indices: Sequence[str], sizes: Sequence[int]) -> tuple[Indices, ...]:
        """The indices in groups of these sizes, split where a group ends within one."""
        left = list(self.resolved(indices))
        groups: list[list[str]] = []
        for size in sizes:
            group: list[str] = []
            while (missing := size // self.size(group)) > 1:
                have = self.size(left[:1])
                if missing % have:
                    self._split(left[0], missing)
                    # The axis may stand in several places.
                    left = list(self.resolved(left))
                    group = list(self.resolved(group))
                    continue
                group.append(left.pop(0))
            groups.append(group)
        return tuple(self.resolved(group) for group in groups)

    def _split(self, index: str, outer: int) -> None:
        axis = self._root(index)
        if axis.rigid or axis.size % outer:
            raise AxisConflict
        axis.parts = (_Axis(outer), _Axis(axis.size // outer))

    def _unite(self, one: str, other: str) -> None:
        a, b = self._root(one), self._root(other)
        if a is b:
            return
        a.rigid = a.rigid or b.rigid
        b.united = a

    def _root(self, index: str) -> _Axis:
        axis = self._axis[index]
        while axis.united is not None:
            axis = axis.united
        return axis

    def _named(self, axis: _Axis) -> str:
        name = f"x{len(self._axis)}"
        self._axis[name] = axis
        return name
