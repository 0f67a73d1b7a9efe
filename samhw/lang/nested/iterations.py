"""Where the iterations of blocks are in a program: indices of statements, and the step of a scan.

Places that are computed with, as in ``xs[2 * i + 1]``, where they are affine in the steps of loops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from samhw.lang.nested.dataflow import (
    Affine,
    Buffer,
    Constants,
    ElementRead,
    Equation,
    ListView,
    Loop,
    Positions,
    constant,
    substituted,
    variable,
)
from samhw.lang.nested.hyperplane import Wavefront

__all__ = ["STEP", "CellPlace", "IndexNames", "affine_place"]

STEP = "step"
"""The index of the sequential loop of a scan; one with another number of rounds has another index."""


class IndexNames:
    """The indices of a program: a name for each wish and extent, so that no index has two extents."""

    def __init__(self) -> None:
        self.extents: dict[str, int] = {}

    def of(self, wish: str, extent: int) -> str:
        """The index that has this extent."""
        name = wish if self.extents.setdefault(wish, extent) == extent else f"{wish}{extent}"
        self.extents.setdefault(name, extent)
        return name


@dataclass(frozen=True)
class CellPlace:
    """An iteration of loops, outside of a scan or in it.

    Attributes:
        loops: around what is computed, the outermost first.
        names: the index of each loop that has one: all of them, or in a scan all but the one that follows.
        wavefront: of the scan that they are in.
        outer: how many loops are around the wavefront's.
        own: the buffers that the block computes.
        inside: those that the scan computes, which may have several blocks.
        step: the index of the scan.
        offset: the step in which the block has its first cell.
        mask: the input that is 1 where the block has cells; none if that is everywhere.
    """

    loops: tuple[Loop, ...]
    names: Mapping[str, str]
    wavefront: Wavefront | None = None
    outer: int = 0
    own: frozenset[str] = field(default=frozenset())
    inside: frozenset[str] = field(default=frozenset())
    step: str = STEP
    offset: int = 0
    mask: str | None = None

    @property
    def coefficients(self) -> dict[str, int]:
        """What the step counts of each loop."""
        if self.wavefront is None:
            return {}
        return {
            loop.name: a
            for loop, a in zip(self.wavefront.loops, self.wavefront.coefficients, strict=True)
            if a
        }

    @property
    def follows(self) -> str | None:
        """The loop that has no index, but follows from the step and the others."""
        if self.wavefront is None or self.wavefront.follows is None:
            return None
        return self.wavefront.loops[self.wavefront.follows].name

    @property
    def rows(self) -> tuple[str, ...]:
        """The indices, in the order of the loops."""
        return tuple(self.names[loop.name] for loop in self.loops if loop.name in self.names)

    @property
    def values(self) -> dict[str, Affine]:
        """Each loop's variable by indices and the step."""
        found = {loop: variable(name) for loop, name in self.names.items()}
        if self.follows is not None:
            rest = variable(self.step) - self.offset
            for loop, a in self.coefficients.items():
                if loop != self.follows:
                    rest = rest - found[loop] * a
            found[self.follows] = rest
        return found

    def index(self, index: Affine) -> Affine:
        """An index of loops as one of the program's indices."""
        return substituted(index, self.values)

    def with_loops(self, loops: tuple[Loop, ...], names: IndexNames) -> "CellPlace":
        """An iteration of further loops inside."""
        more = {loop.name: names.of(loop.name, loop.extent) for loop in loops}
        return replace(self, loops=(*self.loops, *loops), names={**self.names, **more})


def affine_place(buffers: Mapping[str, Buffer], read: ElementRead) -> Affine | None:
    """The index that a whole number is, where sums, differences and multiples of positions make it, as in
    ``xs[2 * i + 1]``; None for any other element."""
    buffer = buffers[read.buffer]
    indices = [i if isinstance(i, Affine) else affine_place(buffers, i) for i in read.indices]
    values = {dim.name: index for dim, index in zip(buffer.dims, indices, strict=True) if index is not None}
    if len(values) < len(indices):
        return None
    match buffer:
        case Positions(dims=(dim,)):
            return values[dim.name]
        case Constants(dims=dims, shape=(), value=value):
            return _constant(value, [values[dim.name] for dim in dims])
        case ListView(source=source):
            return affine_place(buffers, source.substituted(values))
        case Equation(operation=operation, arguments=arguments):
            return _combined(
                operation.name, [affine_place(buffers, a.substituted(values)) for a in arguments]
            )
    return None


def _combined(name: str, parts: Sequence[Affine | None]) -> Affine | None:
    match name, parts:
        case "negative", [Affine() as one]:
            return one * -1
        case "add", [Affine() as one, Affine() as other]:
            return one + other
        case "subtract", [Affine() as one, Affine() as other]:
            return one - other
        case "multiply", [Affine() as one, Affine() as other] if not other.terms:
            return one * other.offset
        case "multiply", [Affine() as one, Affine() as other] if not one.terms:
            return other * one.offset
    return None


def _constant(value: npt.NDArray[np.generic], indices: Sequence[Affine]) -> Affine | None:
    """A whole number, or the one that a list of them has at a known place."""
    place = tuple(index.offset for index in indices)
    inside = all(0 <= at < extent for at, extent in zip(place, value.shape, strict=True))
    if not inside or any(index.terms for index in indices):
        return None
    found = float(value[place])
    return constant(int(found)) if found.is_integer() else None
