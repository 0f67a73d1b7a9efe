"""Random programs in which statements have masks that the program computes: of any kind and format, with more
or fewer indices than what they restrict, read by several statements, moved, and masked themselves."""

import random
from collections.abc import Callable, Sequence
from math import prod

from tests.support.oracle.draw import INDICES, StatementDrawing
from tests.support.oracle.language import (
    Apply,
    Concat,
    Expr,
    Number,
    Program,
    Reshape,
    Statement,
    Tensor,
    Use,
    indices_of,
)

__all__ = ["Masking", "draw_masked_program"]

MOST_RANK = 3
REDUCTIONS = ("max", "max", "min", "min", "sum")


def draw_masked_program(rng: random.Random, floating: bool) -> Program:
    """A program of one to three masks, statements under them, and what reads these.

    Args:
        floating: with what only floating point has.
    """
    return Masking(rng, floating).program()


class Masking(StatementDrawing):
    """Masks that the program computes, and what they restrict."""

    def program(self) -> Program:
        rng = self.rng
        masks = []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            kinds: list[Callable[[], Use]] = [self.function] * 4 + [self.reduced] * 2
            masks.append(rng.choice([*kinds, self.arbitrary, self.concatenated, self.reshaped])())
        for _ in range(rng.choice((1, 1, 2, 3))):
            self.restricted(rng.choice(masks))
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            self.reader()
        return self.cut(0.2)

    # Masks

    def indices(self) -> list[str]:
        return self.rng.sample(INDICES, self.rng.choice((0, 1, 1, 1, 2, 2, 3)))

    def function(self) -> Use:
        """An operation whose zeros, and whether there are any, say what the mask is."""
        indices = self.indices()
        a, b = self.use(indices), self.use([i for i in indices if self.rng.random() < 0.7])
        number = Number(self.rng.choice((-1, 0, 1)))
        expr = self.rng.choice(
            (
                Apply("*", (a, Number(self.rng.choice((1, -1, 0))))),
                Apply(self.rng.choice("+-*"), (a, b)),
                Apply(self.rng.choice(("neg", "abs", "relu")), (a,)),
                Apply(self.rng.choice(("lt", "le", "eq", "max", "min")), (a, number)),
                Apply("select", (a, b, number)),
                Apply("+", (a, number)),
            )
        )
        mask = self.fitting(list(indices_of(expr))) if self.rng.random() < 0.15 else None
        return self.assign(list(dict.fromkeys(indices_of(expr))), expr, mask=mask)

    def reduced(self) -> Use:
        indices = self.rng.sample(INDICES, self.rng.choice((1, 2, 2, 3)))
        expr: Expr = self.use(indices)
        if self.rng.random() < 0.5:
            expr = Apply("*", (expr, self.use([i for i in indices if self.rng.random() < 0.6])))
        kept = [i for i in indices if self.rng.random() < 0.6]
        return self.assign(kept, expr, self.rng.choice(REDUCTIONS))

    def arbitrary(self) -> Use:
        expr = self.expr(self.indices(), 2)
        if isinstance(expr, Number):
            expr = self.use([])
        return self.assign(list(dict.fromkeys(indices_of(expr))), expr)

    def concatenated(self) -> Use:
        """Two or three tensors, new or computed, along an index. New ones and the whole have an index of
        their own in its place."""
        rng = self.rng
        first = rng.choice([use for use in self.results if use.indices] or [self.use(["i"])])
        along = rng.choice(first.indices)
        place = self.order.index(along)
        parts, total = [first], self.extents[along]
        for _ in range(rng.choice((1, 1, 2))):
            if rng.random() < 0.3:
                parts.append(first)
                total += self.extents[along]
                continue
            own = self.fresh_index(rng.randint(1, 3), place)
            total += self.extents[own]
            part = self.use([own if i == along else i for i in first.indices])
            parts.append(Use(part.tensor, tuple(along if i == own else i for i in part.indices)))
        whole = self.fresh_index(total, place)
        modes = rng.sample(first.indices, len(first.indices))
        target = self.declare("T", [whole if i == along else i for i in modes])
        rng.shuffle(parts)
        self.statements.append(Statement(Use(target.tensor, tuple(modes)), Concat(along, tuple(parts))))
        self.results.append(target)
        return target

    def reshaped(self) -> Use:
        """A dense tensor's elements along one index."""
        indices = self.rng.sample(INDICES, self.rng.choice((1, 2)))
        operand = self.dense(indices)
        self.statements.append(Statement(operand, Apply("*", (self.use(indices), Number(1)))))
        size = prod(self.extents[i] for i in indices)
        target = self.dense([self.fresh_index(size, self.rng.randint(0, len(self.order)))])
        self.statements.append(Statement(target, Reshape(operand)))
        self.results.append(target)
        return target

    def dense(self, indices: Sequence[str]) -> Use:
        name = f"T{len(self.tensors)}"
        self.tensors[name] = Tensor(name, tuple(indices), tuple(self.extents[i] for i in indices), "dense")
        return Use(name, tuple(indices))

    def fresh_index(self, extent: int, place: int) -> str:
        """A new index, at that place of the order of all."""
        index = f"n{len(self.extents)}"
        self.extents[index] = extent
        self.order.insert(place, index)
        return index

    # What reads them

    def restricted(self, mask: Use) -> None:
        """A statement under a mask, with indices beside those of the mask or without any."""
        rng = self.rng
        mask = self.again(self.tensors[mask.tensor])
        others = [i for i in INDICES if i not in mask.indices]
        most = max(0, MOST_RANK - len(mask.indices))
        used = [*mask.indices, *rng.sample(others, min(len(others), most))]
        if rng.random() < 0.6:
            used = [*mask.indices, *(i for i in used[len(mask.indices) :] if rng.random() < 0.5)]
        some = [i for i in used if rng.random() < 0.5]
        expr: Expr = self.use(used)
        kind = rng.random()
        if kind < 0.25:
            rest = [i for i in used if i not in some or rng.random() < 0.3]
            expr = Apply(rng.choice("+*-"), (self.use(some), self.use(rest)))
        elif kind < 0.5:
            expr = Apply(rng.choice("+*-"), (expr, self.leaf(some)))
        elif kind < 0.6:
            expr = Apply(rng.choice(("neg", "abs", "relu")), (expr,))
        elif kind < 0.7:
            expr = Apply("+", (expr, Number(rng.choice((-3, -1, 2)))))
        kept = [i for i in used if rng.random() < (0.9 if i in mask.indices else 0.4)]
        if rng.random() < 0.2:
            kept = used
        self.assign(kept, expr, rng.choice(REDUCTIONS), mask)

    def reader(self) -> None:
        """Two results, or a result and an input."""
        rng = self.rng
        first = self.again(self.tensors[rng.choice(self.results).tensor])
        second = self.use(first.indices)
        if rng.random() < 0.4:
            second = self.again(self.tensors[rng.choice(self.results).tensor])
        elif rng.random() < 0.4:
            second = self.use([i for i in INDICES if rng.random() < 0.4])
        ops = ("+", "-", "*", "*", "max", "/") if self.floating else ("+", "-", "*", "*", "max")
        expr = Apply(rng.choice(ops), (first, second))
        used = list(dict.fromkeys(indices_of(expr)))
        kept = used if rng.random() < 0.6 else [i for i in used if rng.random() < 0.7]
        mask = self.fitting(used) if rng.random() < 0.3 else None
        self.assign(kept, expr, rng.choice(REDUCTIONS) if mask or len(kept) < len(used) else "sum", mask)
