"""Statements over parts: where a tensor that is split is a factor, a term for each part."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product

from samhw.errors import InputError
from samhw.lang import (
    Access,
    Add,
    Div,
    Expr,
    IndexExpr,
    Mul,
    Neg,
    Recurrence,
    RunningReduction,
    Statement,
    Sub,
    TensorDecl,
    accesses,
    free_indices,
    with_accesses,
)
from samhw.lang.splits.partition import TensorSplit, factors
from samhw.lang.traverse import signed_terms
from samhw.names import Names

__all__ = ["MOST_STREAMS", "MOST_TERMS", "StatementsOverParts"]

MOST_STREAMS = 10
"""How many streams a union joins."""

MOST_TERMS = 96
"""Of a statement: an expression nests at most 100 deep, and each term lies a level deeper than the next."""

_Term = tuple[int, Expr]
"""A term of a sum, after its sign, 1 or -1."""


@dataclass(frozen=True)
class StatementsOverParts:
    """Makes statements over parts.

    Attributes:
        tensors: of the program that is made; partial sums are added.
        partitions: by tensor, its parts.
        names: of all tensors.
        stored: the results whose terms over parts are stored, each by itself, before they are added.
        sums: for each partial sum that was made, what it is a part of.
        added: the results that are sums of several terms over parts.
    """

    tensors: dict[str, TensorDecl]
    partitions: Mapping[str, TensorSplit]
    names: Names
    stored: Collection[str] = ()
    sums: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)

    def of(self, given: Statement) -> list[Statement]:
        """A statement over parts, after those that make the partial sums that it adds up.

        Raises:
            InputError: for more terms than a statement may have.
        """
        rhs = given.rhs
        if not any(access.tensor in self.partitions for access in accesses(rhs)):
            return [given]
        if given.reduction != "sum" or isinstance(rhs, RunningReduction | Recurrence):
            return [replace(given, rhs=self._whole(rhs))]
        terms = [(sign, term) for sign, outer in signed_terms(rhs) for term in self._expanded(outer)]
        if len(terms) > MOST_TERMS:
            raise InputError(
                f"'{given.lhs}' would be a sum of {len(terms)} terms, and can be one of {MOST_TERMS}; split "
                "into fewer parts."
            )
        over_parts = [term for term in terms if any(a.tensor in self._whole_of for a in accesses(term[1]))]
        found: list[Statement] = []
        if len(over_parts) > 1 and given.scan is None and (alone := _storable(given, terms, over_parts)):
            self.added.append(given.lhs.tensor)
            if given.lhs.tensor in self.stored:
                stored = {term: self._partial(given, [(1, term)], alone=True) for _, term in alone}
                found = [*stored.values()]
                terms = [(sign, stored[term].lhs if term in stored else term) for sign, term in terms]
                given = _behind_sums(given)
        while len(terms) > (most := self._most_together(terms)):
            groups = [terms[n : n + most] for n in range(0, len(terms), most)]
            if not all(_has_all(given, group) for group in groups):
                raise InputError(
                    f"'{given.lhs}' would be a sum of {len(terms)} terms, of which {most} can meet in one "
                    "place, and some of them lack an index of it; split into fewer parts."
                )
            partial = [self._partial(given, group) for group in groups]
            found += partial
            terms = [(1, one.lhs) for one in partial]
            given = _behind_sums(given)
        return [*found, replace(given, rhs=_sum(terms), order=None if found else given.order)]

    def _most_together(self, terms: Sequence[_Term]) -> int:
        """How many of some terms one statement is to add up. Where they meet, each brings a stream for what
        it alone reads, and there is one for each tensor that several of them read."""
        read = [set(accesses(term)) for _, term in terms]
        times = Counter(access for found in read for access in found)
        own = max(sum(times[access] == 1 for access in found) for found in read)
        shared = sum(count > 1 for count in times.values())
        most = max(2, (MOST_STREAMS - shared) // max(1, own))
        # So that the last one has not far fewer.
        return -(-len(terms) // -(-len(terms) // most))

    def _partial(self, given: Statement, terms: Sequence[_Term], *, alone: bool = False) -> Statement:
        """The sum of some of a statement's terms, as a statement of its own. One `alone` keeps only what its
        part has: other parts have the rest."""
        whole = self.tensors[given.lhs.tensor]
        name = self.names.fresh(f"{whole.name}_sum")
        fmt = whole.format
        for mode in range(whole.rank if alone else 0):
            fmt = fmt.compressed_in(mode)
        self.tensors[name] = replace(whole, name=name, format=fmt, span=None)
        self.sums[name] = whole.name
        made = replace(given, lhs=Access(name, given.lhs.indices), rhs=_sum(terms))
        return made if set(made.indices) == set(given.indices) else replace(made, order=None)

    def _expanded(self, e: Expr) -> Iterator[Expr]:
        """The terms of a product, one for each choice of parts. A sum in it stays one factor."""
        match e:
            case Access(tensor=tensor) if tensor in self.partitions:
                yield from (replace(e, tensor=part) for part in self.partitions[tensor].parts)
            case Mul(left, right):
                pairs = product(list(self._expanded(left)), list(self._expanded(right)))
                made = (replace(e, left=one, right=other) for one, other in pairs)
                yield from (term for term in made if not self._is_nothing(term))
            case Div(left, right):
                yield from (replace(e, left=one, right=self._whole(right)) for one in self._expanded(left))
            case Neg(operand):
                yield from (replace(e, operand=one) for one in self._expanded(operand))
            case _:
                yield self._whole(e)

    def _is_nothing(self, term: Expr) -> bool:
        """A term has two parts of a tensor as factors, each at the same coordinates: an entry is in one."""
        parts: dict[tuple[str, tuple[IndexExpr, ...]], set[str]] = {}
        for access in factors(term):
            if access.tensor in self._whole_of:
                parts.setdefault((self._whole_of[access.tensor], access.indices), set()).add(access.tensor)
        return any(len(found) > 1 for found in parts.values())

    @cached_property
    def _whole_of(self) -> dict[str, str]:
        """Of each part the tensor that is split."""
        return {part: name for name, split in self.partitions.items() for part in split.parts}

    def _whole(self, e: Expr) -> Expr:
        """The expression with the sum of all parts in the place of each tensor that is split."""

        def change(access: Access) -> Expr:
            if access.tensor not in self.partitions:
                return access
            parts = self.partitions[access.tensor].parts
            return _sum([(1, replace(access, tensor=part)) for part in parts])

        return with_accesses(e, change)


def _sums_mask(given: Statement) -> bool:
    """The mask has an index that the result lacks, so that its ones are added up with the terms."""
    return given.mask is not None and not set(given.mask.variables) <= set(given.lhs.variables)


def _storable(given: Statement, terms: Sequence[_Term], over_parts: Sequence[_Term]) -> Sequence[_Term]:
    """The terms that can be stored each: those over parts, or all where they meet a mask that is summed over.
    What lacks an index of the result is no result by itself."""
    if _sums_mask(given):
        return terms if all(_has_all(given, [term]) for term in terms) else ()
    return [term for term in over_parts if _has_all(given, [term])]


def _has_all(given: Statement, terms: Sequence[_Term]) -> bool:
    """Some terms, or the statement's mask, have all indices of the result."""
    found = {index for _, term in terms for index in free_indices(term)}
    return found.union(given.mask.variables if given.mask else ()).issuperset(given.lhs.variables)


def _behind_sums(given: Statement) -> Statement:
    """A statement whose terms are partial sums, which have met a mask that is summed over."""
    return replace(given, mask=None) if _sums_mask(given) else given


def _sum(terms: Sequence[_Term]) -> Expr:
    """Terms added up. A first one that is subtracted is negated."""
    (sign, first), *others = terms
    return reduce(_joined, others, first if sign > 0 else Neg(first))


def _joined(left: Expr, term: _Term) -> Expr:
    """A sum or difference with one operand more."""
    sign, right = term
    return Add(left, right) if sign > 0 else Sub(left, right)
