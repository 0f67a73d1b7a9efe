"""Finite rank: a sum that comes apart into several, whose results are joined after them."""

from dataclasses import dataclass

import sympy

from samhw.lang import Access, Expr, accesses
from samhw.lang.cascade.decompose import FiniteRank, finite_rank
from samhw.lang.cascade.reductions import Reduced, RegionReductions
from samhw.lang.cascade.symbols import from_symbols, symbol, to_symbols

__all__ = ["RankTerm", "terms_by"]


@dataclass(frozen=True)
class RankTerm:
    """A product of a part of the elements, which is summed, and a part of earlier results."""

    elements: Expr
    results: Expr


def terms_by(
    known: RegionReductions, reduced: Reduced, result: Access
) -> tuple[FiniteRank, list[RankTerm]] | None:
    """The sums that a sum comes apart into by an earlier result; None if it does not.

    What the region computes element by element without that result stays what it is called.
    """
    operand = known.expanded(reduced.statement.rhs, reduced.statement, reduced.index, only=result)
    read = {str(access): access for access in dict.fromkeys(accesses(operand))}
    expr = to_symbols(operand, lambda access: symbol(str(access)))
    elements = [symbol(name) for name, access in read.items() if access != result]
    found = finite_rank(expr, elements, symbol(str(result)))
    if found is None:
        return None
    terms = []
    for part, rest in found.terms:
        one, other = from_symbols(sympy.sympify(part), read), from_symbols(sympy.sympify(rest), read)
        if one is None or other is None:
            return None
        terms.append(RankTerm(one, other))
    return found, terms
