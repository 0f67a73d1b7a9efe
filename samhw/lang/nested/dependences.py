"""All of the analysis in one call: what depends on what, and what was fused, merged and reordered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from samhw.lang.nested.dataflow import (
    Affine,
    BlockNode,
    Buffer,
    Dim,
    ElementRead,
    Index,
    Item,
    ListView,
    Loop,
    Merged,
    Pieces,
    reads_of,
    variable,
    with_reads,
)
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.hyperplane import Wavefront, wavefronts
from samhw.lang.nested.merging import fuse_access_maps, merge_horizontally, merge_vertically, perfect_nests
from samhw.lang.nested.tracing import TaskGraph, task_graph, trace

__all__ = [
    "Dependences",
    "coarsened",
    "dependences",
    "merge_loops",
]


# Two operators as one, over all pairs of their iterations (the FractalTensor paper, section 5.1, depth-wise).
#
# The dimensions that the two go along must be neighbours wherever they are read, or missing; then they are
# one dimension as well.


def merge_loops(function: NestedFunction, log: list[str] | None = None) -> NestedFunction:
    """The function with fewer loops: two neighbouring maps of a block become one wherever that changes no
    access but for its dimensions.

    Args:
        function: with fused access maps.
        log: takes a line for each pair.
    """
    changed = True
    while changed:
        changed = False
        for block in function.blocks:
            pair = next((n for n in range(len(block.loops) - 1) if _fits(function, block, n)), None)
            if pair is not None:
                if log is not None:
                    outer, inner = block.loops[pair : pair + 2]
                    log.append(f"map {outer.name} < {outer.extent} and map {inner.name} < {inner.extent}")
                function = _Merge(function, block, pair).merged()
                changed = True
                break
    return function


def _fits(function: NestedFunction, block: BlockNode, at: int) -> bool:
    """Whether a loop of a block and the next one are maps, over what is contiguous wherever it is read."""
    outer, inner = block.loops[at : at + 2]
    if (outer.operator, inner.operator) != ("map", "map"):
        return False
    inside = set(block.names)
    return all(_is_contiguous(function, name, outer, inner) for name in inside) and not any(
        read.buffer in inside and any(isinstance(index, ElementRead) for index in read.indices)
        for buffer in function.buffers.values()
        for read in reads_of(buffer)
    )


def _is_contiguous(function: NestedFunction, name: str, outer: Loop, inner: Loop) -> bool:
    buffer = function.buffers[name]
    pair = {outer.name, inner.name}
    # What has one of the two loops without the other would have to be taken apart again.
    if isinstance(buffer, ListView) or len(pair & {dim.name for dim in buffer.dims}) == 1:
        return False
    for read in reads_of(buffer):
        used = pair & read.variables
        if used and _place(function, read, outer, inner) is None:
            return False
    return True


def _place(function: NestedFunction, read: ElementRead, outer: Loop, inner: Loop) -> int | None:
    """Where two neighbouring indices of a read are the two loops, and nothing else has them."""
    dims = function.buffers[read.buffer].dims
    indices = read.indices
    for n in range(len(indices) - 1):
        if indices[n] == variable(outer.name) and indices[n + 1] == variable(inner.name):
            others = ElementRead(read.buffer, indices[:n] + indices[n + 2 :])
            whole = (dims[n].extent, dims[n + 1].extent) == (outer.extent, inner.extent)
            return n if whole and not {outer.name, inner.name} & others.variables else None
    return None


class _Merge:
    """Two loops of a block, while they become one, which has the name of the outer one."""

    def __init__(self, function: NestedFunction, block: BlockNode, at: int) -> None:
        self.function, self.block = function, block
        self.outer, self.inner = block.loops[at : at + 2]
        self.loop = replace(self.outer, extent=self.outer.extent * self.inner.extent)
        self.inside = set(block.names)
        self.buffers: dict[str, Buffer] = {}

    def merged(self) -> NestedFunction:
        """The function with one loop instead of the two."""
        for name, buffer in self.function.buffers.items():
            change = self.read_inside if name in self.inside else self.read_outside
            self.buffers[name] = with_reads(self.narrowed(buffer), change)
        loops = tuple(
            self.loop if loop == self.outer else loop for loop in self.block.loops if loop != self.inner
        )
        new = replace(self.block, loops=loops)
        body: tuple[Item, ...] = tuple(new if item is self.block else item for item in self.function.body)
        return replace(self.function, buffers=self.buffers, body=body)

    def position(self, buffer: Buffer) -> int | None:
        """Where a buffer of the block has the two loops as dimensions."""
        names = [dim.name for dim in buffer.dims]
        if buffer.name not in self.inside or self.outer.name not in names:
            return None
        return names.index(self.outer.name)

    def narrowed(self, buffer: Buffer) -> Buffer:
        """A buffer with one dimension instead of the two."""
        at = self.position(buffer)
        if at is None:
            return buffer
        whole = Dim(self.loop.name, self.loop.extent)
        found = replace(buffer, dims=(*buffer.dims[:at], whole, *buffer.dims[at + 2 :]))
        return replace(found, axis=found.axis - 1) if isinstance(found, Pieces) and found.axis > at else found

    def read_inside(self, read: ElementRead) -> ElementRead:
        """A read in the block, in which the two are one index."""
        at = _place(self.function, read, self.outer, self.inner)
        if at is None:
            return self.read_outside(read)
        buffer = self.function.buffers[read.buffer]
        name = read.buffer
        if self.position(buffer) is None:
            name = f"{buffer.name}.{at}"
            self.buffers[name] = self.view(buffer, name, at)
        indices = (*read.indices[:at], variable(self.loop.name), *read.indices[at + 2 :])
        return ElementRead(name, indices)

    def view(self, buffer: Buffer, name: str, at: int) -> Merged:
        """A buffer from elsewhere with two of its dimensions as one."""
        whole = Dim(buffer.dims[at].name, self.loop.extent)
        dims = (*buffer.dims[:at], whole, *buffer.dims[at + 2 :])
        return Merged(name, dims, buffer.shape, buffer.name, at, self.inner.extent)

    def read_outside(self, read: ElementRead) -> ElementRead:
        """A read anywhere, of a buffer that may have one dimension less now."""
        indices = tuple(self.read_outside(i) if isinstance(i, ElementRead) else i for i in read.indices)
        at = self.position(self.function.buffers[read.buffer])
        if at is None:
            return replace(read, indices=indices)
        return replace(read, indices=(*indices[:at], self.one(indices, at), *indices[at + 2 :]))

    def one(self, indices: Sequence[Index], at: int) -> Affine:
        """The index of a pair of coordinates."""
        outer, inner = indices[at : at + 2]
        assert isinstance(outer, Affine)
        assert isinstance(inner, Affine)
        return outer * self.inner.extent + inner


@dataclass(frozen=True)
class Dependences:
    """What `dependences` has found. ``str()`` of it is a page of text.

    Attributes:
        traced: the function as it was traced.
        function: with its access maps fused and its blocks merged.
        wavefronts: the rounds of the blocks that carry dependences.
        fused: the views, and lists in pieces, whose maps were fused into those that read them.
        merged: pairs of blocks that are one block now.
        flattened: pairs of loops that are one loop now.
    """

    traced: NestedFunction
    function: NestedFunction
    wavefronts: tuple[Wavefront, ...]
    fused: tuple[str, ...]
    merged: tuple[str, ...]
    flattened: tuple[str, ...]

    @property
    def graph(self) -> TaskGraph:
        """The extended task dependence graph."""
        return task_graph(self.function)

    def __str__(self) -> str:
        parts = [
            str(self.function),
            str(self.graph),
            _listed("access maps fused", self.fused),
            _listed("blocks merged", self.merged),
            _listed("loops merged", self.flattened),
            _listed("reordered", [str(wavefront) for wavefront in self.wavefronts]),
        ]
        return "\n".join(parts)


def _listed(title: str, lines: "tuple[str, ...] | list[str]") -> str:
    return "\n".join([f"{title}:", *(f"  {line}" for line in lines or ("nothing",))])


def coarsened(function: NestedFunction) -> Dependences:
    """A function with fused access maps, perfect nests and merged blocks, and what was done."""
    fused = fuse_access_maps(function)
    gone = function.buffers.keys() - fused.buffers.keys()
    views = tuple(name for name in function.buffers if name in gone and _moves(function, name))
    merged: list[str] = []
    flattened: list[str] = []
    found = perfect_nests(fused)
    found = merge_vertically(merge_horizontally(found, merged), merged)
    found = merge_loops(perfect_nests(found), flattened)
    return Dependences(function, found, wavefronts(found), views, tuple(merged), tuple(flattened))


def _moves(function: NestedFunction, name: str) -> bool:
    return isinstance(function.buffers[name], ListView | Pieces)


def dependences(function: Callable[..., Any], *arguments: Any, **named: Any) -> Dependences:
    """The dependences of a Python function of nested lists, and what can be made of them: `trace`, then
    `coarsened`. Raises as `trace` does."""
    return coarsened(trace(function, *arguments, **named))
