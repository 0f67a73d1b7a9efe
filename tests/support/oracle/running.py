"""Random programs with running reductions, recurrences, products and coordinates of extremes, of what is
stored, computed or masked, and with readers of their own."""

import random
from collections.abc import Sequence

from tests.support.oracle.draw import INDICES, StatementDrawing
from tests.support.oracle.language import (
    Apply,
    Expr,
    Number,
    Program,
    Recurrence,
    RunningReduction,
    Use,
    indices_of,
)

__all__ = ["Running", "draw_running_program"]


def draw_running_program(rng: random.Random, floating: bool) -> Program:
    """A program of some statements, running reductions of inputs and of their results, and what reads these.

    Args:
        floating: with what only floating point has.
    """
    return Running(rng, floating).program()


class Running(StatementDrawing):
    """Running reductions and products, their operands, and what reads them."""

    def __init__(self, rng: random.Random, floating: bool) -> None:
        super().__init__(rng, floating)
        self.products = 0

    def program(self) -> Program:
        rng = self.rng
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.source()
        for _ in range(rng.choice((1, 1, 2, 3))):
            self.run()
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.reader()
        return self.cut(0.3)

    def mask(self, kept: Sequence[str]) -> Use | None:
        """A mask for a statement with those indices on the left: a new one, or a result."""
        rng = self.rng
        if rng.random() < 0.55:
            return None
        if rng.random() < 0.4 and (found := self.fitting(kept)):
            return found
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
        if rng.random() < 0.25:
            self.coordinate(operand)
            return
        if not self.products and rng.random() < 0.35:
            self.recur(operand)
            return
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
            self.assign(kept, operand, "prod", self.mask(kept))
        else:
            self.assign(indices, run, mask=self.mask(indices))

    def coordinate(self, operand: Expr) -> None:
        """argmax or argmin of an operand, or its best values in order, mostly along the index that is
        innermost in storage."""
        rng = self.rng
        indices = sorted(dict.fromkeys(indices_of(operand)), key=self.order.index)
        along = indices[-1] if rng.random() < 0.8 else rng.choice(indices)
        kept = [i for i in indices if i != along]
        ranks = [i for i in INDICES if i not in indices]
        if ranks and rng.random() < 0.5:
            reduction = rng.choice(("top", "bottom", "argtop", "argbottom"))
            self.assign([*kept, rng.choice(ranks)], operand, reduction, self.mask(indices))
            return
        self.assign(kept, operand, rng.choice(("argmax", "argmin")), self.mask(indices))

    def recur(self, operand: Expr) -> None:
        """A recurrence of an operand: its factors belong to fewer indices, or to others."""
        rng = self.rng
        self.products += 1
        indices = sorted(indices_of(operand), key=self.order.index)
        along = rng.choice(indices)
        factor: Expr = self.use(list({along, *(i for i in indices if rng.random() < 0.5)}))
        if rng.random() < 0.2:
            factor = Number(-1)
        elif rng.random() < 0.2:
            factor = self.use(self.some())
        used = dict.fromkeys((*indices_of(operand), *indices_of(factor)))
        ends = rng.random() < 0.5
        kept = [i for i in used if i != along or not ends]
        self.assign(kept, Recurrence(along, factor, operand), mask=self.mask(kept))

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
