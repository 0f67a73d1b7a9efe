"""Dependences between the iterations of blocks, read off the indices of their accesses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from samhw.lang.nested.dataflow import (
    Affine,
    BlockNode,
    ElementRead,
    Equation,
    ListView,
    Loop,
    Pieces,
    reads_of,
    span,
    variable,
)
from samhw.lang.nested.function import NestedFunction

__all__ = [
    "Distance",
    "SourceRead",
    "block_reads",
    "distances",
    "regions",
    "sources_of",
    "stacked_distances",
    "strides",
]

Distance = tuple[int | None, ...]
"""How many iterations of each loop lie between what is computed and what reads it; None where that varies."""


@dataclass(frozen=True)
class SourceRead:
    """Where an element comes from that is read in an iteration.

    Attributes:
        read: of a buffer that is not a view.
        guards: where it comes from there: indices with the least and the first greater value that they have.
        reader: the buffer that reads it.
    """

    read: ElementRead
    guards: tuple[tuple[Affine, int, int], ...]
    reader: str


def block_reads(function: NestedFunction, block: BlockNode) -> tuple[SourceRead, ...]:
    """All that the operations of a block read, each with its conditions, those of inner blocks included."""
    return tuple(source for name in block.names for source in sources_of(function, name))


def sources_of(function: NestedFunction, name: str) -> tuple[SourceRead, ...]:
    """What an operation reads, each with its conditions; nothing for other buffers."""
    buffer = function.buffers[name]
    if not isinstance(buffer, Equation):
        return ()
    extents = {dim.name: dim.extent for dim in buffer.dims}
    found = (part for read in reads_of(buffer) for part in _sources(function, read, extents, ()))
    return tuple(dict.fromkeys(SourceRead(read, guards, name) for read, guards in found))


Guards = tuple[tuple[Affine, int, int], ...]


def _sources(
    function: NestedFunction, read: ElementRead, extents: Mapping[str, int], guards: Guards
) -> Iterator[tuple[ElementRead, Guards]]:
    """What lies beneath a read, piece by piece."""
    for index in read.indices:
        if isinstance(index, ElementRead):
            yield from _sources(function, index, extents, guards)
    buffer = function.buffers[read.buffer]
    values = {dim.name: index for dim, index in zip(buffer.dims, read.indices, strict=True)}
    if isinstance(buffer, ListView):
        yield from _sources(function, buffer.source.substituted(values, roughly=True), extents, guards)
    elif isinstance(buffer, Pieces):
        coordinate = read.indices[buffer.axis]
        if not isinstance(coordinate, Affine):  # It may be of any piece.
            for piece in buffer.pieces:
                yield from _sources(function, piece.read.substituted(values, roughly=True), extents, guards)
            return
        least, greatest = span(coordinate, extents)
        for piece in buffer.pieces:
            if piece.start <= greatest and least < piece.stop:
                inside = piece.start <= least and greatest < piece.stop
                more = () if inside else ((coordinate, piece.start, piece.stop),)
                source = piece.read.substituted(values, roughly=True)
                yield from _sources(function, source, extents, (*guards, *more))
    else:
        yield read, guards


def _distance(loops: Sequence[Loop], indices: Sequence[Affine | ElementRead]) -> Distance:
    """From what is computed at indices to the iteration of loops that reads it."""
    found: list[int | None] = []
    for loop, index in zip(loops, indices, strict=True):
        offset = index - variable(loop.name) if isinstance(index, Affine) else None
        found.append(None if offset is None or offset.terms else -offset.offset)
    return tuple(found)


def _carried_outside(outer: Distance) -> bool:
    """Whether the loops around a block see to a dependence: what is read is of an earlier iteration."""
    first = next((entry for entry in outer if entry != 0), 0)
    return first is not None and first > 0


def distances(function: NestedFunction, block: BlockNode) -> tuple[Distance, ...]:
    """The distances between iterations of a block, those of zero in all of its loops left out.

    A scan along a loop has distance 1 there, a dilated one its dilation (the FractalTensor paper, table 4).
    """
    return tuple(distance[1:] for distance in stacked_distances(function, (block,)))


def stacked_distances(function: NestedFunction, blocks: Sequence[BlockNode]) -> tuple[Distance, ...]:
    """The same of blocks with loops of the same extents that follow each other, where the number of the block
    is one more loop, the outermost."""
    around = function.scope[next(blocks[0].names)]
    around = around[: around.index(blocks[0].loops[0])]
    found: dict[Distance, None] = {}
    homes = {name: n for n, block in enumerate(blocks) for name in block.names}
    for n, block in enumerate(blocks):
        for source in block_reads(function, block):
            home = homes.get(source.read.buffer)
            if home is not None:
                distance = _distance(
                    (*around, *block.loops), source.read.indices[: len(around) + len(block.loops)]
                )
                if not _carried_outside(distance[: len(around)]):
                    found[(n - home, *distance[len(around) :])] = None
    return tuple(d for d in found if any(entry != 0 for entry in d))


def strides(found: Sequence[Distance], count: int) -> tuple[int, ...]:
    """For each of this many loops the greatest number that all distances along it are multiples of; 1 where
    there are none, or one varies. Iterations that differ by less are independent."""
    columns = [[distance[n] for distance in found] for n in range(count)]
    return tuple(1 if None in column else gcd(*column) or 1 for column in columns)  # type: ignore[arg-type]


def regions(function: NestedFunction, block: BlockNode) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The boxes of iterations in each of which every read is of one piece: the block nodes `region0`, ... of
    the FractalTensor paper. Each is the first iteration and the one after the last, for each loop."""
    cuts = {loop.name: {0, loop.extent} for loop in block.loops}
    for source in block_reads(function, block):
        for index, start, stop in source.guards:
            if len(index.terms) == 1 and index.terms[0][1] == 1 and index.terms[0][0] in cuts:
                cut = cuts[index.terms[0][0]]
                cut |= {start - index.offset, stop - index.offset}
    boxes: list[tuple[tuple[int, int], ...]] = [()]
    for loop in block.loops:
        places = sorted(p for p in cuts[loop.name] if 0 <= p <= loop.extent)
        boxes = [(*box, part) for box in boxes for part in pairwise(places)]
    return tuple(boxes)
