"""Whether what is reduced comes apart into a part of the elements and a part of earlier results.

The test is that of RedFuser (Tang et al., "RedFuser", section 3.2): with fixed points x0 and d0,
F(x, d) = G(x) ⊗ H(d) if and only if F(x, d) ⊗ F(x0, d0) = F(x, d0) ⊗ F(x0, d), where ⊗ is the product for
sums, and the sum for maxima. Where it fails, a sum of products in the elements is several sums, which are
joined in the end (its *finite rank*).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sympy

from samhw.cascade.symbols import Symbolic, from_symbols, symbol
from samhw.frontend import Access, Expr

__all__ = ["Decomposed", "FiniteRank", "decompose", "finite_rank"]


@dataclass(frozen=True)
class Decomposed:
    """F(x, d) = G(x) ⊗ H(d), of one earlier result d. `point` is a d at which H changes nothing."""

    elements: Symbolic
    results: Symbolic
    point: int

    @property
    def is_rational(self) -> bool:
        """H has no functions, so that G is as great as F up to a number."""
        return bool(self.results.is_rational_function())

    def factor(self, now: Access, then: Access) -> Expr:
        """H(now) / H(then): what a sum with one result needs to be that with another."""
        (result,) = self.results.free_symbols
        read = {str(access): access for access in (now, then)}
        after, before = (self.results.subs(result, symbol(name)) for name in map(str, (now, then)))
        expr = from_symbols(sympy.powsimp(sympy.simplify(after / before)), read)
        assert expr is not None
        return expr

    def __str__(self) -> str:
        return f"G = {self.elements}, H = {self.results}"


@dataclass(frozen=True)
class FiniteRank:
    """F is the sum of these products of a part of the elements and a part of the results."""

    terms: tuple[tuple[Symbolic, Symbolic], ...]

    def __str__(self) -> str:
        return " + ".join(f"({results})·({elements})" for elements, results in self.terms)


def decompose(
    expr: Symbolic, reduction: str, elements: Sequence[Symbolic], result: Symbolic
) -> Decomposed | FiniteRank | None:
    """How an expression comes apart by an earlier result; None if it does not.

    Args:
        expr: F.
        reduction: `sum`, `max` or `min`.
        elements: all symbols of F but the result, x.
        result: d.
    """
    fixed = {x: sympy.Dummy(x.name, **x.assumptions0) for x in elements}
    point = sympy.Dummy(result.name, **result.assumptions0)
    at_elements = expr.subs(fixed, simultaneous=True)
    at_result, at_both = expr.subs(result, point), at_elements.subs(result, point)
    is_sum = reduction == "sum"
    if is_sum:
        difference = expr * at_both - at_result * at_elements
    else:
        difference = expr + at_both - at_result - at_elements
    if _is_zero(difference):
        return _at_a_point(expr, at_elements, result, is_sum)
    return finite_rank(expr, elements, result) if is_sum else None


def _at_a_point(expr: Symbolic, at_elements: Symbolic, result: Symbolic, is_sum: bool) -> Decomposed | None:
    """G and H for the first of some points at which both are numbers."""
    for point in (0, 1):
        here = at_elements.subs(result, point)
        if here.has(sympy.zoo, sympy.nan, sympy.oo) or (is_sum and here == 0):
            continue
        h = sympy.simplify(at_elements / here if is_sum else at_elements - here)
        if h.free_symbols <= {result}:
            return Decomposed(sympy.simplify(expr.subs(result, point)), h, point)
    return None


def finite_rank(expr: Symbolic, elements: Sequence[Symbolic], result: Symbolic) -> FiniteRank | None:
    """A polynomial in the elements, whose coefficients the result gives, or one in the result, whose
    coefficients the elements give; None if it is neither. Arguments as for `decompose`."""
    return _polynomial(expr, elements) or _polynomial(expr, [result], is_result=True)


def _polynomial(expr: Symbolic, symbols: Sequence[Symbolic], *, is_result: bool = False) -> FiniteRank | None:
    try:
        polynomial = sympy.Poly(sympy.expand(expr), *symbols)
    except sympy.PolynomialError:
        return None
    terms = []
    for powers, coefficient in polynomial.terms():
        if coefficient.free_symbols.intersection(symbols):
            return None
        product = sympy.Mul(*(x**n for x, n in zip(symbols, powers, strict=True)))
        terms.append((coefficient, product) if is_result else (product, coefficient))
    return FiniteRank(tuple(terms))


def _is_zero(expr: Symbolic) -> bool:
    expanded = sympy.powsimp(sympy.expand(expr))
    return bool(expanded == 0 or sympy.simplify(expanded) == 0)
