"""A bracket as a tree: sums of products of leaves and groups, from its text."""

from collections.abc import Iterator
from dataclasses import dataclass

from samhw.errors import InputError
from samhw.lang import (
    Access,
    Add,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Parens,
    Sub,
    parse_expression,
    rewritten,
    walk,
)
from samhw.lang.brackets.products import key

__all__ = ["Group", "Leaf", "Node", "Quantity", "Total", "leaves", "parse_bracket", "tensors_of"]


@dataclass(frozen=True)
class Leaf:
    """One mention of a factor. `place` tells it from others with its key."""

    key: str
    place: int
    divides: bool = False

    def __str__(self) -> str:
        return self.key.removeprefix("1 / ") if self.divides else self.key


@dataclass(frozen=True)
class Quantity:
    """Parts that are multiplied; leaves among them may divide."""

    parts: tuple["Node", ...]

    def __str__(self) -> str:
        text = ""
        for part in self.parts:
            divides = isinstance(part, Leaf) and part.divides
            shown = f"({part})" if isinstance(part, Total) else str(part)
            text += (" / " if divides else " * ") + shown if text else ("1 / " if divides else "") + shown
        return text


@dataclass(frozen=True)
class Total:
    """Parts that are added up, each with whether it is subtracted."""

    parts: tuple[tuple[bool, "Node"], ...]

    def __str__(self) -> str:
        text = ""
        for negative, part in self.parts:
            shown = f"({part})" if isinstance(part, Total) else str(part)
            text += (" - " if negative else " + ") + shown if text else ("-" if negative else "") + shown
        return text


@dataclass(frozen=True)
class Group:
    """What stands in parentheses: what sums over an index there is computed by itself."""

    inside: "Node"

    def __str__(self) -> str:
        return f"({self.inside})"


Node = Leaf | Quantity | Total | Group


def parse_bracket(text: str, result: str) -> Node:
    """The tree of a bracket.

    Args:
        result: of the statement that it is for.

    Raises:
        InputError: for a text that is not the right side of a program without indices.
    """
    expr = parse_expression(text, f"brackets.{result}")
    for node in walk(expr):
        if isinstance(node, Access) and node.indices:
            raise InputError(
                f"brackets.{result}: in brackets tensors stand without indices; write {node.tensor} for "
                f"{node}."
            )
    # Around everything they say nothing.
    while isinstance(expr, Parens):
        expr = expr.operand
    return _Reader().node(expr)


class _Reader:
    def __init__(self) -> None:
        self.count = 0

    def node(self, expr: Expr) -> Node:
        match expr:
            case Parens(operand):
                return Group(self.node(operand))
            case Add(left, right):
                return Total((*self.terms(left), *self.signed(right, False)))
            case Sub(left, right):
                return Total((*self.terms(left), *self.signed(right, True)))
            case Neg(operand):
                return Total(((True, self.node(operand)),))
            case Literal(value) if value < 0:
                return Total(((True, self.leaf(Literal(-value))),))
            case Mul(left, right):
                return Quantity((*self.factors(left), self.node(right)))
            case Div(left, right):
                return Quantity((*self.factors(left), self.leaf(right, divides=True)))
        return self.leaf(expr)

    def terms(self, expr: Expr) -> tuple[tuple[bool, Node], ...]:
        found = self.node(expr)
        return found.parts if isinstance(found, Total) else ((False, found),)

    def signed(self, expr: Expr, negative: bool) -> tuple[tuple[bool, Node], ...]:
        return ((negative, self.node(expr)),)

    def factors(self, expr: Expr) -> tuple[Node, ...]:
        found = self.node(expr)
        return found.parts if isinstance(found, Quantity) else (found,)

    def leaf(self, expr: Expr, divides: bool = False) -> Leaf:
        bare = rewritten(expr, lambda node: node.operand if isinstance(node, Parens) else node)
        self.count += 1
        return Leaf(key(bare, divides), self.count, divides)


def leaves(node: Node) -> Iterator[Leaf]:
    """The leaves of a tree, from left to right."""
    match node:
        case Leaf():
            yield node
        case Group(inside):
            yield from leaves(inside)
        case Quantity(parts):
            for part in parts:
                yield from leaves(part)
        case Total(terms):
            for _, part in terms:
                yield from leaves(part)


def tensors_of(text: str, result: str) -> set[str]:
    """The tensors that a bracket names."""
    return {a.tensor for a in walk(parse_expression(text, f"brackets.{result}")) if isinstance(a, Access)}
