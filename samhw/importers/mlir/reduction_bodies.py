"""Which reduction the body of an operation makes, and what of it may follow a sum."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from samhw.importers.core import Value
from samhw.importers.mlir.idioms import call, difference, number_of, product, sum_of
from samhw.importers.mlir.lowered_functions import (
    NUMBERS_ONLY,
    UNSIGNED,
    flipped,
    numbers_only,
    or_infinite,
    unsigned_extreme,
)
from samhw.importers.mlir.number_system import MARKED_WORD
from samhw.lang.expr import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.traverse import accesses, factors_of, free_indices, rewritten

__all__ = [
    "BodyReduction",
    "is_condition",
    "is_factor_product",
    "masks",
    "reduction_of",
    "replaced",
    "unsampled",
]

Combine = Callable[[Expr, Expr], Expr]


@dataclass(frozen=True)
class BodyReduction:
    """What a body makes of what it has and of the loops that are reduced: a reduction of terms.

    Attributes:
        width: of the words of which it keeps the lowest bits; 0 where results are numbers as they are.
        flipped: the width of words that are taken with their highest bit inverted; 0 for none.
        combine: makes the whole of what the terms give and of what was there; None for what the kind says.
    """

    kind: str
    term: Expr
    width: int = 0
    flipped: int = 0
    combine: Combine | None = None


def _kept(kind: str, total: Expr, first: Expr) -> Expr:
    """What replaces what is there where a comparison says so, which is 0 for NaN."""
    less = (first, total) if kind == "max" else (total, first)
    return Call("select", (call("lt", *less), total, first))


def _of_words(kind: str, total: Expr, first: Expr) -> Expr:
    return unsigned_extreme(Call(UNSIGNED[kind], (total, first, Literal(0))))


def _of_numbers(kind: str, total: Expr, first: Expr) -> Expr:
    return numbers_only(Call(NUMBERS_ONLY[kind], (total, first)))


def is_condition(expr: Expr) -> bool:
    """Whether an expression is 0 or 1, and so any power of itself."""
    return number_of(expr) in (0, 1) or (isinstance(expr, Call) and expr.function in ("eq", "lt", "le"))


def is_factor_product(expr: Expr) -> bool:
    """Whether a sum may stand outside of it: a product of tensors, numbers and functions."""
    match expr:
        case Mul(left, right):
            return is_factor_product(left) and is_factor_product(right)
        case Neg(operand):
            return is_factor_product(operand)
        case Div(left, right):
            return is_factor_product(left) and isinstance(right, Access | Literal)
    return isinstance(expr, Access | Literal | Call)


def reduction_of(expr: Expr, out: str) -> BodyReduction | None:
    """The reduction that an expression makes of what is there and of a term."""

    def has(part: Expr) -> bool:
        return any(access.tensor == out for access in accesses(part))

    def is_out(part: Expr) -> bool:
        return isinstance(part, Access) and part.tensor == out

    match expr:
        case Call(function, (inner_expr, Literal(value=width), _)) if function == MARKED_WORD:
            # Sums and products modulo a range may be taken modulo it in the end.
            inner = reduction_of(inner_expr, out)
            return replace(inner, width=int(width)) if inner and inner.kind in ("sum", "prod") else None
        case Call("select", (Call("lt" | "le", (less, more)), yes, no)) if is_out(no) and not has(yes):
            # NaN does not replace what is there; where that begins as a number, it stays one.
            kind = "max" if (less, more) == (no, yes) else "min" if (less, more) == (yes, no) else None
            return BodyReduction(kind, or_infinite(kind, yes), combine=partial(_kept, kind)) if kind else None
        case Call("select", (condition, yes, no)) if is_out(no) and not has(condition):
            # What is there stays where the condition does not hold.
            inner = reduction_of(yes, out)
            if inner is None or inner.kind != "sum":
                return None
            return BodyReduction("sum", call("select", condition, inner.term, Literal(0)))
        case Add() | Sub():
            signed = list(_signed_terms(expr))
            others = [(sign, part) for sign, part in signed if not is_out(part)]
            if [sign for sign, part in signed if is_out(part)] != [1] or not others:
                return None
            if any(has(part) for _, part in others):
                return None
            (sign, total), *rest = others
            total = total if sign > 0 else difference(Literal(0), total)
            for sign, part in rest:
                total = sum_of(total, part) if sign > 0 else difference(total, part)
            return BodyReduction("sum", total)
        case Mul():
            factors = list(factors_of(expr))
            left = [factor for factor in factors if not is_out(factor)]
            if len(left) != len(factors) - 1 or not left or any(map(has, left)):
                return None
            return BodyReduction("prod", reduce(product, left))
        case Call(function, (a, b, *bits)):
            for one, other in ((a, b), (b, a)):
                if not has(other) and (found := _extreme_of(function, one, other, bits, out)):
                    return found
    return None


def _extreme_of(
    function: str, one: Expr, other: Expr, bits: Sequence[Expr], out: str
) -> BodyReduction | None:
    """The reduction by a greatest or least of something in which what is there is, and of something else."""
    is_out = isinstance(one, Access) and one.tensor == out
    for kind in ("max", "min"):
        if function == kind:
            inner = BodyReduction(kind, other) if is_out else reduction_of(one, out)
            if is_out or inner is None or inner.kind != kind:
                return inner if is_out else None
            return BodyReduction(kind, call(kind, inner.term, other))
        if is_out and function == UNSIGNED[kind]:
            width = int(number_of(bits[0]) or 0)
            return BodyReduction(kind, flipped(other, width), 0, width, partial(_of_words, kind))
        if is_out and function == NUMBERS_ONLY[kind]:
            return BodyReduction(kind, or_infinite(kind, other), combine=partial(_of_numbers, kind))
    return None


def replaced(expr: Expr, part: Expr, by: Expr) -> Expr:
    """An expression with another one in the place of a part."""
    return rewritten(expr, lambda node: by if node == part else node)


def masks(value: Value, stored: Expr) -> bool:
    """Whether a value is something where an expression is not zero, and zero elsewhere."""
    match value.expr:
        case Call("select", (condition, term, other)) if condition == stored and number_of(other) == 0:
            return set(free_indices(stored)) <= set(free_indices(term))
    return False


def unsampled(expr: Expr, out: str) -> Expr:
    """What is computed where the output is not zero, for an expression that has zero elsewhere, as in a
    sampled product of matrices."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Call) and node.function == "select" and node.arguments[0] == Access(out):
            _, term, other = node.arguments
            return term if number_of(other) == 0 else node
        return node

    return rewritten(expr, change)


def _signed_terms(expr: Expr, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    match expr:
        case Add(left, right):
            yield from _signed_terms(left, sign)
            yield from _signed_terms(right, sign)
        case Sub(left, right):
            yield from _signed_terms(left, sign)
            yield from _signed_terms(right, -sign)
        case _:
            yield sign, expr
