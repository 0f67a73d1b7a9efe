"""Reducing what is computed at points to fewer indices, some points at a time.

Reducing what comes piece by piece to fewer indices.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from samhw.lang import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub, accesses, free_indices
from samhw.lang.reference.domain import Domain, Reduction
from samhw.lang.reference.join import distinct
from samhw.lang.reference.lookup import Lookup
from samhw.lang.reference.pieces import in_pieces
from samhw.lang.reference.relation import Array, Points, Relation, gathered
from samhw.lang.traverse import factors_of

__all__ = ["Contraction", "Gather", "provenance_of", "wide"]


class Groups:
    """Reduces the values of points that are equal along some indices.

    Args:
        indices: those indices. The pieces come in the order of the first one.
        emit: takes the points over them and what was reduced, as soon as no later piece can add to it.
    """

    def __init__(
        self,
        indices: Sequence[str],
        extents: Mapping[str, int],
        emit: Callable[[Points, Sequence[Array]], None],
    ) -> None:
        self._indices = tuple(indices)
        self._extents = [extents[index] for index in indices]
        self._emit = emit
        self._pending: list[tuple[Points, list[Array]]] = []
        self._by: list[np.ufunc] = []
        self._merged = 0

    def add(self, points: Points, values: Sequence[Reduction]) -> None:
        """One more piece; the first axis of the values is that of the points."""
        self._by = [by for by, _ in values]
        piece = self._reduced(Points(self._indices, points.rows(self._indices)), [a for _, a in values])
        if self._pending and self._indices and piece[0].count:
            before = max(int(p.coords[0].max(initial=-1)) for p, _ in self._pending)
            if int(piece[0].coords[0].min()) > before:
                self.finish()
        self._pending.append(piece)
        if sum(p.count for p, _ in self._pending) > 2 * self._merged + (1 << 16):
            self._merge()

    def finish(self) -> None:
        """Gives what is left."""
        self._merge()
        self._emit(*self._pending[0])
        self._pending, self._merged = [], 0

    def _merge(self) -> None:
        if len(self._pending) > 1:
            coords = np.concatenate([points.coords for points, _ in self._pending], axis=1)
            columns = zip(*(arrays for _, arrays in self._pending), strict=True)
            values = [np.concatenate(column) for column in columns]
            self._pending = [self._reduced(Points(self._indices, coords), values)]
        self._merged = self._pending[0][0].count

    def _reduced(self, points: Points, values: Sequence[Array]) -> tuple[Points, list[Array]]:
        if not points.count:
            return points, list(values)
        lookup = Lookup(points.coords, self._extents)
        starts, order = lookup.starts(), lookup.order
        if len(starts) == points.count and order is None:
            return points, list(values)
        sums = [
            by.reduceat(a if order is None else a[order], starts, axis=0)
            for by, a in zip(self._by, values, strict=True)
        ]
        return Points(self._indices, points.coords[:, lookup.distinct()]), sums


Gather: TypeAlias = Callable[[Access], Array]
"""Gives a tensor's elements at some points."""


class Contraction:
    """Expressions over the indices `kept` and `reduced`, and what is reduced of them to `kept`.

    Args:
        leaves: the tensors that the expressions read, over indices.
        extents: of every index.
    """

    def __init__(
        self,
        domain: Domain,
        leaves: Mapping[Access, Relation],
        extents: Mapping[str, int],
        kept: Sequence[str],
        reduced: Sequence[str],
    ) -> None:
        self.domain = domain
        self.leaves = leaves
        self.extents = extents
        self.kept = tuple(kept)
        self.reduced = tuple(reduced)
        self.indices = (*kept, *reduced)

    def reduce(
        self,
        operands: Sequence[Expr],
        sets: Sequence[Points],
        reductions: Callable[[Gather, tuple[int, ...]], list[Reduction]],
        finished: Callable[[Sequence[Array], Gather], Array],
    ) -> Relation:
        """Reduces what is computed at all points to the indices that are kept.

        Args:
            operands: what is computed; those that are not tensors, element by element.
            sets: points outside of which nothing is reduced.
            reductions: what is reduced, from elements and the axes that are reduced at each point.
            finished: the elements of a result, from what was reduced, and last how many points each is made
                of.
        """
        rank = len(self.indices)
        reads = {access for operand in operands for access in accesses(operand)}
        bounding = distinct(sets)
        arrays = [self.leaves[access].indices for access in reads]
        arrays += [free_indices(operand) for operand in operands if not isinstance(operand, Access)]
        arrays.append(tuple(index for index in self.kept if any(index in array for array in arrays)))
        indices, pieces = in_pieces(bounding, arrays, self.kept, self.extents)
        inside = [index for index in self.reduced if index not in indices]
        axes = tuple(self.indices.index(index) - rank for index in inside)
        kept = [index for index in self.kept if index in indices]
        results: list[tuple[Points, Array]] = []
        state = _Operands(self)

        def emit(points: Points, found: Sequence[Array]) -> None:
            array = finished(found, state.at(points))
            # The indices that are kept come first; the others have extent 1 by now.
            results.append((points, array.reshape(array.shape[: array.ndim - rank + len(self.kept)])))

        groups = Groups(kept, self.extents, emit)
        count = prod(self.extents[index] for index in inside)
        for points in pieces:
            found = [(by, wide(a, points.count, rank)) for by, a in reductions(state.at(points), axes)]
            found.append((np.add, np.full((points.count, *(1,) * rank), count)))
            if len(kept) == len(indices):
                # Every point is a result of its own.
                emit(points, [array for _, array in found])
            else:
                groups.add(points, found)
        if len(kept) < len(indices):
            groups.finish()
        return self.assembled(results)

    def assembled(self, found: Sequence[tuple[Points, Array]]) -> Relation:
        """The pieces of a result as one relation; their axes are those of the indices that are kept."""
        indices = found[0][0].indices
        coords = np.concatenate([points.rows(indices) for points, _ in found], axis=1)
        rank = len(self.kept)
        arrays = []
        for points, array in found:
            lead = array.ndim - 1 - rank
            shape = (
                *array.shape[:lead],
                points.count,
                *(
                    n if i in indices else self.extents[i]
                    for i, n in zip(self.kept, array.shape[lead + 1 :], strict=True)
                ),
            )
            arrays.append((lead, np.broadcast_to(array, shape)))
        lead = arrays[0][0]
        values = (
            arrays[0][1] if len(arrays) == 1 else np.concatenate([array for _, array in arrays], axis=lead)
        )
        dense = tuple(index for index in self.kept if index not in indices)
        values = values.reshape((*values.shape[: lead + 1], *(self.extents[index] for index in dense)))
        extents = {index: self.extents[index] for index in self.kept}
        return Relation(Points(indices, coords), dense, values, extents)

    def gathering(self) -> Callable[[Points], Gather]:
        """What gives the elements of tensors, for some points after others."""
        return _Operands(self).at

    def element(self, expr: Expr, gather: Gather) -> Array:
        """The elements of `expr` at some points."""
        domain = self.domain
        match expr:
            case Access():
                return gather(expr)
            case Literal(value):
                number = domain.number(value)
                return number.reshape((*number.shape, *(1,) * (1 + len(self.indices))))
            case Neg(operand):
                return domain.negate(self.element(operand, gather))
            case Add(left, right):
                return domain.add(self.element(left, gather), self.element(right, gather))
            case Sub(left, right):
                return self.difference(left, right, gather)
            case Mul():
                factors = list(factors_of(expr))
                found = [self.element(factor, gather) for factor in factors]
                return domain.product(found, whole=[self.is_whole(factor) for factor in factors])
            case Div(left, right):
                above, below = self.element(left, gather), self.element(right, gather)
                return domain.product([above], [below], whole=[self.is_whole(left)])
            case Call(arguments=arguments):
                return domain.call(expr.called, [self.element(argument, gather) for argument in arguments])
        raise TypeError(f"'{expr}' has no elements")

    def difference(self, left: Expr, right: Expr, gather: Gather) -> Array:
        """left - right, which is exact where both are one and the same element."""
        domain = self.domain
        a, b = self.element(left, gather), self.element(right, gather)
        found = domain.add(a, domain.negate(b))
        if not (isinstance(left, Access) and isinstance(right, Access)):
            return found
        one, other = self.leaves[left].provenance, self.leaves[right].provenance
        if one is None or other is None or (one.source, one.rows) != (other.source, other.rows):
            return found
        is_same = gather(provenance_of(left)) == gather(provenance_of(right))
        return np.where(
            is_same.all(tuple(range(is_same.ndim - 1 - len(self.indices)))), domain.minus_itself(a), found
        )

    def is_whole(self, expr: Expr) -> bool:
        """Whether no sum can be taken apart in an expression, together with what it is multiplied by. A sum
        that a statement has computed can be, in a program that is one region."""
        match expr:
            case Access():
                return self.leaves[expr].plain
            case Neg() | Mul() | Div():
                return all(map(self.is_whole, expr.children))
        return True


def provenance_of(access: Access) -> Access:
    """What stands for the provenance of an access's elements. No tensor of a program has such a name."""
    return Access.of(f"provenance of {access.tensor}", access.names)


class _Operands:
    """The elements of tensors at points, with what it takes to find them."""

    def __init__(self, contraction: Contraction) -> None:
        self.contraction = contraction
        self.lookups: dict[Access, dict[tuple[str, ...], Lookup]] = {}
        self.constants: dict[Access, Array] = {}

    def at(self, points: Points) -> Gather:
        return lambda access: self.gather(access, points)

    def gather(self, access: Access, points: Points) -> Array:
        relation = self.contraction.leaves[access]
        is_constant = not set(relation.indices).intersection(points.indices)
        if is_constant and access in self.constants:
            return self.constants[access]
        places = Points.everything() if is_constant else points
        array = gathered(relation, places, self.contraction.indices, self.lookups.setdefault(access, {}))
        if relation.plain:
            array = self.contraction.domain.exact(array)
        if is_constant:
            self.constants[access] = array
        return array


def wide(array: Array, count: int, rank: int) -> Array:
    """With a first axis for every point."""
    array = np.asarray(array)
    shape = (1,) * (rank + 1 - array.ndim) + array.shape
    return np.broadcast_to(array.reshape(shape), (count, *shape[1:]))
