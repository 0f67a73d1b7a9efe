"""Copies of what loops compute: the cells of a diagonal side by side.

A wavefront says which cells may run at once. Here each of them becomes a block of its own: all loops that
carry dependences but one are unrolled, so that a copy of the cell goes along the loop that is left. What a
copy reads of another one is read by its name, at a fixed distance, and so needs no choice at run time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from samhw.lang.nested.associative_folds import reduction_of
from samhw.lang.nested.dataflow import (
    Affine,
    BlockNode,
    Buffer,
    ElementRead,
    Item,
    ListView,
    Loop,
    Pieces,
    Stretch,
    constant,
    reads_of,
    variable,
    with_reads,
)
from samhw.lang.nested.distances import Distance
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.hyperplane import Wavefront, hyperplane
from samhw.lang.nested.merging import fuse_access_maps, perfect_nests
from samhw.names import Names

__all__ = ["items_apart", "side_by_side", "unrolled"]


def side_by_side(function: NestedFunction) -> NestedFunction:
    """The function with a block for each cell of the widest diagonal of its wavefronts.

    Of the loops that carry dependences the longest one that can follow from the others stays; the blocks are
    in an order in which each reads earlier ones. A wavefront of one such loop is left as it is.
    """
    function = perfect_nests(fuse_access_maps(function))
    found = []
    for block in _blocks(function, function.body):
        wavefront = hyperplane(function, block)
        if wavefront is not None:
            found.append((block, _copied(wavefront)))
    return unrolled(function, found)


def _blocks(function: NestedFunction, items: Sequence[Item]) -> Iterator[BlockNode]:
    """The outermost blocks that carry dependences."""
    for item in items:
        if isinstance(item, BlockNode) and reduction_of(function, item) is None:
            wavefront = hyperplane(function, item)
            if wavefront is not None and not wavefront.distances:
                yield from _blocks(function, item.body)
            else:
                yield item


def _copied(wavefront: Wavefront) -> tuple[Loop, ...]:
    """The loops of a wavefront whose iterations become copies."""
    carrying = [n for n, a in enumerate(wavefront.coefficients) if a]
    along = max(
        (n for n in carrying if wavefront.coefficients[n] == 1), key=lambda n: wavefront.loops[n].extent
    )
    others = [n for n in carrying if n != along]
    in_order = all(_is_forward([distance[n] for n in others]) for distance in wavefront.distances)
    return tuple(wavefront.loops[n] for n in others) if in_order else ()


def _is_forward(distance: Distance | list[int | None]) -> bool:
    """Whether a copy reads one that stands before it, or itself."""
    first = next((entry for entry in distance if entry != 0), 0)
    return first is not None and first >= 0


def items_apart(function: NestedFunction) -> NestedFunction:
    """The function without those maps inside of scans whose items are only read by number, such as that over
    the gates of an LSTM: there is an equation for each item."""
    maps = {
        name: block
        for scan in _blocks(function, function.body)
        for block in scan.body
        if isinstance(block, BlockNode) and all(loop.operator == "map" for loop in block.loops)
        for name in block.names
    }
    by_number = set(maps.values())
    for buffer in function.buffers.values():
        for read in reads_of(buffer):
            block = maps.get(read.buffer)
            if block is not None and maps.get(buffer.name) is not block:
                own = {loop.name for loop in block.loops}
                pairs = zip(function.buffers[read.buffer].dims, read.indices, strict=True)
                if any(dim.name in own and index.variables for dim, index in pairs):
                    by_number.discard(block)
    return unrolled(function, [(b, b.loops) for b in dict.fromkeys(maps.values()) if b in by_number])


def unrolled(function: NestedFunction, chosen: Sequence[tuple[BlockNode, Sequence[Loop]]]) -> NestedFunction:
    """The function with copies of some blocks, one for each iteration of some of their loops, in their order.

    Args:
        function: with fused access maps.
        chosen: blocks of it, at any depth but none in another, each with loops. That copies may follow each
            other is the caller's to know.
    """
    for block, loops in chosen:
        if loops:
            function = _Copies(function, block, tuple(loops)).unrolled()
    return fuse_access_maps(function)


class _Copies:
    """The copies of a block while they are made."""

    def __init__(self, function: NestedFunction, block: BlockNode, loops: tuple[Loop, ...]) -> None:
        self.function, self.block, self.loops = function, block, loops
        self.names = Names(function.buffers)
        self.of: dict[tuple[str, tuple[int, ...]], str] = {}
        """The copy of a buffer in an iteration of the loops."""
        self.made: dict[tuple[str, tuple[int, ...]], str] = {}
        """The same by the numbers of those loops alone that the buffer is in."""
        self.buffers: dict[str, Buffer] = dict(function.buffers)

    def unrolled(self) -> NestedFunction:
        """The function with the copies, and their lists in pieces where others read what the block gave."""
        made: list[Item] = []
        for at in product(*(range(loop.extent) for loop in self.loops)):
            values = {loop.name: constant(t) for loop, t in zip(self.loops, at, strict=True)}
            for name in self.block.names:
                self.copied(self.function.buffers[name], at, values)
            made += self.items(at)
        for name in self.block.names:
            buffer = self.function.buffers[name]
            if own := self.loops_of(buffer):
                made += self.joined(name, buffer, own, ())
        return replace(
            self.function, buffers=self.buffers, body=tuple(_replaced(self.function.body, self.block, made))
        )

    def loops_of(self, buffer: Buffer) -> list[Loop]:
        """Those of the loops that a buffer is in; a view of the block may be in none."""
        dims = {dim.name for dim in buffer.dims}
        return [loop for loop in self.loops if loop.name in dims]

    def copied(self, buffer: Buffer, at: tuple[int, ...], values: Mapping[str, Affine]) -> None:
        """Adds a buffer's copy in one iteration of the loops, if it has none yet."""
        kept = tuple(values[loop.name].offset for loop in self.loops_of(buffer))
        if (buffer.name, kept) not in self.made:
            name = self.names.fresh("_".join((buffer.name, *map(str, kept)))) if kept else buffer.name
            self.made[buffer.name, kept] = name
            if kept:
                self.buffers[name] = self.copy(buffer, name, values)
        self.of[buffer.name, at] = self.made[buffer.name, kept]

    def copy(self, buffer: Buffer, name: str, values: Mapping[str, Affine]) -> Buffer:
        """A buffer in one iteration of the loops."""
        dims = tuple(dim for dim in buffer.dims if dim.name not in values)
        found = with_reads(buffer, lambda read: read.substituted(values))
        if isinstance(found, Pieces):
            dim = buffer.dims[found.axis]
            if dim.name not in values:
                return replace(found, name=name, dims=dims, axis=dims.index(dim))
            number = values[dim.name].offset
            (piece,) = [p for p in found.pieces if p.start <= number < p.stop]
            return ListView(name, dims, buffer.shape, piece.read)
        return replace(found, name=name, dims=dims)

    def items(self, at: tuple[int, ...]) -> list[Item]:
        """What computes one copy: a block, or where no loop is left its body."""
        body = tuple(self.renamed(item, at) for item in self.block.body)
        left = tuple(loop for loop in self.block.loops if loop not in self.loops)
        return [BlockNode(left, body)] if left else list(body)

    def renamed(self, item: Item, at: tuple[int, ...]) -> Item:
        if isinstance(item, BlockNode):
            return replace(item, body=tuple(self.renamed(other, at) for other in item.body))
        return self.of[item, at]

    def joined(self, name: str, buffer: Buffer, loops: Sequence[Loop], at: tuple[int, ...]) -> Iterator[str]:
        """A buffer of all iterations as a list in pieces, along some loops, within numbers of those before
        them."""
        first, *rest = loops
        gone = {loop.name for loop in self.loops} - {loop.name for loop in loops}
        dims = tuple(dim for dim in buffer.dims if dim.name not in gone)
        inner = tuple(variable(dim.name) for dim in dims if dim.name != first.name)
        pieces = []
        for number in range(first.extent):
            if rest:
                source = self.names.fresh(f"{name}_{number}")
                yield from self.joined(source, buffer, rest, (*at, number))
            else:
                source = self.made[buffer.name, (*at, number)]
            pieces.append(Stretch(number, number + 1, ElementRead(source, inner)))
        axis = [dim.name for dim in dims].index(first.name)
        self.buffers[name] = Pieces(name, dims, buffer.shape, axis, tuple(pieces), "join")
        yield name


def _replaced(items: Sequence[Item], block: BlockNode, others: Sequence[Item]) -> Iterator[Item]:
    """Items with others in the place of a block, at any depth."""
    for item in items:
        if item == block:
            yield from others
        elif isinstance(item, BlockNode):
            yield replace(item, body=tuple(_replaced(item.body, block, others)))
        else:
            yield item
