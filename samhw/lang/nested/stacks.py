"""Stacks: blocks that follow each other, in one order of rounds, each some rounds after the first.

The layers of a dilated RNN are one, and the copies of a cell that `side_by_side` makes. Of the loops of each
block a wavefront makes one sequential index, the same for all; a block begins as soon as what it reads of
those before it is there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from samhw.lang.nested.associative_folds import reduction_of
from samhw.lang.nested.dataflow import Affine, BlockNode, Equation, Item, variable
from samhw.lang.nested.distances import block_reads
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.hyperplane import Wavefront, hyperplane

__all__ = ["Stack", "stacks"]


@dataclass(frozen=True)
class Stack:
    """Blocks with loops of the same extents, and when each begins. ``str()`` of it says so.

    Attributes:
        wavefronts: of each block, with the same coefficients.
        offsets: the round in which each block has its first cell.
    """

    wavefronts: tuple[Wavefront, ...]
    offsets: tuple[int, ...]

    @property
    def blocks(self) -> tuple[BlockNode, ...]:
        """The blocks, in order."""
        return tuple(wavefront.blocks[0] for wavefront in self.wavefronts)

    @cached_property
    def rounds(self) -> int:
        """How many rounds follow each other."""
        return max(self.offsets) + self.wavefronts[0].rounds

    @property
    def width(self) -> int:
        """The most cells of a round."""
        found = [0] * self.rounds
        for offset in self.offsets:
            for m, cells in enumerate(self.wavefronts[0].cells_of_rounds):
                found[offset + m] += cells
        return max(found)

    def steps(self) -> Iterator[tuple[BlockNode, tuple[int, ...]]]:
        """All iterations, round by round, as `evaluate` takes them."""
        for m in range(self.rounds):
            for wavefront, offset in zip(self.wavefronts, self.offsets, strict=True):
                if 0 <= m - offset < wavefront.rounds:
                    yield from ((wavefront.blocks[0], cell) for cell in wavefront.cells(m - offset))

    def __str__(self) -> str:
        first = self.wavefronts[0]
        if len(self.wavefronts) == 1:
            return str(first)
        cells = first.count * len(self.wavefronts)
        head = f"{len(self.wavefronts)} blocks side by side, each: {first}"
        begins = ", ".join(map(str, self.offsets))
        return (
            f"{head}\n  they begin in rounds {begins}; {cells} cells in {self.rounds} rounds, "
            f"at most {self.width} at once"
        )


def stacks(function: NestedFunction, items: Sequence[Item]) -> tuple[Item | Stack, ...]:
    """Items of a body with those blocks that carry dependences as stacks. Blocks that follow each other are
    one where that takes fewer rounds than one after the other."""
    found: list[Item | Stack] = []
    for item in items:
        wavefront = _carrying(function, item) if isinstance(item, BlockNode) else None
        if wavefront is None:
            found.append(item)
            continue
        n, last = next(
            ((n, s) for n, s in reversed(list(enumerate(found))) if not _is_idle(function, s)), (0, None)
        )
        taller = _on_top(function, last, wavefront) if isinstance(last, Stack) else None
        if taller is None:
            found.append(Stack((wavefront,), (0,)))
        else:
            found[n] = taller
    return tuple(found)


def _carrying(function: NestedFunction, block: BlockNode) -> Wavefront | None:
    """The wavefront of a block that carries dependences, with a round for each iteration of a loop."""
    if reduction_of(function, block) is not None:
        return None
    found = hyperplane(function, block)
    if found is None or not found.distances:
        return None
    return replace(found, strides=(1,) * len(found.strides))


def _is_idle(function: NestedFunction, item: Item | Stack) -> bool:
    """Whether nothing is computed in an item."""
    return isinstance(item, str) and not isinstance(function.buffers[item], Equation)


def _on_top(function: NestedFunction, stack: Stack, wavefront: Wavefront) -> Stack | None:
    """A stack with one more block; None where the block has to come after it."""
    below = stack.wavefronts[0]
    extents = [[loop.extent for loop in each.loops] for each in (below, wavefront)]
    same = extents[0] == extents[1] and below.coefficients == wavefront.coefficients
    if not same or below.follows != wavefront.follows:
        return None
    offset = 0
    homes = {name: n for n, block in enumerate(stack.blocks) for name in block.names}
    around = function.scope[next(wavefront.blocks[0].names)]
    outer = around.index(wavefront.loops[0])
    for source in block_reads(function, wavefront.blocks[0]):
        home = homes.get(source.read.buffer)
        if home is not None:
            indices = source.read.indices[outer : outer + len(wavefront.loops)]
            ahead = _rounds_behind(wavefront, indices)
            if ahead is None:
                return None
            offset = max(offset, stack.offsets[home] + 1 - ahead)
    found = Stack((*stack.wavefronts, wavefront), (*stack.offsets, offset))
    return found if found.rounds < stack.rounds + wavefront.rounds else None


def _rounds_behind(wavefront: Wavefront, indices: Sequence[object]) -> int | None:
    """How many rounds after what it reads at these indices an iteration is, if the blocks begin at once;
    None if that varies."""
    behind = 0
    for loop, a, index in zip(wavefront.loops, wavefront.coefficients, indices, strict=True):
        if a:
            offset = index - variable(loop.name) if isinstance(index, Affine) else None
            if offset is None or offset.terms:
                return None
            behind -= a * offset.offset
    return behind
