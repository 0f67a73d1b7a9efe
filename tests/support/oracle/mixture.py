"""Random programs of everything at once: masks, concatenations, reshapes, running reductions, products and
expressions, each of what the others give."""

import random
from math import prod

from tests.support.oracle.language import Program, Reshape, Statement, Use
from tests.support.oracle.masks import Masking
from tests.support.oracle.running import Running

__all__ = ["draw_mixture"]


def draw_mixture(rng: random.Random, floating: bool) -> Program:
    """A program of two to six statements.

    Args:
        floating: with what only floating point has.
    """
    return _Mixture(rng, floating).program()


class _Mixture(Masking, Running):
    def program(self) -> Program:
        rng = self.rng
        starts = (self.function, self.reduced, self.arbitrary, self.concatenated, self.run)
        for _ in range(rng.randint(2, 6)):
            later = (self.run, self.reshaped_result, self.masked, self.reader, self.reader)
            rng.choice(starts + later if self.results else starts)()
        regions: list[int] = []
        for _ in self.statements:
            if regions and rng.random() < 0.75:
                regions[-1] += 1
            else:
                regions.append(1)
        return self.finish(regions)

    def masked(self) -> None:
        """A statement under a result."""
        self.restricted(self.rng.choice(self.results))

    def reshaped_result(self) -> None:
        """The elements of a result along one index or two, in any format."""
        rng = self.rng
        operand = self.tensors[rng.choice(self.results).tensor]
        size = prod(operand.shape)
        shape = [size]
        if rng.random() < 0.5:
            outer = rng.choice([n for n in range(1, size + 1) if size % n == 0])
            shape = [outer, size // outer]
        indices = [self.fresh_index(extent, rng.randint(0, len(self.order))) for extent in shape]
        target = self.dense(indices) if rng.random() < 0.6 else self.declare("T", indices)
        self.statements.append(Statement(target, Reshape(Use(operand.name, operand.indices))))
        self.results.append(target)
