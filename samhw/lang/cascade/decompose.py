"""Whether what is reduced comes apart into a part of the elements and a part of earlier results.

The test is that of RedFuser (Tang et al., "RedFuser", section 3.2): with fixed points x0 and d0, F(x, d) =
G(x) ⊗ H(d) if and only if F(x, d) ⊗ F(x0, d0) = F(x, d0) ⊗ F(x0, d), where ⊗ is the product for sums, and the
sum for maxima. Where it fails, a sum of products in the elements is several sums, which are joined in the end
(its *finite rank*).

Finite rank: a sum that comes apart into several, whose results are joined after them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import sympy
from sympy.core.function import AppliedUndef

from samhw.lang import Access, Expr, accesses
from samhw.lang.cascade.region_reductions import Reduced, RegionReductions
from samhw.lang.cascade.symbols import Symbolic, from_symbols, symbol, to_symbols

__all__ = ["Decomposed", "FiniteRank", "RankTerm", "decompose", "terms_by"]

_MOST_OPERATIONS = 100
"""Of what SymPy is to simplify, which may take it minutes. No built-in program has more than 30."""

_MOST_TERMS = 1000
"""Of what is multiplied out."""


@dataclass(frozen=True)
class Decomposed:
    """F(x, d) = G(x) ⊗ H(d), of one earlier result d. `point` is a d at which H changes nothing."""

    elements: Symbolic
    results: Symbolic
    point: int

    @property
    def is_deferred(self) -> bool:
        """H has no exponentials, so that G stays in the range where F does."""
        return not self.results.has(sympy.exp)

    @property
    def can_rescale(self) -> bool:
        """H is a number other than zero, whatever d is: a sum can be rescaled from any d to any other."""
        return _is_positive(self.results)

    def factor(self, now: Access, then: Access) -> Expr:
        """H(now) / H(then): what a sum with one result needs to be that with another."""
        (result,) = self.results.free_symbols
        read = {str(access): access for access in (now, then)}
        after, before = (self.results.subs(result, symbol(name)) for name in map(str, (now, then)))
        expr = from_symbols(sympy.powsimp(_simplified(after / before)), read)
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
    join = sympy.Mul if is_sum else sympy.Add
    if _is_equal(join(expr, at_both), join(at_result, at_elements)):
        return _at_a_point(expr, at_elements, result, is_sum)
    return finite_rank(expr, elements, result) if is_sum else None


def _at_a_point(expr: Symbolic, at_elements: Symbolic, result: Symbolic, is_sum: bool) -> Decomposed | None:
    """G and H for the first of some points at which both are numbers; None if there is none, or if a program
    cannot say H."""
    for point in (0, 1):
        here = at_elements.subs(result, point)
        if here.has(sympy.zoo, sympy.nan, sympy.oo) or (is_sum and here == 0):
            continue
        h = at_elements / here if is_sum else at_elements - here
        # SymPy's numbers are complex: as they are written, roots stay real.
        h = h if h.free_symbols <= {result} else _simplified(h)
        if h.free_symbols <= {result} and from_symbols(h, {result.name: Access.of(result.name)}) is not None:
            return Decomposed(_simplified(expr.subs(result, point)), h, point)
    return None


def finite_rank(expr: Symbolic, elements: Sequence[Symbolic], result: Symbolic) -> FiniteRank | None:
    """A polynomial in the elements, whose coefficients the result gives, or one in the result, whose
    coefficients the elements give; None if it is neither. Arguments as for `decompose`."""
    return _polynomial(expr, elements) or _polynomial(expr, [result], is_result=True)


def _polynomial(expr: Symbolic, symbols: Sequence[Symbolic], *, is_result: bool = False) -> FiniteRank | None:
    if _terms(expr) > _MOST_TERMS:
        return None
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


def _is_equal(one: Symbolic, other: Symbolic) -> bool:
    """Whether two expressions surely are. Numbers tell most that differ; the rest is left to SymPy, if it is
    small enough for that."""
    if _differ_in_numbers(one, other) or _terms(one) + _terms(other) > _MOST_TERMS:
        return False
    difference = sympy.powsimp(sympy.expand(one - other))
    return bool(difference == 0 or _simplified(difference) == 0)


def _differ_in_numbers(one: Symbolic, other: Symbolic) -> bool:
    """Whether two expressions have different values where all symbols are certain numbers, and a function
    that SymPy does not know is a certain one."""
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    numbers = {x: sympy.Float(0.4 + math.sqrt(n + 2) % 1) for n, x in enumerate(symbols)}
    left, right = (_stood_in(expr.xreplace(numbers)).evalf() for expr in (one, other))
    if not (left.is_number and right.is_number and left.is_finite and right.is_finite):
        return False
    return bool(abs(left - right) > 1e-6 * (abs(left) + abs(right)))


def _stood_in(expr: Symbolic) -> Symbolic:
    """An expression in which each unknown function of some arguments is a sine."""
    return expr.replace(
        lambda node: isinstance(node, AppliedUndef),
        lambda node: 2 + sympy.sin(sum((n + 2) * argument for n, argument in enumerate(node.args))),
    )


def _simplified(expr: Symbolic) -> Symbolic:
    """What SymPy simplifies an expression to, unless that could take it long."""
    return sympy.simplify(expr) if sympy.count_ops(expr) <= _MOST_OPERATIONS else expr


def _terms(expr: Symbolic) -> int:
    """About how many terms an expression has when it is multiplied out."""
    parts = [_terms(argument) for argument in expr.args]
    if expr.is_Mul:
        return math.prod(parts)
    if expr.is_Pow and expr.exp.is_Integer:
        power = min(abs(int(expr.exp)), _MOST_TERMS)
        return int(min(parts[0], _MOST_TERMS + 1) ** power)
    return max(1, sum(parts))


def _is_positive(expr: Symbolic) -> bool:
    """Whether it surely is a positive number, whatever its symbols are."""
    if expr.is_Add or expr.is_Mul:
        return all(map(_is_positive, expr.args))
    if expr.is_Pow and expr.exp.is_Integer:
        return _is_positive(expr.base)
    if expr.func == sympy.exp:
        return _is_finite(expr.args[0])
    return bool(expr.is_Number and expr.is_positive)


def _is_finite(expr: Symbolic) -> bool:
    """Whether it surely is a number, whatever its symbols are."""
    if expr.is_Add or expr.is_Mul or expr.func in (sympy.exp, sympy.Abs):
        return all(map(_is_finite, expr.args))
    if expr.is_Pow and expr.exp.is_Integer:
        return _is_finite(expr.base) if expr.exp > 0 else _is_positive(expr.base)
    return bool(expr.is_Symbol or expr.is_Number)


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
    operand = known.expanded(reduced.summed, reduced.statement, reduced.index, only=result)
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
