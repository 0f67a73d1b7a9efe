"""Random programs with running reductions and products, of what is stored, computed or masked, and with
readers of their own."""

import random
from collections.abc import Sequence

from tests.support.oracle.draw import INDICES, Drawing
from tests.support.oracle.language import (
    Apply,
    Expr,
    Number,
    Program,
    RunningReduction,
    Statement,
    Use,
    indices_of,
)

__all__ = ["draw_running_program"]


def draw_running_program(rng: random.Random, floating: bool) -> Program:
    """A program of some statements, running reductions of inputs and of their results, and what reads these.

    Args:
        floating: with what only floating point has.
    """
    return _Running(rng, floating).program()


class _Running(Drawing):
    def __init__(self, rng: random.Random, floating: bool) -> None:
        super().__init__(rng, floating)
        self.statements: list[Statement] = []
        self.products = 0

    def program(self) -> Program:
        rng = self.rng
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.source()
        for _ in range(rng.choice((1, 1, 2, 3))):
            self.run()
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.reader()
        count = len(self.statements)
        cut = rng.randrange(count) if rng.random() < 0.3 else 0
        regions = tuple(n for n in (cut, count - cut) if n)
        named = {use.tensor for statement in self.statements for use in statement.uses}
        tensors = tuple(tensor for name, tensor in self.tensors.items() if name in named)
        return Program(self.extents, tensors, tuple(self.statements), regions)

    def assign(self, kept: Sequence[str], expr: Expr | RunningReduction, reduction: str = "sum") -> Use:
        """A statement, its modes in the order of the program."""
        target = self.declare("T", self.rng.sample(list(kept), len(kept)))
        mask = self.mask(kept) if isinstance(expr, RunningReduction) or reduction == "prod" else None
        self.statements.append(Statement(target, expr, reduction, mask))
        self.results.append(target)
        return target

    def mask(self, kept: Sequence[str]) -> Use | None:
        """A mask for a statement with those indices on the left: a new one, or a result."""
        rng = self.rng
        if rng.random() < 0.55:
            return None
        fitting = [use for use in self.results if set(use.indices) <= set(kept)]
        if fitting and rng.random() < 0.4:
            return rng.choice(fitting)
        return self.use([i for i in kept if rng.random() < 0.8])

    def some(self) -> list[str]:
        return self.rng.sample(INDICES, self.rng.choice((1, 2, 2, 2, 3)))

    def source(self) -> None:
        """What a running reduction may read: element by element, or a sum."""
        rng = self.rng
        indices = self.some()
        a, b = self.use(indices), self.use([i for i in indices if rng.random() < 0.7])
        expr = Apply(rng.choice("+-*"), (a, b))
        kept = indices if rng.random() < 0.6 else [i for i in indices if rng.random() < 0.7]
        self.assign(kept, expr)

    def operand(self) -> Expr:
        rng = self.rng
        if self.results and rng.random() < 0.6:
            use = self.again(self.tensors[rng.choice(self.results).tensor])
            if use.indices:
                return use
        indices = self.some()
        expr: Expr = self.use(indices)
        kind = rng.random()
        if kind < 0.2:
            expr = Apply(rng.choice("+-*"), (expr, self.use([i for i in indices if rng.random() < 0.6])))
        elif kind < 0.3:
            expr = Apply("+", (expr, Number(rng.choice((1, -1)))))
        elif kind < 0.4:
            expr = Apply(rng.choice(("neg", "abs", "relu")), (expr,))
        return expr

    def run(self) -> None:
        rng = self.rng
        # A product of products could leave the range of i32.
        reductions = (
            ("sum", "sum", "max", "min") if self.products else ("sum", "sum", "max", "min", "prod", "prod")
        )
        reduction = rng.choice(reductions)
        operand = self.operand()
        if reduction == "prod":
            operand = self.use(self.some())
            self.products += 1
        indices = list(dict.fromkeys(indices_of(operand)))
        # Mostly along the index that is innermost in storage.
        indices.sort(key=self.order.index)
        along = indices[-1] if rng.random() < 0.8 else rng.choice(indices)
        run = RunningReduction(reduction, along, operand, rng.random() < 0.35)
        if reduction == "prod" and rng.random() < 0.4:
            kept = [i for i in indices if rng.random() < 0.5]
            self.assign(kept, operand, "prod")
        else:
            self.assign(indices, run)

    def reader(self) -> None:
        """A result with another one or with an input."""
        rng = self.rng
        first = self.again(self.tensors[rng.choice(self.results).tensor])
        second = self.use([i for i in INDICES if rng.random() < 0.5])
        if rng.random() < 0.5:
            second = self.again(self.tensors[rng.choice(self.results).tensor])
        expr = Apply(rng.choice(("+", "-", "*", "*", "max")), (first, second))
        used = list(dict.fromkeys(indices_of(expr)))
        kept = used if rng.random() < 0.5 else [i for i in used if rng.random() < 0.7]
        self.assign(kept, expr, rng.choice(("sum", "sum", "max")) if len(kept) < len(used) else "sum")
