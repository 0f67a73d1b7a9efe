"""Sums of products: each sum is taken as soon as the factors that have its index are joined.

So the cost of a product of many tensors follows what some of them have in common at a time, and not the
points of all.

Which sum of a product of many factors is taken next.

The order is chosen by what is stored, and has nothing to do with that of a compiler.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod

import numpy as np

from samhw.lang import Access, Expr, free_indices
from samhw.lang.reference.contraction import Contraction, Gather
from samhw.lang.reference.domain import Reduction, sum_of_products
from samhw.lang.reference.plain_values import support
from samhw.lang.reference.relation import Array, Points, Relation

__all__ = ["SumOfProducts", "sum_next"]


def sum_next(
    factors: Sequence[tuple[Collection[str], float]], reduced: Collection[str], extents: Mapping[str, int]
) -> tuple[list[int], set[str], float]:
    """Which factors of a product are joined next, by their positions; which indices are summed then; and at
    about how many points: of all sums that are left, it is the one over the fewest. If there is none, all of
    the factors are joined.

    Args:
        factors: the indices of each, and at which share of its points it may be anything but zero.
        reduced: the indices that are to be summed.
    """
    best, least = list(range(len(factors))), inf
    for index in dict.fromkeys(i for indices, _ in factors for i in indices if i in reduced):
        span = {i for indices, _ in factors if index in indices for i in indices}
        # What has no other index costs nothing, and makes the points fewer.
        taken = [n for n, (indices, _) in enumerate(factors) if span.issuperset(indices)]
        points = prod(factors[n][1] for n in taken) * prod(float(extents[i]) for i in span)
        if points < least:
            best, least = taken, points
    inside = {i for n in best for i in factors[n][0]}
    outside = {i for n, (indices, _) in enumerate(factors) if n not in best for i in indices}
    if not outside:
        least = prod(density for _, density in factors) * prod(float(extents[i]) for i in inside)
    return best, {i for i in inside - outside if i in reduced}, least


@dataclass(frozen=True)
class _Factor:
    """A factor of a product: over which indices, and where it may be anything but zero. `part` gives what the
    sums need of it at some points."""

    expr: Expr
    indices: Collection[str]
    points: Points
    part: Callable[[Contraction, Gather], Array]


class SumOfProducts:
    """The sum of the product of some factors over the indices that a contraction reduces, divided by some
    divisors, which lack these; where a mask is not zero, if there is one."""

    def __init__(
        self,
        contraction: Contraction,
        factors: Sequence[Expr],
        divisors: Sequence[Expr],
        mask: Access | None,
        within: Sequence[Points],
    ) -> None:
        self.contraction = contraction
        self.domain = contraction.domain
        self.extents = contraction.extents
        self.leaves = dict(contraction.leaves)
        self.count = len(factors)
        used = {i for expr in (*factors, *([mask] if mask else [])) for i in free_indices(expr)}
        self.summed = used.intersection(contraction.reduced)
        self.factors = [self.factor(expr) for expr in factors]
        if mask is not None:
            self.factors.append(self.masking(mask))
        self.divisors = divisors
        self.within = within

    def factor(self, expr: Expr) -> _Factor:
        alone, indices = self.count == 1, free_indices(expr)
        whole = self.summed.issubset(indices) and self.contraction.is_whole(expr)
        whole = whole or (alone and not self.summed)

        def part(contraction: Contraction, gather: Gather) -> Array:
            return self.domain.factor(contraction.element(expr, gather), alone=alone, whole=whole)

        return _Factor(expr, indices, support(expr, self.leaves, self.extents), part)

    def masking(self, mask: Access) -> _Factor:
        alone = self.count == 1

        def part(contraction: Contraction, gather: Gather) -> Array:
            return self.domain.factor(self.domain.indicator(gather(mask)), alone=alone, whole=False)

        return _Factor(mask, mask.variables, self.leaves[mask].points, part)

    def result(self, finish: Callable[[Array], Array]) -> Relation:
        """The sum, with what `finish` keeps of its elements."""
        while True:
            taken, summed, _ = sum_next(
                [(factor.indices, factor.points.density(self.extents)) for factor in self.factors],
                self.contraction.reduced,
                self.extents,
            )
            if len(taken) == len(self.factors):
                return self.last(finish)
            self.sum(taken, summed)

    def sum(self, taken: Collection[int], summed: Collection[str]) -> None:
        """Puts the sum of the product of some factors in their place."""
        factors = [self.factors[n] for n in taken]
        others = [factor for n, factor in enumerate(self.factors) if n not in taken]
        span = dict.fromkeys(index for factor in factors for index in factor.indices)
        kept = [index for index in span if index not in summed]
        contraction = Contraction(self.domain, self.leaves, self.extents, kept, sorted(summed))
        # Where any other factor is zero, nothing comes of it.
        sets = [factor.points for factor in factors]
        for points in (*(factor.points for factor in others), *self.within):
            common = [index for index in points.indices if index in span]
            if common or not points.count:
                sets.append(points.onto(common, self.extents))
        operands = [factor.expr for factor in factors]
        relation = contraction.reduce(
            operands,
            sets,
            lambda gather, axes: self.sums(contraction, factors, gather, axes),
            lambda found, gather: self.domain.partial(found[:-1]),
        )
        if relation.is_nearly_full:
            relation = relation.filled(kept)
        # No tensor of a program has such a name.
        access = Access.of(f"sum {len(self.leaves)}", kept)
        self.leaves[access] = relation
        part = _Factor(access, kept, relation.points, lambda _, gather: gather(access))
        self.factors = [*others, part]

    def sums(
        self, contraction: Contraction, factors: Sequence[_Factor], gather: Gather, axes: tuple[int, ...]
    ) -> list[Reduction]:
        sums = self.domain.products([factor.part(contraction, gather) for factor in factors])
        return [(np.add, sum_of_products(terms, axes)) for terms in sums]

    def last(self, finish: Callable[[Array], Array]) -> Relation:
        """The sum of the product of all factors that are left."""
        whole = self.contraction
        contraction = Contraction(self.domain, self.leaves, self.extents, whole.kept, whole.reduced)

        def finished(found: Sequence[Array], gather: Gather) -> Array:
            below = [contraction.element(divisor, gather) for divisor in self.divisors]
            array = self.domain.summed(found[:-1], self.count, below, over_points=bool(whole.reduced))
            return finish(array)

        return contraction.reduce(
            [*(factor.expr for factor in self.factors), *self.divisors],
            [*(factor.points for factor in self.factors), *self.within],
            lambda gather, axes: self.sums(contraction, self.factors, gather, axes),
            finished,
        )
