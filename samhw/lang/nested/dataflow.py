"""What a traced function is: buffers, each assigned once, in a tree of nested operators.

A *buffer* has list dimensions and a shape of its elements. Its definition holds for all of its places at
once: ``t1[d, l] = matmul(s[d, l], ws[d])``. A `Read` of another buffer has an index for each of that buffer's
dimensions, an affine one, or a read of a list of whole numbers. So a function is a system of recurrence
equations over the iterations of its operators, and all that follows (dependences, access maps, order) can be
read off the indices.

A *block* is a perfect nest of operators, a *loop* one of them (the block node of the FractalTensor paper and
its iteration vector). A block's body has what is computed in an iteration.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy.typing as npt

from samhw.lang.index import ComputedIndex
from samhw.lang.nested.lists import ListType
from samhw.lang.nested.traced_operations import ElementOperation

__all__ = [
    "Affine",
    "BlockNode",
    "Buffer",
    "Constants",
    "Dim",
    "ElementRead",
    "Equation",
    "Given",
    "Index",
    "Item",
    "ListView",
    "Loop",
    "Merged",
    "Pieces",
    "Positions",
    "Stretch",
    "constant",
    "matrix",
    "reads_of",
    "span",
    "substituted",
    "text_of",
    "value_of",
    "variable",
    "with_reads",
]

# Affine indices: whole numbers and multiples of loop variables, as `samhw.lang.ComputedIndex` has them, with
# what access maps need in addition.


Affine = ComputedIndex


def variable(name: str) -> Affine:
    """A loop variable as an index."""
    return Affine(((name, 1),))


def constant(number: int) -> Affine:
    """A number as an index."""
    return Affine((), number)


def substituted(index: Affine, values: Mapping[str, Affine]) -> Affine:
    """The index with indices instead of variables, all at once; one that `values` lacks stays."""
    terms: list[tuple[str, int]] = []
    offset = index.offset
    for name, factor in index.terms:
        value = values.get(name)
        if value is None:
            terms.append((name, factor))
        else:
            terms += [(inner, factor * k) for inner, k in value.terms]
            offset += factor * value.offset
    return Affine.of(terms, offset)


def span(index: Affine, extents: Mapping[str, int]) -> tuple[int, int]:
    """The least and the greatest value while each variable goes from 0 to its extent less 1."""
    ends = [(factor * (extents[name] - 1)) for name, factor in index.terms]
    return index.offset + sum(e for e in ends if e < 0), index.offset + sum(e for e in ends if e > 0)


def value_of(index: Affine, values: Mapping[str, int]) -> int:
    """The number that it is."""
    return index.offset + sum(factor * values[name] for name, factor in index.terms)


def matrix(
    indices: Sequence[Affine], variables: Sequence[str]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """An access map as the FractalTensor paper writes it: M and o of ``M t + o``."""
    rows = tuple(tuple(dict(index.terms).get(name, 0) for name in variables) for index in indices)
    return rows, tuple(index.offset for index in indices)


def text_of(index: Affine) -> str:
    """The index as text: ``2*t + d - 1``."""
    if len(index.terms) == 1 and index.terms[0][1] == 1 and not index.offset:
        return index.terms[0][0]
    return str(index)


@dataclass(frozen=True)
class Dim:
    """A list dimension: the variable under which a definition speaks of it, and its extent."""

    name: str
    extent: int


@dataclass(frozen=True)
class ElementRead:
    """An element of a buffer: an index for each of its dimensions."""

    buffer: str
    indices: "tuple[Index, ...]" = ()

    def substituted(self, values: "Mapping[str, Index]", *, roughly: bool = False) -> "ElementRead":
        """The read with indices instead of variables, all at once; one that `values` lacks stays.

        Where a read would be part of an affine index, that raises ValueError; or the read alone stands there,
        `roughly`, for those who ask only whether a place is known.
        """
        return replace(self, indices=tuple(_placed(index, values, roughly) for index in self.indices))

    @property
    def variables(self) -> frozenset[str]:
        """The variables of its indices."""
        return frozenset(name for index in self.indices for name in index.variables)


Index = Affine | ElementRead


def _placed(index: Index, values: Mapping[str, Index], roughly: bool) -> Index:
    if isinstance(index, ElementRead):
        return index.substituted(values, roughly=roughly)
    whole = values.get(index.variables[0]) if index.variables else None
    if isinstance(whole, ElementRead) and index == variable(index.variables[0]):
        return whole
    affine = {name: value for name, value in values.items() if isinstance(value, Affine)}
    given = [values[name] for name in index.variables if name in values.keys() - affine.keys()]
    if given and roughly:
        return given[0]
    if given:
        raise ValueError(f"{index} of a coordinate that a list gives")
    return substituted(index, affine)


@dataclass(frozen=True)
class Buffer:
    """Base of the definitions of buffers.

    Attributes:
        name: unlike that of any other buffer of the function.
        dims: its list dimensions, the outermost first.
        shape: of an element.
    """

    name: str
    dims: tuple[Dim, ...]
    shape: tuple[int, ...]

    @property
    def type(self) -> ListType:
        """Extents and shape."""
        return ListType(tuple(dim.extent for dim in self.dims), self.shape)


@dataclass(frozen=True)
class Given(Buffer):
    """A parameter of the function."""


@dataclass(frozen=True)
class Constants(Buffer):
    """A constant; one number stands for all elements."""

    value: npt.NDArray[Any] = field(compare=False)


@dataclass(frozen=True)
class Positions(Buffer):
    """The list 0, 1, ..."""


@dataclass(frozen=True)
class ListView(Buffer):
    """What an access operator gives: elements of another buffer, through an access map."""

    source: ElementRead


@dataclass(frozen=True)
class Merged(Buffer):
    """Two neighbouring dimensions of a buffer as one, in row-major order.

    Attributes:
        source: the buffer.
        axis: the outer one of the two.
        inner: the extent of the inner one.
    """

    source: str
    axis: int
    inner: int


@dataclass(frozen=True)
class Stretch:
    """Where the coordinate of `Pieces` is from start to below stop, they are this element."""

    start: int
    stop: int
    read: ElementRead


@dataclass(frozen=True)
class Pieces(Buffer):
    """A list in pieces along one dimension: what a scan's state was before (its beginning, or an earlier
    step), lists that are joined, a list with padding.

    Attributes:
        axis: the dimension.
        pieces: they cover it, in order.
        role: ``"state"``, ``"join"``, ``"pad"`` or ``"wrap"``.
    """

    axis: int
    pieces: tuple[Stretch, ...]
    role: str


@dataclass(frozen=True)
class Equation(Buffer):
    """What an operation gives in each iteration of the loops around it, which are its dimensions."""

    operation: ElementOperation
    arguments: tuple[ElementRead, ...]


def reads_of(buffer: Buffer) -> tuple[ElementRead, ...]:
    """The reads in the definition of a buffer, those in indices of others left aside."""
    match buffer:
        case ListView(source=source):
            return (source,)
        case Merged(source=name):
            return (ElementRead(name),)
        case Pieces(pieces=pieces):
            return tuple(piece.read for piece in pieces)
        case Equation(arguments=arguments):
            return arguments
    return ()


def with_reads(buffer: Buffer, change: Callable[[ElementRead], ElementRead]) -> Buffer:
    """The buffer with other reads; what `Merged` takes is no read of an element, and stays."""
    match buffer:
        case ListView(source=source):
            return replace(buffer, source=change(source))
        case Pieces(pieces=pieces):
            return replace(buffer, pieces=tuple(replace(p, read=change(p.read)) for p in pieces))
        case Equation(arguments=arguments):
            return replace(buffer, arguments=tuple(map(change, arguments)))
    return buffer


@dataclass(frozen=True)
class Loop(Dim):
    """A compute operator with its variable, which counts from 0 in the order of its steps.

    Attributes:
        operator: one of `OPERATORS`.
        line: of the user's file, where it is called.
    """

    operator: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class BlockNode:
    """Operators nested in each other with nothing in between, and what an iteration of them computes.

    Attributes:
        loops: the outermost first.
        body: names of buffers, and further blocks, in order.
    """

    loops: tuple[Loop, ...]
    body: "tuple[Item, ...]"

    @property
    def names(self) -> Iterator[str]:
        """All buffers in it, those of inner blocks included."""
        for item in self.body:
            if isinstance(item, BlockNode):
                yield from item.names
            else:
                yield item

    @property
    def signature(self) -> tuple[tuple[int, str], ...]:
        """Extent and operator of each loop."""
        return tuple((loop.extent, loop.operator) for loop in self.loops)


Item = BlockNode | str
"""What a body has: a block, or the name of a buffer."""
