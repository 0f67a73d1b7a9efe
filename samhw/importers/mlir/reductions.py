"""Which reduction the body of an operation makes, and what of it may follow a sum."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from samhw.importers.core import Value
from samhw.importers.mlir.idioms import call, difference, number_of, product, sum_of
from samhw.importers.mlir.number_system import MARKED_WORD
from samhw.importers.mlir.numbers_only import NUMBERS_ONLY, numbers_only, or_infinite
from samhw.importers.mlir.unsigned_order import UNSIGNED, flipped, unsigned_extreme
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


_KEPT: Mapping[str, Combine] = {
    "max": lambda total, first: Call("select", (call("lt", first, total), total, first)),
    "min": lambda total, first: Call("select", (call("lt", total, first), total, first)),
}
"""What replaces what is there where a comparison says so, which is 0 for NaN."""
_OF_WORDS: Mapping[str, Combine] = {
    "max": lambda total, first: unsigned_extreme(Call(UNSIGNED["max"], (total, first, Literal(0)))),
    "min": lambda total, first: unsigned_extreme(Call(UNSIGNED["min"], (total, first, Literal(0)))),
}
_OF_NUMBERS: Mapping[str, Combine] = {
    "max": lambda total, first: numbers_only(Call(NUMBERS_ONLY["max"], (total, first))),
    "min": lambda total, first: numbers_only(Call(NUMBERS_ONLY["min"], (total, first))),
}


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
            return BodyReduction(kind, or_infinite(kind, yes), combine=_KEPT[kind]) if kind else None
        case Call("select", (condition, yes, no)) if is_out(no) and not has(condition):
            # What is there stays where the condition does not hold.
            inner = reduction_of(yes, out)
            if inner is not None and inner.kind == "sum":
                return BodyReduction("sum", call("select", condition, inner.term, Literal(0)))
            return None
    if isinstance(expr, Add | Sub):
        signed = list(_signed_terms(expr))
        mine = [sign for sign, part in signed if is_out(part)]
        others = [(sign, part) for sign, part in signed if not is_out(part)]
        if mine != [1] or any(has(part) for _, part in others) or not others:
            return None
        first_sign, total = others[0]
        total = total if first_sign > 0 else difference(Literal(0), total)
        for sign, part in others[1:]:
            total = sum_of(total, part) if sign > 0 else difference(total, part)
        return BodyReduction("sum", total)
    if isinstance(expr, Mul):
        factors = list(factors_of(expr))
        rest = [factor for factor in factors if not is_out(factor)]
        if len(rest) != len(factors) - 1 or not rest or any(map(has, rest)):
            return None
        term = rest[0]
        for factor in rest[1:]:
            term = product(term, factor)
        return BodyReduction("prod", term)
    for kind, function in UNSIGNED.items():
        if isinstance(expr, Call) and expr.function == function:
            *pair, bits_of_words = expr.arguments
            bits = int(number_of(bits_of_words) or 0)
            for one, other in (pair, pair[::-1]):
                if is_out(one) and not has(other):
                    return BodyReduction(kind, flipped(other, bits), 0, bits, _OF_WORDS[kind])
    for kind, function in NUMBERS_ONLY.items():
        if isinstance(expr, Call) and expr.function == function:
            for one, other in (expr.arguments, expr.arguments[::-1]):
                if is_out(one) and not has(other):
                    return BodyReduction(kind, or_infinite(kind, other), combine=_OF_NUMBERS[kind])
    if isinstance(expr, Call) and expr.function in ("max", "min"):
        a, b = expr.arguments
        for one, other in ((a, b), (b, a)):
            if is_out(one) and not has(other):
                return BodyReduction(expr.function, other)
            inner = reduction_of(one, out)
            if inner is not None and inner.kind == expr.function and not has(other):
                return BodyReduction(expr.function, call(expr.function, inner.term, other))
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
