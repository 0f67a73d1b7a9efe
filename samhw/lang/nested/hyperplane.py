"""Wavefronts, by the hyperplane method (Lamport 1974; Wolf and Lam 1991; the FractalTensor paper, section
5.2).

A whole number for each loop, such that their sum over the loops' variables grows by at least 1 along every
dependence: all iterations with the same sum, a *round*, may run at once. That sum is the one sequential
index, the first row of a unimodular transformation; the other rows are loops as they were. After the
sequential index come the loops that carry no reuse of data, then those that do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from samhw.lang.nested.dataflow import BlockNode, Loop
from samhw.lang.nested.distances import Distance, block_reads, distances, stacked_distances, strides
from samhw.lang.nested.function import NestedFunction

__all__ = ["Wavefront", "from_distances", "hyperplane", "wavefronts"]

MOST = 16
"""The greatest number for a loop that is tried."""


@dataclass(frozen=True)
class Wavefront:
    """The rounds of a block, or of a stack of blocks. ``str()`` of it says what is done.

    Attributes:
        blocks: one, or those of a stack, whose number is then the first loop.
        loops: their variables and extents.
        distances: the dependences.
        strides: iterations of a loop that differ by less are independent, so that a loop counts in these.
        coefficients: a number for each loop; 0 for one that carries no dependence.
        rows: the positions of the loops below the sequential index, the outermost first. One loop, whose
            coefficient is 1, follows from the others and is missing.
    """

    blocks: tuple[BlockNode, ...]
    loops: tuple[Loop, ...]
    distances: tuple[Distance, ...]
    strides: tuple[int, ...]
    coefficients: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def transformation(self) -> tuple[tuple[int, ...], ...]:
        """The unimodular matrix: the sequential index, then the others. If no dependence is carried there is
        no sequential index, and it is a permutation."""
        count = len(self.loops)
        below = [tuple(int(n == row) for n in range(count)) for row in self.rows]
        return (self.coefficients, *below) if any(self.coefficients) else tuple(below)

    @property
    def follows(self) -> int | None:
        """The position of the loop that follows from the sequential index and the other rows."""
        return next((n for n in range(len(self.loops)) if n not in self.rows), None)

    def time(self, iteration: Sequence[int]) -> int:
        """The round of an iteration."""
        parts = zip(self.coefficients, iteration, self.strides, strict=True)
        return sum(a * (t // g) for a, t, g in parts)

    @cached_property
    def cells_of_rounds(self) -> tuple[int, ...]:
        """How many cells each round has. A cell is an iteration of the loops that carry dependences; those
        that carry none, such as a batch, are counted by `parallel`."""
        found = np.ones(1, int)
        for loop, a, g in zip(self.loops, self.coefficients, self.strides, strict=True):
            if a:
                times = a * (np.arange(loop.extent) // g)
                found = np.convolve(found, np.bincount(times))
        return tuple(map(int, found))

    @property
    def rounds(self) -> int:
        """How many rounds follow each other."""
        return len(self.cells_of_rounds)

    @property
    def width(self) -> int:
        """The most cells of a round."""
        return max(self.cells_of_rounds)

    @property
    def count(self) -> int:
        """The cells of all rounds."""
        return sum(self.cells_of_rounds)

    @property
    def parallel(self) -> int:
        """The iterations of the loops that carry no dependence."""
        return int(
            np.prod([loop.extent for loop, a in zip(self.loops, self.coefficients, strict=True) if not a])
        )

    def cells(self, round: int, within: Sequence[tuple[int, int]] | None = None) -> Iterator[tuple[int, ...]]:
        """The iterations of a round, in the order of the rows.

        Args:
            round: counted from 0.
            within: of these alone: for each loop the first and the one after the last. All, by default.
        """
        box = [(0, loop.extent) for loop in self.loops] if within is None else list(within)
        yield from self._cells(round, box, 0, {})

    def _cells(
        self, left: int, box: Sequence[tuple[int, int]], row: int, fixed: dict[int, int]
    ) -> Iterator[tuple[int, ...]]:
        if row == len(self.rows):
            last = self.follows
            values: Sequence[int] = (0,)
            if last is not None:
                g = self.strides[last]
                values = range(max(left * g, box[last][0]), min((left + 1) * g, box[last][1]))
            elif left:
                values = ()
            for value in values:
                whole = fixed if last is None else {**fixed, last: value}
                yield tuple(whole[n] for n in range(len(self.loops)))
            return
        loop = self.rows[row]
        a, g = self.coefficients[loop], self.strides[loop]
        for value in self._range(left, box, row):
            yield from self._cells(left - a * (value // g), box, row + 1, {**fixed, loop: value})

    def _range(self, left: int, box: Sequence[tuple[int, int]], row: int) -> range:
        """The values of a row for which the rows below it can make up what is left of the round."""
        loop = self.rows[row]
        start, stop = box[loop]
        a, g = self.coefficients[loop], self.strides[loop]
        if not a:
            return range(start, stop)
        below = [n for n in (*self.rows[row + 1 :], self.follows) if n is not None]
        most = sum(self.coefficients[n] * ((box[n][1] - 1) // self.strides[n]) for n in below)
        least = sum(self.coefficients[n] * (box[n][0] // self.strides[n]) for n in below)
        first, last = -(-(left - most) // a), (left - least) // a
        return range(max(start, first * g), min(stop, (last + 1) * g))

    def steps(self) -> Iterator[tuple[BlockNode, tuple[int, ...]]]:
        """All iterations, round by round, as `evaluate` takes them."""
        for m in range(self.rounds):
            for cell in self.cells(m):
                yield (self.blocks[0], cell) if len(self.blocks) == 1 else (self.blocks[cell[0]], cell[1:])

    def bounds(self, within: Sequence[tuple[int, int]] | None = None) -> tuple[str, ...]:
        """The bounds of the sequential index m and of each row below it, as text, by Fourier-Motzkin
        elimination (the FractalTensor paper, table 5). Only for strides of 1."""
        box = [(0, loop.extent) for loop in self.loops] if within is None else list(within)
        names = [loop.name for loop in self.loops]
        total = [a * end for a, (_, stop) in zip(self.coefficients, box, strict=True) for end in [stop - 1]]
        start = sum(a * lo for a, (lo, _) in zip(self.coefficients, box, strict=True))
        lines = [f"{start} <= m < {sum(total) + 1}"] if any(self.coefficients) else []
        outside: list[int] = []
        for row, loop in enumerate(self.rows):
            lo, hi = box[loop]
            below = [n for n in (*self.rows[row + 1 :], self.follows) if n is not None]
            most = sum(self.coefficients[n] * (box[n][1] - 1) for n in below)
            least = sum(self.coefficients[n] * box[n][0] for n in below)
            if self.coefficients[loop] == 1:
                rest = "".join(f" - {_scaled(self.coefficients[n], names[n])}" for n in outside)
                upper, lower = f"m{rest}{_plus(1 - least)}", f"m{rest}{_plus(-most)}"
                lines.append(f"max({lo}, {lower}) <= {names[loop]} < min({hi}, {upper})")
            else:
                lines.append(f"{lo} <= {names[loop]} < {hi}")
            if self.coefficients[loop]:
                outside.append(loop)
        if self.follows is not None and any(self.coefficients):
            rest = "".join(f" - {_scaled(self.coefficients[n], names[n])}" for n in outside)
            lines.append(f"{names[self.follows]} = m{rest}")
        return tuple(lines)

    def __str__(self) -> str:
        terms = [
            _scaled(a, loop.name if g == 1 else f"({loop.name} // {g})")
            for a, g, loop in zip(self.coefficients, self.strides, self.loops, strict=True)
            if a
        ]
        loops = ", ".join(f"{loop.operator} {loop.name} < {loop.extent}" for loop in self.loops)
        if not terms:
            return f"{loops}: all at once"
        below = ", ".join(self.loops[n].name for n in self.rows)
        found = ", ".join(_vector(d) for d in self.distances)
        return (
            f"{loops}: m = {' + '.join(terms)}, then {below or 'nothing'}; distances {found}; {self.count} "
            f"cells in {self.rounds} rounds, at most {self.width} at once"
        )


def _vector(distance: Distance) -> str:
    return f"({', '.join('*' if entry is None else str(entry) for entry in distance)})"


def _scaled(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}*{name}"


def _plus(number: int) -> str:
    return "" if not number else f" {'-' if number < 0 else '+'} {abs(number)}"


def hyperplane(function: NestedFunction, *blocks: BlockNode) -> Wavefront | None:
    """The rounds of a block, or of blocks that follow each other as a stack.

    Args:
        function: whose blocks they are.
        blocks: one, or several with loops of the same extents.

    Returns:
        None where no sequential index carries all dependences: one of them has a distance that varies, along
        a loop that would have to be part of it.
    """
    first = blocks[0]
    if len(blocks) == 1:
        loops, found = first.loops, distances(function, first)
    else:
        number = Loop("layer", len(blocks), "stack")
        loops, found = (number, *first.loops), stacked_distances(function, blocks)
    return from_distances(blocks, loops, found, _reused(function, blocks, loops))


def from_distances(
    blocks: tuple[BlockNode, ...], loops: tuple[Loop, ...], found: tuple[Distance, ...], reused: set[int]
) -> Wavefront | None:
    """The rounds of loops with these distances, some of which carry reuse of data."""
    steps = strides(found, len(loops))
    counted = [tuple(e if e is None else e // g for e, g in zip(d, steps, strict=True)) for d in found]
    extents = [-(-loop.extent // g) for loop, g in zip(loops, steps, strict=True)]
    chosen = _coefficients(counted, extents)
    if chosen is None:
        return None
    # The innermost of the loops with coefficient 1 follows from the others.
    follows = max((n for n, a in enumerate(chosen) if a == 1), default=None)
    rows = sorted((n for n in range(len(loops)) if n != follows), key=lambda n: (n in reused, n))
    return Wavefront(blocks, loops, found, steps, chosen, tuple(rows))


def _coefficients(found: Sequence[Distance], extents: Sequence[int]) -> tuple[int, ...] | None:
    """The numbers with the fewest rounds, of those that are as small as they can be; one of them is 1."""
    varying = {n for d in found for n, entry in enumerate(d) if entry is None}
    carrying = [n for n in range(len(extents)) if n not in varying and any(d[n] for d in found)]
    if not found:
        return (0,) * len(extents)
    for limit in range(1, MOST + 1):
        fitting = []
        for numbers in product(range(limit + 1), repeat=len(carrying)):
            a = dict(zip(carrying, numbers, strict=True))
            if 1 in numbers and all(sum(k * (d[n] or 0) for n, k in a.items()) >= 1 for d in found):
                rounds = sum(k * (extents[n] - 1) for n, k in a.items())
                fitting.append((rounds, sum(numbers), tuple(a.get(n, 0) for n in range(len(extents)))))
        if fitting:
            return min(fitting)[2]
    return None


def _reused(function: NestedFunction, blocks: Sequence[BlockNode], loops: Sequence[Loop]) -> set[int]:
    """The loops along which one element is read again and again: they are in the null space of its access
    matrix. What is read in a single iteration of some index alone does not count."""
    found = set()
    for block in blocks:
        shift = len(loops) - len(block.loops)
        for source in block_reads(function, block):
            if source.read.indices and all(stop - start > 1 for _, start, stop in source.guards):
                variables = source.read.variables
                found |= {n + shift for n, loop in enumerate(block.loops) if loop.name not in variables}
    return found


def wavefronts(function: NestedFunction) -> tuple[Wavefront, ...]:
    """The rounds of all blocks that carry dependences. Blocks that follow each other, such as the layers of a
    dilated RNN, are a stack where that takes fewer rounds than one after the other."""
    return tuple(_wavefronts(function, function.body))


def _wavefronts(function: NestedFunction, items: Sequence[BlockNode | str]) -> Iterator[Wavefront]:
    blocks = [item for item in items if isinstance(item, BlockNode)]
    alone = {block: hyperplane(function, block) for block in blocks}
    while blocks:
        first = blocks.pop(0)
        best = alone[first]
        taken = [first]
        while (
            blocks and best is not None and best.distances and _may_stack(function, items, taken, blocks[0])
        ):
            stack = hyperplane(function, *taken, blocks[0])
            other = alone[blocks[0]]
            if stack is None or other is None or stack.rounds >= best.rounds + other.rounds:
                break
            best = stack
            taken.append(blocks.pop(0))
        if best is not None and best.distances:
            yield best
        elif best is not None:
            yield from _wavefronts(function, first.body)


def _may_stack(
    function: NestedFunction, items: Sequence[BlockNode | str], taken: Sequence[BlockNode], block: BlockNode
) -> bool:
    """Whether a block may run along with those before it: nothing is computed in between."""
    between = items[items.index(taken[0]) : items.index(block)]
    idle = all(
        item in taken or (isinstance(item, str) and not hasattr(function.buffers[item], "operation"))
        for item in between
    )
    extents = [loop.extent for loop in block.loops]
    return idle and extents == [loop.extent for loop in taken[0].loops]
