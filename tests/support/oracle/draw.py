"""Random programs and data, hostile ones above all: numbers, scalars, infinities and nothing at all in every
place, under every format.
"""

import math
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samhw.tensors import Tensor as Stored
from tests.support.oracle.language import (
    Apply,
    Expr,
    Number,
    Program,
    Recurrence,
    RunningReduction,
    Statement,
    Tensor,
    Use,
    indices_of,
    uses,
)

__all__ = ["INDICES", "Drawing", "StatementDrawing", "draw_arrays", "draw_program", "stored"]

INDICES = ("i", "j", "k")
MOST_EXTENT = 4

EXACT = {
    **dict.fromkeys(("+", "-", "*"), 2),
    **dict.fromkeys(("neg", "abs", "relu"), 1),
    **dict.fromkeys(("max", "min", "lt", "le", "eq", "leaky_relu"), 2),
    "select": 3,
}
ROUNDING = {"/": 2, **dict.fromkeys(("exp", "sigmoid", "tanh", "sin", "cos"), 1)}
"""Only floating point has these."""
WEIGHTS = {"+": 3, "-": 2, "*": 5, "select": 3, "/": 2}


class Drawing:
    """A program in the making: what has been declared and computed so far."""

    def __init__(self, rng: random.Random, floating: bool) -> None:
        self.rng = rng
        self.floating = floating
        self.operations = {**EXACT, **(ROUNDING if floating else {})}
        self.extents = {i: rng.choice((1, 2, 3, MOST_EXTENT)) for i in INDICES}
        if rng.random() < 0.4:
            self.extents = dict.fromkeys(INDICES, rng.choice((2, 3, MOST_EXTENT)))
        self.order = rng.sample(INDICES, len(INDICES))
        self.tensors: dict[str, Tensor] = {}
        self.results: list[Use] = []

    def program(self) -> Program:
        rng = self.rng
        statements: list[Statement] = []
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 6))):
            statements.append(self.statement())
        regions: list[int] = []
        for _ in statements:
            if regions and rng.random() < 0.5:
                regions[-1] += 1
            else:
                regions.append(1)
        return Program(self.extents, tuple(self.tensors.values()), tuple(statements), tuple(regions))

    def statement(self) -> Statement:
        rng = self.rng
        pool = rng.sample(INDICES, rng.choice((1, 2, 2, 3)))
        expr = self.expr(pool, rng.choice((1, 2, 2, 3, 3, 4)))
        while not uses(expr):
            expr = self.expr(pool, 2)
        if self.results and not any(use.tensor.startswith("T") for use in uses(expr)):
            expr = Apply(rng.choice("+*-"), (expr, self.again(self.tensors[rng.choice(self.results).tensor])))
        used = list(dict.fromkeys(indices_of(expr)))
        reduction = rng.choice(("sum",) * 6 + ("max", "min"))
        kept = [i for i in used if rng.random() < 0.75] if rng.random() < 0.6 else used
        mask = None
        if rng.random() < 0.3:
            mask = self.use([i for i in used if i in kept or rng.random() < 0.3])
            if self.results and rng.random() < 0.3:
                other = self.again(self.tensors[rng.choice(self.results).tensor])
                mask = other if set(other.indices) <= set(used) else mask
        target = self.declare("T", rng.sample(kept, len(kept)))
        self.results.append(target)
        return Statement(target, expr, reduction, mask)

    def expr(self, pool: Sequence[str], depth: int) -> Expr:
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            return self.leaf(pool)
        names = list(self.operations)
        op = rng.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
        operands = tuple(self.expr(pool, depth - 1) for _ in range(self.operations[op]))
        if op == "leaky_relu":
            operands = (operands[0], Number(rng.choice((0, 2, -1))))
        if all(isinstance(operand, Number) for operand in operands):
            return self.leaf(pool)
        return Apply(op, operands)

    def leaf(self, pool: Sequence[str]) -> Expr:
        rng = self.rng
        kind = rng.random()
        if kind < 0.15:
            return Number(rng.choice((0, 1, -1, 2, -2, 3)))
        if kind < 0.35 and self.results:
            return self.again(self.tensors[rng.choice(self.results).tensor])
        if kind < 0.5 and self.tensors:
            return self.again(rng.choice(list(self.tensors.values())))
        if kind < 0.6:
            return self.use([])
        return self.use(pool if rng.random() < 0.6 else [i for i in pool if rng.random() < 0.6])

    def again(self, tensor: Tensor) -> Use:
        """Another use of a tensor, under its own indices or under others of the same extents."""
        indices = list(tensor.indices)
        if self.rng.random() < 0.3:
            alike = [[i for i in INDICES if self.extents[i] == n] for n in tensor.shape]
            # What is as long as no other index keeps its own.
            chosen = [self.rng.choice(candidates) for candidates in alike] if all(alike) else indices
            if len(set(chosen)) == len(chosen):
                indices = chosen
        return Use(tensor.name, tuple(indices))

    def use(self, indices: Sequence[str]) -> Use:
        """A new input."""
        return self.declare("A", self.rng.sample(indices, len(indices)))

    def declare(self, letter: str, indices: Sequence[str]) -> Use:
        rng = self.rng
        name = f"{letter}{len(self.tensors)}"
        shape = tuple(self.extents[i] for i in indices)
        modes = list(range(len(indices)))
        if rng.random() < 0.93:
            modes.sort(key=lambda mode: self.order.index(indices[mode]))
        else:
            rng.shuffle(modes)
        kind = rng.random()
        levels = [
            "dense" if kind < 0.3 else "compressed" if kind < 0.55 else rng.choice(("dense", "compressed"))
            for _ in indices
        ]
        text = f"({', '.join(levels)}) @ ({', '.join(map(str, modes))})"
        self.tensors[name] = Tensor(name, tuple(indices), shape, text)
        return Use(name, tuple(indices))


class StatementDrawing(Drawing):
    """Statements of chosen kinds, one after the other."""

    def __init__(self, rng: random.Random, floating: bool) -> None:
        super().__init__(rng, floating)
        self.statements: list[Statement] = []

    def assign(
        self,
        kept: Sequence[str],
        expr: Expr | RunningReduction | Recurrence,
        reduction: str = "sum",
        mask: Use | None = None,
    ) -> Use:
        """A statement, its modes shuffled."""
        target = self.declare("T", self.rng.sample(kept, len(kept)))
        self.statements.append(Statement(target, expr, reduction, mask))
        self.results.append(target)
        return target

    def fitting(self, used: Sequence[str]) -> Use | None:
        """A result that may be a mask of a statement with those indices."""
        found = [use for use in self.results if set(use.indices) <= set(used)]
        return self.rng.choice(found) if found else None

    def finish(self, regions: Sequence[int]) -> Program:
        """The program in regions of this many statements, without declarations that nothing uses."""
        named = {use.tensor for statement in self.statements for use in statement.uses}
        tensors = tuple(tensor for name, tensor in self.tensors.items() if name in named)
        return Program(self.extents, tensors, tuple(self.statements), tuple(regions))

    def cut(self, likely: float) -> Program:
        """The program in one region, or in two."""
        count = len(self.statements)
        first = self.rng.randrange(count) if self.rng.random() < likely else 0
        return self.finish([n for n in (first, count - first) if n])


def draw_program(rng: random.Random, floating: bool) -> Program:
    """A program of one to three statements. Many break a rule of the language or of streams: refused they
    must be, in a sentence.

    Args:
        floating: with what only floating point has.
    """
    return Drawing(rng, floating).program()


def draw_arrays(program: Program, rng: random.Random, *, floating: bool) -> dict[str, NDArray[np.generic]]:
    """An array for each input, full, sparse or empty, of small whole numbers; infinite ones if `floating`."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for tensor in program.inputs:
        density = rng.choice((0.0, 0.3, 0.6, 0.6, 1.0))
        numbers: list[float] = [-2, -1, 1, 2]
        if floating and rng.random() < 0.3:
            numbers += rng.choice(([math.inf], [-math.inf], [math.nan], [math.inf, -math.inf, math.nan]))
        count = math.prod(tensor.shape)
        values = [rng.choice(numbers) if rng.random() < density else 0 for _ in range(count)]
        arrays[tensor.name] = np.array(values, float if floating else int).reshape(tensor.shape)
    return arrays


def stored(program: Program, arrays: dict[str, NDArray[np.generic]], rng: random.Random) -> dict[str, Stored]:
    """The arrays in the declared formats; some zeros are stored too."""
    result = {}
    for tensor in program.inputs:
        array = arrays[tensor.name]
        if not tensor.indices:
            result[tensor.name] = Stored.from_dense(array, "scalar")
            continue
        keep = array != 0
        if rng.random() < 0.2:
            keep |= np.array([rng.random() < 0.5 for _ in range(array.size)]).reshape(array.shape)
        coords = np.array(np.nonzero(keep))
        result[tensor.name] = Stored.from_coo(coords, array[tuple(coords)], array.shape, tensor.format)
    return result
