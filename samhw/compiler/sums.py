"""Where sums stand: each as early, and over as few indices, as it can. In sums with a single point in each of
their rows, what is multiplied can be looked up."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from samhw.compiler.einsum import MUL, Apply, Einsum, PickedLevel, Reduce, View, reachable
from samhw.lang.decision import Iteration
from samhw.names import Names

__all__ = ["Sums", "picked"]


class Sums:
    """Places the sums of a region, for an order of its indices.

    Args:
        columns: the names of the columns, among them those of reductions.
        iteration: where it is factored, a factor without the index of a sum stays outside of it.
    """

    def __init__(self, columns: Names, order: Sequence[str], iteration: Iteration):
        self._columns = columns
        self._position = {index: n for n, index in enumerate(order)}
        self._factored = iteration == "factored"
        self._reductions = 0

    def over(self, e: Einsum, indices: Collection[str]) -> Einsum:
        """Sums e over those of the indices that it has, each sum where it belongs."""
        mine = [i for i in indices if i in e.free]
        if isinstance(e, Apply):
            if e.op == "neg":
                return Apply("neg", (self.over(e.operands[0], mine),))
            if e.op == MUL:
                return self._over_product(e.operands, mine)
            if e.op in ("add", "sub"):
                return Apply(e.op, tuple(self.over(o, mine) for o in e.operands))
            if e.op == "div" and not e.operands[1].free.intersection(mine):
                return Apply("div", (self.over(e.operands[0], mine), e.operands[1]))
        return self.one_by_one(e, mine, "sum")

    def one_by_one(
        self, e: Einsum, indices: Collection[str], op: str, *, outermost_first: bool = False
    ) -> Einsum:
        """Reduces e over one index after another, the innermost first unless told otherwise."""
        for index in sorted(indices, key=self._position.__getitem__, reverse=not outermost_first):
            e = self._reduce(e, index, op)
        return e

    def ranked(self, e: Einsum, index: str, op: str, rank: str) -> Einsum:
        """Puts the values of e along an index in order, by an index of their own."""
        return replace(self._reduce(e, index, op), rank=rank)

    def _over_product(self, factors: tuple[Einsum, ...], indices: list[str]) -> Einsum:
        """Sums a product, one index after another: next is always the one whose sum runs over the fewest
        indices; among equals the one that keeps the fewest levels inside of it, and then the outermost, which
        brings equal coordinates together soonest."""
        while indices:
            groups = {i: self._group(factors, i) for i in indices}
            every = _indices(factors)
            index = min(
                indices,
                key=lambda i: (
                    self._run_over(groups[i], i, every),
                    self._kept_inside(groups[i], i),
                    self._position[i],
                ),
            )
            group = groups[index]
            product = Apply(MUL, tuple(group)) if len(group) > 1 else group[0]
            summed = self._reduce(product, index, "sum") if len(group) > 1 else self.over(product, [index])
            # The sum takes the place of the first of its factors, so that the table reads like the text.
            first = next(n for n, factor in enumerate(factors) if factor in group)
            factors = (
                *(f for f in factors[:first] if f not in group),
                summed,
                *(f for f in factors[first:] if f not in group),
            )
            indices = [i for i in indices if i != index]
        return Apply(MUL, factors) if len(factors) > 1 else factors[0]

    def _reduce(self, e: Einsum, index: str, op: str) -> Reduce:
        self._reductions += 1
        return Reduce(self._columns.fresh(f"t{self._reductions - 1}"), index, e, op)

    def _group(self, factors: Sequence[Einsum], index: str) -> list[Einsum]:
        """The factors that a sum takes in: those with the index and, since only the innermost level of a
        reducer's result can be joined later, those with an index between it and the innermost it keeps, at
        which they cannot be located. What names the places of picks inside of the sum is taken in, too."""
        group = [f for f in factors if index in f.free or not self._factored]
        while drawn := [
            f
            for f in factors
            if f not in group and (self._lies_inside(f, group, index) or self._picks_inside(f, group, index))
        ]:
            group += drawn
        return [f for f in factors if f in group]

    def _picks_inside(self, factor: Einsum, group: Sequence[Einsum], index: str) -> bool:
        if all(self._position[i] < self._position[index] for i in factor.free):
            return False
        views = [node for node in reachable(group) if isinstance(node, View)]
        return any(picked.at is factor for view in views for picked in view.picks)

    def _lies_inside(self, factor: Einsum, group: Sequence[Einsum], index: str) -> bool:
        start = self._position[index]
        kept = {i for i in _indices(group) if self._position[i] > start}
        innermost = max((self._position[i] for i in kept), default=start)
        between = {i for i in factor.free if start < self._position[i] < innermost}
        # What is located at a level that the sum keeps joins nothing.
        return any(i not in kept or not _is_located(factor, i) for i in between)

    def _run_over(self, group: Sequence[Einsum], index: str, every: frozenset[str]) -> int:
        """How many indices a sum is computed for: those of its factors, and those of the whole product whose
        rows lie outside of it."""
        own = _indices(group)
        # A nest of coordinates comes out where the index stands; a single value, where it is used.
        kept = self._kept_inside(group, index)
        last = index if kept else max(own - {index}, key=self._position.__getitem__, default=index)
        return len(own | {i for i in every if self._position[i] < self._position[last]})

    def _kept_inside(self, group: Sequence[Einsum], index: str) -> int:
        return sum(self._position[i] > self._position[index] for i in _indices(group))


def _indices(factors: Sequence[Einsum]) -> frozenset[str]:
    return frozenset[str]().union(*(f.free for f in factors))


def _is_located(factor: Einsum, index: str) -> bool:
    """A factor with a dense level of that index, which may also be a row of what names places in it."""
    if not isinstance(factor, View) or factor.sieve or index not in factor.indices:
        return False
    return factor.levels[factor.indices.index(index)].locator is not None


def picked(e: Einsum, summed: Collection[str]) -> Einsum:
    """e, in which factors are looked up where a sum has nothing to add: over the coordinates of a tensor that
    stores one point in each row (`View.one_each`), and of dense levels of one other factor.

    That tensor gives its values by row, and its coordinates are read where the other factor is entered: there
    is no row of theirs any more, and nothing to be summed.

    Args:
        summed: the indices that e will be summed over.
    """
    match e:
        case Apply(op="neg" | "add" | "sub"):
            return replace(e, operands=tuple(picked(operand, summed) for operand in e.operands))
        case Apply() if e.op == MUL:
            factors = e.operands
            for selector in [f for f in factors if isinstance(f, View) and f.one_each and not f.sieve]:
                factors = _without_rows(factors, selector, summed)
            return e if factors == e.operands else replace(e, operands=factors)
    return e


def _without_rows(factors: tuple[Einsum, ...], selector: View, summed: Collection[str]) -> tuple[Einsum, ...]:
    """The factors of a product, after one of them has been made to select what another is looked up by; as
    they are where that cannot be."""
    places = selector.indices[selector.one_each :]
    using = [f for f in factors if f is not selector and f.free.intersection(places)]
    if len(using) != 1 or not set(places) <= set(summed):
        return factors
    (source,) = using
    if not isinstance(source, View) or source.pattern or source.part or not _can_be_entered(source, places):
        return factors
    rows = replace(
        selector, indices=selector.indices[: selector.one_each], levels=selector.levels[: selector.one_each]
    )
    crd = {place: f"{selector.tensor}.crd{selector.indices.index(place)}" for place in places}
    found = [PickedLevel(source.indices.index(place), rows, crd[place]) for place in places]
    picks = sorted((*source.picks, *found), key=lambda level: level.level)
    changed = {selector: rows, source: replace(source, picks=tuple(picks))}
    return tuple(changed.get(f, f) if isinstance(f, View) else f for f in factors)


def _can_be_entered(source: View, places: Sequence[str]) -> bool:
    """All of these are indices of dense levels."""
    return set(places) <= set(source.indices) and all(
        level.locator is not None or index not in places
        for index, level in zip(source.indices, source.levels, strict=True)
    )
