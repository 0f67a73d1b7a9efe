"""Elements that are hidden: they count as -inf, as the scores do that a softmax is not to see."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from enum import Enum

from samhw.importers.core import Build, Made, UnsupportedError, Value
from samhw.importers.mlir.idioms import call, number_of, sum_of
from samhw.lang.expr import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.traverse import accesses, free_indices, renamed, rewritten

__all__ = ["Hidden", "hidden_asked", "is_zero_anyway", "mask_of", "shown", "where_hidden"]


class Hidden(Enum):
    """What an expression is where something in it is -inf."""

    NOTHING_SPECIAL = "a number"
    MINUS_INFINITY = "-inf"
    ZERO = "zero"


def shown(expr: Expr) -> tuple[Expr, list[Expr]]:
    """An expression without the `select`s that make it -inf, and what is not zero where it is not -inf:
    `a + select(c, x, -inf)` is `a + x` where `c` is not zero."""
    match expr:
        case Add(left, right):
            (a, first), (b, second) = shown(left), shown(right)
            return (sum_of(a, b), first + second) if first or second else (expr, [])
        case Call("select", (condition, yes, no)) if _is_hidden(no):
            inner, more = shown(yes)
            return inner, [condition, *more]
        case Call("select", (condition, yes, no)) if _is_hidden(yes):
            inner, more = shown(no)
            return inner, [call("eq", condition, Literal(0)), *more]
        case Call("to", (converted,)):
            inner, more = shown(converted)
            return (replace(expr, arguments=(inner,)), more) if more else (expr, [])
    return expr, []


def _is_hidden(expr: Expr) -> bool:
    return number_of(expr) == -math.inf


def where_hidden(expr: Expr, hidden: Collection[str]) -> Hidden:
    """What an expression is where the tensors of these names are -inf, and all others are numbers.

    Raises:
        UnsupportedError: where that is not a number and not -inf, or depends on the others.
    """
    if not any(access.tensor in hidden for access in accesses(expr)):
        return Hidden.NOTHING_SPECIAL
    match expr:
        case Call("select", (Call("eq", (one, other)), shown_as, _)) if one == other == shown_as:
            return where_hidden(one, hidden)  # It is no NaN there.
    parts = [where_hidden(part, hidden) for part in expr.children]
    lost = parts[:1] == [Hidden.MINUS_INFINITY]
    match expr:
        case Access():
            return Hidden.MINUS_INFINITY
        case Add():
            if Hidden.MINUS_INFINITY in parts:
                return Hidden.MINUS_INFINITY
        case Sub() if lost and parts[1] is not Hidden.MINUS_INFINITY:
            return Hidden.MINUS_INFINITY
        case Mul(_, factor) | Div(_, factor) if lost and _is_positive(factor):
            return Hidden.MINUS_INFINITY
        case Mul(factor, _) if parts[1] is Hidden.MINUS_INFINITY and _is_positive(factor):
            return Hidden.MINUS_INFINITY
        case Mul() if Hidden.ZERO in parts and Hidden.MINUS_INFINITY not in parts:
            return Hidden.ZERO
        case Neg() | Div() if parts[0] is Hidden.ZERO and parts[1:] in ([], [Hidden.NOTHING_SPECIAL]):
            return Hidden.ZERO
        case Call("exp" | "relu" | "sigmoid" | "silu") if lost:
            return Hidden.ZERO
        case Call("to"):
            return parts[0]
    raise UnsupportedError(
        "takes a value that is -inf at places", "only sums, exp and the maximum do; mask right before these"
    )


def _is_positive(expr: Expr) -> bool:
    number = number_of(expr)
    return number is not None and 0 < number < math.inf


def hidden_asked(term: Expr, operands: Mapping[str, Value]) -> tuple[Expr, dict[str, Value]]:
    """A term that asks whether an operand is -inf, as one that asks its mask; and the masks, as operands.
    What is computed counts as finite, as far as no mask hides it."""
    found: dict[str, Value] = {}

    def change(node: Expr) -> Expr:
        match node:
            case Call("eq", (asked, Literal(value=number))) if math.isinf(number):
                pass
            case _:
                return node
        hidden = [access for access in accesses(asked) if operands[access.tensor].mask is not None]
        if not hidden or number > 0:
            return Literal(0) if not hidden or asked in hidden else node
        if asked != hidden[0]:
            return node
        value = operands[hidden[0].tensor]
        assert value.mask is not None
        name = f"{hidden[0].tensor}_mask"
        found[name] = replace(value, expr=value.mask, mask=None)
        return Call("eq", (Access(name), Literal(0)))

    return rewritten(term, change), found


def mask_of(build: Build, condition: Expr) -> Expr:
    """What is not zero where a condition holds: the tensor itself, where it asks whether that is not zero."""
    match condition:
        case Call("eq", (inner, Literal(value=0))):
            made = _statement(build, inner)
            if made is not None and made.mask is None and made.reduction == "sum":
                assert isinstance(inner, Access)
                inner = renamed(made.rhs, _names(made, inner))
            match inner:
                case Call("eq", (Access() as tensor, Literal(value=0))):
                    return tensor
    return condition


def is_zero_anyway(build: Build, condition: Expr, expr: Expr) -> bool:
    """Whether an expression is zero wherever a condition holds, since that says that all of a row is hidden,
    and the expression is of what is not: of a softmax, say."""
    made = _statement(build, condition)
    if made is None or made.reduction != "prod":
        return False
    match made.rhs:
        case Call("eq", (Access() as mask, Literal(value=0))):
            pass
        case _:
            return False
    assert isinstance(condition, Access)
    own = _names(made, condition)
    kept = [own.get(index) for index in mask.names]

    def is_hidden(part: Expr) -> bool:
        match part:
            case Mul(left, right):
                return is_hidden(left) or is_hidden(right)
            case Div(left, _):
                return is_hidden(left)
        made = _statement(build, part)
        if made is None:
            return False
        assert isinstance(part, Access)
        names = _names(made, part)
        if made.mask is not None and made.mask.tensor == mask.tensor:
            places = [names.get(index) for index in made.mask.names]
            pairs = list(zip(kept, places, strict=True))
            return all(a == b if a is not None else b not in condition.names for a, b in pairs)
        single = made.reduction == "sum" and set(free_indices(made.rhs)) <= set(names)
        return single and is_hidden(renamed(made.rhs, names))

    return is_hidden(expr)


def _statement(build: Build, expr: Expr) -> Made | None:
    """What computes a tensor."""
    if not isinstance(expr, Access):
        return None
    for made in reversed(build.statements):
        if made.lhs.tensor == expr.tensor:
            mask = None if made.mask is None else build.resolve_access(made.mask)
            return Made(build.resolve_access(made.lhs), build.resolve_expr(made.rhs), made.reduction, mask)
    return None


def _names(made: Made, access: Access) -> dict[str, str]:
    """A statement's own indices, as an access to its result has them."""
    return dict(zip(made.lhs.names, access.names, strict=True))
