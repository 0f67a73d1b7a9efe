"""Merging of blocks: fewer of them, and less deep (the FractalTensor paper, section 5.1, width-wise).

Perfect nests: operators with nothing in between them are one block.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from samhw.lang.nested.dataflow import (
    Affine,
    BlockNode,
    Buffer,
    ElementRead,
    Equation,
    Index,
    Item,
    ListView,
    Loop,
    Pieces,
    span,
    with_reads,
)
from samhw.lang.nested.distances import Distance, block_reads, distances, stacked_distances
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.iterations import affine_place

__all__ = [
    "composed",
    "fuse_access_maps",
    "merge_horizontally",
    "merge_vertically",
    "perfect_nests",
    "through",
]


def perfect_nests(function: NestedFunction) -> NestedFunction:
    """The function with each operator that computes nothing but one other operator merged into it: the block
    nodes of the extended task dependence graph (the FractalTensor paper, section 4.4).

    Access operators may stand between the two.
    """

    def computes(item: Item) -> bool:
        return isinstance(item, BlockNode) or isinstance(function.buffers[item], Equation)

    def nested(item: Item) -> Item:
        if not isinstance(item, BlockNode):
            return item
        body = tuple(map(nested, item.body))
        inner = [other for other in body if computes(other)]
        match inner:
            case [BlockNode() as only]:
                views = tuple(other for other in body if other is not only)
                return BlockNode(item.loops + only.loops, views + only.body)
        return replace(item, body=body)

    return replace(function, body=tuple(map(nested, function.body)))


_STRENGTH = {
    "map": 0,
    "reduce": 1,
    "scan": 2,
    "foldl": 3,
    "foldr": 3,
    "scanl": 4,
    "scanr": 4,
}
"""How much an operator asks of the order of its steps. Folds are last elements of scans."""


def composed(first: str, second: str) -> str | None:
    """The operator that does the steps of two, one for one; None where there is none.

    This is table 3 of the FractalTensor paper. Map gives way to anything, reduce to any scan, and an
    associative scan to one with a direction. Two directions do not go together. In the paper as printed the
    cell of scanl and scanr is exchanged with that of scanl and scan.
    """
    directions = {operator[-1] for operator in (first, second) if _STRENGTH[operator] > 2}
    return None if len(directions) > 1 else max(first, second, key=_STRENGTH.__getitem__)


Log = list[str] | None


def merge_horizontally(function: NestedFunction, log: Log = None) -> NestedFunction:
    """The function with blocks of the same operators and extents as one, where neither depends on the other.

    The paper asks for no edge between the two. No path is what it takes: with a block in between they would
    wait for each other.
    """
    return _merged(function, _beside, log)


def merge_vertically(
    function: NestedFunction, log: Log = None, *, sequential: bool = False
) -> NestedFunction:
    """The function with a block and one that reads what it gives as one, as far as their loops have the same
    extents and operators that compose, and no iteration would read what a later one computes. Loops that are
    left over are blocks inside.

    Args:
        function: with perfect nests.
        log: takes a line for each merge.
        sequential: whether two blocks both of which carry dependences may become one. An iteration then has
            both to do, one after the other, where as a stack (`wavefronts`) they overlap.
    """

    def behind(function: NestedFunction, first: BlockNode, second: BlockNode) -> Item | None:
        return _behind(function, first, second, sequential)

    return _merged(function, behind, log)


Merge = Callable[[NestedFunction, BlockNode, BlockNode], Item | None]


def _merged(function: NestedFunction, merge: Merge, log: Log) -> NestedFunction:
    """All merges of one sort, the outermost blocks first."""
    body = function.body
    while True:
        found = _one_merge(function, body, merge, log)
        if found is None:
            return function
        body = found
        function = replace(function, body=body)


def _one_merge(
    function: NestedFunction, items: tuple[Item, ...], merge: Merge, log: Log
) -> tuple[Item, ...] | None:
    """A body with two of its blocks merged, or two inside of one of its blocks; None if there are none."""
    blocks = [item for item in items if isinstance(item, BlockNode)]
    for n, first in enumerate(blocks):
        for second in blocks[n + 1 :]:
            if not _may_move(function, items, first, second):
                continue
            both = merge(function, first, second)
            if both is not None:
                if log is not None:
                    log.append(f"{_named(first)} and {_named(second)}")
                found = (both if item is first else item for item in items if item is not second)
                return _views_first(function, tuple(found))
    for n, item in enumerate(items):
        if isinstance(item, BlockNode):
            inner = _one_merge(function, item.body, merge, log)
            if inner is not None:
                return (*items[:n], replace(item, body=inner), *items[n + 1 :])
    return None


def _views_first(function: NestedFunction, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Views compute nothing, so that they may stand before what they show."""
    views = [i for i in items if isinstance(i, str) and not isinstance(function.buffers[i], Equation)]
    return (*views, *(item for item in items if item not in views))


def _may_move(function: NestedFunction, items: tuple[Item, ...], first: BlockNode, second: BlockNode) -> bool:
    """Whether the second of two blocks may be computed where the first is: it needs nothing of what is
    computed in between."""
    between = items[items.index(first) + 1 : items.index(second)]
    computed = {name for item in between for name in (item.names if isinstance(item, BlockNode) else (item,))}
    return computed.isdisjoint(_needs(function, second))


def _needs(function: NestedFunction, block: BlockNode) -> set[str]:
    return {source.read.buffer for source in block_reads(function, block)}


def _beside(function: NestedFunction, first: BlockNode, second: BlockNode) -> BlockNode | None:
    """Two blocks as one, if neither needs the other."""
    if first.loops != second.loops or set(first.names) & _needs(function, second):
        return None
    return replace(first, body=first.body + second.body)


def _behind(
    function: NestedFunction, first: BlockNode, second: BlockNode, sequential: bool
) -> BlockNode | None:
    """A block and one that needs it as one, with as many loops in common as can be."""
    if not set(first.names) & _needs(function, second):
        return None
    if not sequential and distances(function, first) and distances(function, second):
        return None
    loops: list[Loop] = []
    for one, other in zip(first.loops, second.loops, strict=False):
        operator = composed(one.operator, other.operator)
        if operator is None or (one.name, one.extent) != (other.name, other.extent):
            break
        loops.append(replace(one, operator=operator))
    for count in range(len(loops), 0, -1):
        cut = [replace(block, loops=block.loops[:count]) for block in (first, second)]
        if all(_is_kept(distance[1:]) for distance in stacked_distances(function, cut) if distance[0]):
            return BlockNode(tuple(loops[:count]), (*_rest(first, count), *_rest(second, count)))
    return None


def _is_kept(distance: Distance) -> bool:
    """Whether what is read is of the same iteration, or of an earlier one."""
    for entry in distance:
        if entry is None or entry < 0:
            return False
        if entry > 0:
            return True
    return True


def _rest(block: BlockNode, count: int) -> Sequence[Item]:
    """What an iteration of the first loops of a block has."""
    return block.body if count == len(block.loops) else (replace(block, loops=block.loops[count:]),)


def _named(block: BlockNode) -> str:
    loops = ", ".join(f"{loop.operator} {loop.name} < {loop.extent}" for loop in block.loops)
    return f"[{loops}] ({', '.join(block.names)})"


# Fusion of access maps: what is read through views is read where it lies.
#
# An access operator gives a buffer whose elements are those of another one, at places that an affine map
# gives. The maps of buffers that follow each other are one map, so nothing has to be copied (the
# FractalTensor paper, section 5.1).


def fuse_access_maps(function: NestedFunction) -> NestedFunction:
    """The same function without views, but for those that are results.

    A list in pieces stays where a read may come to several of them.
    """
    changed = {}
    for name, buffer in function.buffers.items():
        extents = {dim.name: dim.extent for dim in buffer.dims}
        changed[name] = with_reads(buffer, lambda read, e=extents: through(function.buffers, read, e))  # type: ignore[misc]
    return replace(function, buffers=changed).without_unused()


def through(buffers: Mapping[str, Buffer], read: ElementRead, extents: Mapping[str, int]) -> ElementRead:
    """A read of what lies beneath views.

    Args:
        buffers: all of them.
        read: of any.
        extents: of the variables in its indices.
    """
    while True:
        inner = replace(read, indices=tuple(_known(buffers, index, extents) for index in read.indices))
        buffer = buffers[inner.buffer]
        found = _after(buffer, inner, extents)
        if found is None:
            return inner
        read = found


def _known(buffers: Mapping[str, Buffer], index: Index, extents: Mapping[str, int]) -> Index:
    """An index of what lies beneath views; an affine one, if that is known."""
    if not isinstance(index, ElementRead):
        return index
    found = through(buffers, index, extents)
    return affine_place(buffers, found) or found


def _after(buffer: Buffer, read: ElementRead, extents: Mapping[str, int]) -> ElementRead | None:
    """What a view reads for a read of it; None for what is none."""
    match buffer:
        case ListView(source=source):
            found = source
        case Pieces(axis=axis, pieces=pieces):
            coordinate = read.indices[axis]
            if not isinstance(coordinate, Affine):
                return None
            least, greatest = span(coordinate, extents)
            whole = [p for p in pieces if p.start <= least and greatest < p.stop]
            if not whole or whole[0].read.buffer == buffer.name:
                return None
            found = whole[0].read
        case _:
            return None
    values = {dim.name: index for dim, index in zip(buffer.dims, read.indices, strict=True)}
    try:
        return found.substituted(values)
    except ValueError:  # A place that a list gives, in the middle of a sum.
        return None
