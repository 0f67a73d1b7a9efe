"""Where a statement's result may be stored, from where its operands are: the sparsity patterns.

A pattern is an upper bound for every format, order and region. It follows what streams do: nothing cancels,
and a sum of operands with different indices has a value all along those that one of them lacks, since a
stream does not know there where the other one is zero. Time and memory follow what is stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from math import prod

import numpy as np
from numpy.typing import NDArray

from samhw.graph.numerics.operations import vanishes
from samhw.lang.expr import Access, Add, Call, Concat, Div, Expr, Literal, Mul, Neg, Reshape, Sub
from samhw.lang.program import Program
from samhw.lang.statement import Statement
from samhw.lang.traverse import factors_of, free_indices, signed_terms
from samhw.tensors import Tensor
from samhw.tensors.formats.arrays import run_starts
from samhw.tensors.storage import sort_order

__all__ = ["Pattern", "result_patterns", "stored_pattern"]

Coordinates = NDArray[np.int64]

_MOST_AT_ONCE = 1 << 24
"""How many pairs of entries of two factors are looked at at a time."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Coordinates over the `sparse` ones of some indices, and at each of them everything along the others.

    Attributes:
        indices: all of them.
        coords: distinct, of shape (len(sparse), n). A pattern with no sparse indices and n = 1 is everything,
            and one with n = 0 nothing.
    """

    indices: frozenset[str]
    sparse: tuple[str, ...]
    coords: Coordinates

    @classmethod
    def everything(cls, indices: Collection[str]) -> "Pattern":
        """Every coordinate."""
        return cls(frozenset(indices), (), np.zeros((0, 1), np.int64))

    @classmethod
    def nothing(cls, indices: Collection[str]) -> "Pattern":
        """No coordinate."""
        return cls(frozenset(indices), (), np.zeros((0, 0), np.int64))

    @property
    def is_empty(self) -> bool:
        """There is nothing."""
        return len(self.coords.T) == 0

    def count(self, extents: Mapping[str, int]) -> int:
        """How many coordinates there are, for the extents of the indices."""
        return len(self.coords.T) * prod(extents[i] for i in self.indices.difference(self.sparse))

    def over(self, indices: Collection[str]) -> "Pattern":
        """The same with further indices, along which there is everything."""
        return replace(self, indices=self.indices.union(indices))

    def onto(self, indices: Collection[str]) -> "Pattern":
        """What is left when all other indices are left out."""
        kept = [n for n, index in enumerate(self.sparse) if index in indices]
        sparse = tuple(self.sparse[n] for n in kept)
        coords = self.coords if len(kept) == len(self.sparse) else _distinct(self.coords[kept])
        return Pattern(self.indices.intersection(indices), sparse, coords)

    def in_blocks(self, sizes: Mapping[str, int]) -> "Pattern":
        """The blocks in which there is something; `sizes` are those of blocks along the indices."""
        divisors = np.array([sizes[i] for i in self.sparse], np.int64)[:, None]
        return replace(self, coords=_distinct(self.coords // divisors) if self.sparse else self.coords)

    def renamed(self, names: Mapping[str, str]) -> "Pattern":
        """The same under other names of the indices."""
        return Pattern(
            frozenset(names[i] for i in self.indices), tuple(names[i] for i in self.sparse), self.coords
        )


def stored_pattern(tensor: Tensor, indices: Sequence[str]) -> Pattern:
    """Where a tensor stores something, be it zero; `indices` name its modes."""
    if tensor.format.is_all_dense:
        return Pattern.everything(indices)
    coords, _ = tensor.to_coo()
    if coords.shape[1] == prod(tensor.shape):
        return Pattern.everything(indices)
    return Pattern(frozenset(indices), tuple(indices), coords)


def result_patterns(program: Program, inputs: Mapping[str, Tensor]) -> dict[str, Pattern]:
    """Where each result of a program may be stored, by name; indices are those of its declaration.

    Args:
        program: with all extents known.
        inputs: a tensor for each input.
    """
    known = {name: stored_pattern(tensor, program.tensors[name].indices) for name, tensor in inputs.items()}
    results = {}
    for statement in program.statements:
        decl = program.tensors[statement.lhs.tensor]
        if not decl.rank or decl.format.of_blocks.stores_fill or not statement.lhs.is_plain:
            # A dense level inside of all others stores its zeros; an index that is computed may reach all.
            found = Pattern.everything(decl.indices)
        else:
            found = _Walk(program, statement, known).result()
            found = found.renamed(dict(zip(statement.lhs.names, decl.indices, strict=True)))
        known[decl.name] = results[decl.name] = found
    return results


Operand = Pattern | int | float


class _Walk:
    """Over the expression of a statement. A number of the text stays a number."""

    def __init__(self, program: Program, statement: Statement, known: Mapping[str, Pattern]) -> None:
        self.program = program
        self.statement = statement
        self.known = known

    def result(self) -> Pattern:
        statement = self.statement
        kept = statement.lhs.names
        match statement.rhs:
            case Reshape():
                return Pattern.everything(kept)
            case Concat():
                return self.concatenation(statement.rhs)
        mask = None if statement.mask is None else self.access(statement.mask)
        if statement.counts_zeros:
            # Something wherever it sees a point, even if it sees zeros only.
            return (mask or Pattern.everything(kept)).onto(kept).over(kept)
        if mask is None:
            return _pattern(self.sum(statement.rhs, kept)).over(kept)
        # Each term has the indices that the mask is summed over, and is restricted before.
        inner = mask.indices.difference(kept)
        seen = [*kept, *inner]
        if len({frozenset(free_indices(term)) for _, term in signed_terms(statement.rhs)}) > 1:
            # One that lacks an index has a point, zero or not, wherever the mask has one below a row of any.
            return _product([Pattern.everything(seen), mask], kept)
        whole = _pattern(self.sum(statement.rhs, seen))
        return _product([whole.over(seen), mask], kept)

    def access(self, access: Access) -> Pattern:
        if not access.is_plain:
            return Pattern.everything(access.variables)
        names = self.program.tensors[access.tensor].indices
        return self.known[access.tensor].renamed(dict(zip(names, access.names, strict=True)))

    def sum(self, expr: Expr, kept: Collection[str]) -> Operand:
        """The sum of all terms, each over those of its own indices that are not kept."""
        match expr:
            case Add(left, right) | Sub(left, right):
                return _joint([self.sum(left, kept), self.sum(right, kept)])
            case Neg(operand):
                return self.sum(operand, kept)
        return self.product(expr, kept)

    def product(self, expr: Expr, kept: Collection[str]) -> Operand:
        factors = [self.element(factor) for factor in factors_of(expr)]
        if not any(isinstance(factor, Pattern) for factor in factors):
            return int(all(factors))
        return _product([_pattern(factor) for factor in factors], kept)

    def element(self, expr: Expr) -> Operand:
        match expr:
            case Access():
                return self.access(expr)
            case Literal(value):
                return value
            case Neg(operand):
                return self.element(operand)
            case Add(left, right) | Sub(left, right):
                return _joint([self.element(left), self.element(right)])
            case Mul():
                return self.product(expr, free_indices(expr))
            case Div(left, right):
                return _pattern(self.element(left)).over(free_indices(right))
            case Call(function, arguments):
                return self.call(function, [self.element(argument) for argument in arguments])
        raise TypeError(f"'{expr}' has no elements")

    def call(self, function: str, arguments: list[Operand]) -> Operand:
        numbers = [None if isinstance(a, Pattern) else a for a in arguments]
        indices = frozenset[str]().union(*(a.indices for a in arguments if isinstance(a, Pattern)))
        if not vanishes(function, numbers):
            return Pattern.everything(indices)
        streams = [a for a in arguments if isinstance(a, Pattern)]
        if function == "select" and not numbers[1] and len(streams) > isinstance(arguments[0], Pattern):
            # Zero where both branches are, whatever the condition.
            streams = [a for a in arguments[1:] if isinstance(a, Pattern)]
        return _pattern(_joint(streams or [0])).over(indices)

    def concatenation(self, concat: Concat) -> Pattern:
        """The parts, each after those before it."""
        parts = [self.access(access) for access in concat.operands]
        if any(concat.index in part.sparse for part in parts):
            extents = [self.extent(access, concat.index) for access in concat.operands]
            parts = [_listed(part, concat.index, n) for part, n in zip(parts, extents, strict=True)]
            starts = [0, *accumulate(extents)]
            parts = [_shifted(part, concat.index, start) for part, start in zip(parts, starts, strict=False)]
        return _pattern(_joint(parts))

    def extent(self, access: Access, index: str) -> int:
        extent = self.program.tensors[access.tensor].shape[access.names.index(index)]
        assert extent is not None
        return extent


def _pattern(operand: Operand) -> Pattern:
    """A number's pattern: everything, unless it is zero."""
    if isinstance(operand, Pattern):
        return operand
    return Pattern.everything(()) if operand else Pattern.nothing(())


def _joint(operands: Sequence[Operand]) -> Operand:
    """What is zero where all operands are, such as a sum."""
    streams = [o for o in operands if isinstance(o, Pattern)]
    numbers = [o for o in operands if not isinstance(o, Pattern)]
    if not streams:
        return 1 if any(numbers) else 0
    indices = frozenset[str]().union(*(s.indices for s in streams))
    common = frozenset.intersection(*(s.indices for s in streams))
    if any(numbers) or (indices and not common):
        return Pattern.everything(indices)
    return reduce(_either, (s.onto(common) for s in streams)).over(indices)


def _either(a: Pattern, b: Pattern) -> Pattern:
    """What is in one of two patterns over the same indices."""
    if a.is_empty or b.is_empty:
        return b if a.is_empty else a
    sparse = tuple(i for i in a.sparse if i in b.sparse)
    coords = np.concatenate([_along(p, sparse) for p in (a, b)], axis=1)
    return Pattern(a.indices, sparse, _distinct(coords))


def _along(pattern: Pattern, indices: Sequence[str]) -> Coordinates:
    """The coordinates along some of the sparse indices, in that order."""
    return pattern.coords[[pattern.sparse.index(index) for index in indices]]


def _product(factors: Sequence[Pattern], kept: Collection[str]) -> Pattern:
    """What is in all factors, reduced to the indices that are kept, each as soon as none needs it."""
    result = Pattern.everything(())
    for n, factor in enumerate(factors):
        needed = {*kept}.union(*(later.indices for later in factors[n + 1 :]))
        alone = factor.onto(needed.union(result.indices))
        result = _both(result, alone, needed)
    return result


def _both(a: Pattern, b: Pattern, kept: Collection[str]) -> Pattern:
    """What is in both, reduced to the indices that are kept."""
    for whole, other in ((a, b), (b, a)):
        if not whole.sparse and not whole.is_empty:  # There is nothing to be joined.
            return replace(other, indices=a.indices | b.indices).onto(kept)
    common = [index for index in a.sparse if index in b.sparse]
    own = [n for n, index in enumerate(b.sparse) if index not in common]
    sparse = (*a.sparse, *(b.sparse[n] for n in own))
    left, right = _keys(_along(a, common), _along(b, common))
    order = np.argsort(right, kind="stable")
    first, last = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    ends = np.cumsum(last - first)
    pieces = []
    start = 0
    while start < len(left):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _MOST_AT_ONCE, "right")))
        counts = (last - first)[start:stop]
        entry = np.repeat(np.arange(start, stop), counts)
        offset = np.arange(len(entry)) - np.repeat(ends[start:stop] - counts - done, counts)
        partner = order[np.repeat(first[start:stop], counts) + offset]
        coords = np.concatenate([a.coords[:, entry], b.coords[own][:, partner]])
        pieces.append(Pattern(a.indices | b.indices, sparse, coords).onto(kept))
        start = stop
    if not pieces:
        return Pattern.nothing(a.indices.union(b.indices).intersection(kept))
    if len(pieces) == 1:
        return pieces[0]
    return replace(pieces[0], coords=_distinct(np.concatenate([p.coords for p in pieces], axis=1)))


def _keys(a: Coordinates, b: Coordinates) -> tuple[Coordinates, Coordinates]:
    """A number for each column, equal for equal columns."""
    both = np.concatenate([a, b], axis=1)
    order = sort_order(both, _sizes(both))
    keys = np.empty(both.shape[1], np.int64)
    keys[order] = np.cumsum(run_starts(both.shape[1], *both[:, order]))
    return keys[: a.shape[1]], keys[a.shape[1] :]


def _distinct(coords: Coordinates) -> Coordinates:
    """Each column once."""
    coords = coords[:, sort_order(coords, _sizes(coords))]
    return coords[:, run_starts(coords.shape[1], *coords)]


def _sizes(coords: Coordinates) -> tuple[int, ...]:
    return tuple(int(row.max(initial=0)) + 1 for row in coords)


def _listed(part: Pattern, index: str, extent: int) -> Pattern:
    """The same with every coordinate of an index by itself."""
    if index in part.sparse:
        return part
    count = part.coords.shape[1]
    coords = np.concatenate([np.repeat(part.coords, extent, axis=1), np.tile(np.arange(extent), (1, count))])
    return Pattern(part.indices, (*part.sparse, index), coords)


def _shifted(part: Pattern, index: str, distance: int) -> Pattern:
    coords = part.coords.copy()
    coords[part.sparse.index(index)] += distance
    return replace(part, coords=coords)
