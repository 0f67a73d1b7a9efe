"""A statement as a sum of products: what two right sides that are equal in real numbers have in common."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from samhw.lang import (
    Access,
    Add,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Name,
    Neg,
    Program,
    Recurrence,
    Reshape,
    RunningReduction,
    Statement,
    Sub,
    free_indices,
    renamed,
    with_accesses,
)
from samhw.names import Names

__all__ = ["Factor", "Product", "definitions", "is_sum", "key", "keys", "products_of"]

MOST_PRODUCTS = 64
"""How many products a right side may multiply out to."""


@dataclass(frozen=True)
class Factor:
    """What is multiplied: a tensor, a number, or an expression that stays as it is. Or what is divided by."""

    expr: Expr
    divides: bool = False

    @property
    def key(self) -> str:
        """How a bracket writes it."""
        return key(self.expr, self.divides)

    @property
    def indices(self) -> tuple[str, ...]:
        """The index variables, in order of appearance."""
        return free_indices(self.expr)


@dataclass(frozen=True)
class Product:
    """One of the products whose sum a right side is, with its sign. Indices that the statement's left side
    lacks are summed over."""

    factors: tuple[Factor, ...]
    negative: bool = False

    @property
    def keys(self) -> tuple[object, ...]:
        """The same for two products of the same factors, whatever their order and indices."""
        return keys(self.negative, (factor.key for factor in self.factors))

    def times(self, other: "Product") -> "Product":
        """The product of both."""
        return Product((*self.factors, *other.factors), self.negative != other.negative)

    def __str__(self) -> str:
        return ("-" if self.negative else "") + " * ".join(factor.key for factor in self.factors)


def keys(negative: bool, factors: Iterable[str]) -> tuple[object, ...]:
    """What tells a product from others: its sign, which that of zero has none of, and its factors' keys."""
    found = sorted(factors)
    return (negative and "0" not in found, *found)


def key(expr: Expr, divides: bool = False) -> str:
    """The text of a factor, without indices."""
    bare = with_accesses(expr, lambda access: Access(access.tensor))
    return str(Div(Literal(1), bare) if divides else bare)


def is_sum(statement: Statement) -> bool:
    """Whether a statement is a sum of products: it moves nothing, and what it reduces it adds up."""
    moves = isinstance(statement.rhs, Reshape | Concat | RunningReduction | Recurrence)
    plain = all(isinstance(index, Name) for access in statement.accesses for index in access.indices)
    return statement.reduction == "sum" and not moves and plain


def definitions(program: Program) -> dict[str, Statement]:
    """The statements in whose place, wherever their result is read, what they compute may stand, by result:
    sums of products without a mask."""
    return {s.lhs.tensor: s for s in program.statements if s.mask is None and is_sum(s)}


def products_of(
    statement: Statement, defined: Mapping[str, Statement], kept: Collection[str]
) -> list[Product] | None:
    """The products whose sum the right side of a statement is, in the order of the text.

    A tensor that is defined, and is not `kept`, is replaced by its own products, whose summed indices get
    names of their own. None if there are more than `MOST_PRODUCTS`, or if a sum would come to add up what
    does not have its index.
    """
    try:
        return _Expansion(defined, kept, _taken(statement)).summed(statement.rhs, statement.lhs.variables)
    except _NoProducts:
        return None


def _taken(statement: Statement) -> Names:
    """The names of a statement's indices, as taken."""
    names = Names()
    for index in statement.indices:
        names.own(index)
    return names


class _NoProducts(Exception):
    """There are too many products, or one lacks what it is to be summed over."""


class _Expansion:
    def __init__(self, defined: Mapping[str, Statement], kept: Collection[str], names: Names) -> None:
        self.defined = defined
        self.kept = kept
        self.names = names

    def summed(self, expr: Expr, lhs: Collection[str]) -> list[Product]:
        """The products of a right side, each of whose terms is summed over the indices that the left side
        lacks."""
        if isinstance(expr, Add | Sub):
            behind = self.summed(expr.right, lhs)
            return self.few(
                self.summed(expr.left, lhs) + (_negated(behind) if isinstance(expr, Sub) else behind)
            )
        found = self.products(expr)
        over = set(free_indices(expr)).difference(lhs)
        if not all(over <= {i for factor in product.factors for i in factor.indices} for product in found):
            raise _NoProducts
        return found

    def products(self, expr: Expr) -> list[Product]:
        """What an expression multiplies out to."""
        match expr:
            case Add(left, right):
                return self.few(self.products(left) + self.products(right))
            case Sub(left, right):
                return self.few(self.products(left) + _negated(self.products(right)))
            case Neg(operand):
                return _negated(self.products(operand))
            case Mul(left, right):
                behind = self.products(right)
                return self.few([p.times(q) for p in self.products(left) for q in behind])
            case Div(left, right):
                divisor = Product((Factor(right, divides=True),))
                return [p.times(divisor) for p in self.products(left)]
            case Literal(value) if value < 0:
                return [Product((Factor(Literal(-value)),), negative=True)]
            case Access() if expr.tensor in self.defined and expr.tensor not in self.kept:
                return self.summed(*self.inlined(expr, self.defined[expr.tensor]))
        return [Product((Factor(expr),))]

    def inlined(self, access: Access, definition: Statement) -> tuple[Expr, tuple[str, ...]]:
        """The right side of what computes a tensor, under the indices of an access."""
        names = {index: self.names.own(index) for index in definition.reduction_indices}
        names |= dict(zip(definition.lhs.names, access.names, strict=True))
        return renamed(definition.rhs, names), access.names

    def few(self, products: list[Product]) -> list[Product]:
        if len(products) > MOST_PRODUCTS:
            raise _NoProducts
        return products


def _negated(products: list[Product]) -> list[Product]:
    return [replace(product, negative=not product.negative) for product in products]
