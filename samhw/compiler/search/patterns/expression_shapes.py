"""Shapes of expressions, and what of a program they match.

A shape is matched with an expression of a statement. Where that is an intermediate, the shape of a call looks
at the statement that computes it, and `reduced` at one that reduces.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from samhw.lang import Access, Binary, Call, Expr, Statement, accesses, terms

__all__ = ["Found", "Shape", "Subject", "access", "anything", "call", "either", "reduced", "where"]


@dataclass(frozen=True)
class Found:
    """What has been matched: parts by their names, and the results of the statements that it went through."""

    parts: Mapping[str, Expr] = field(default_factory=dict)
    results: frozenset[str] = frozenset()

    def named(self, name: str | None, part: Expr) -> "Found | None":
        """With one more part. None where the name stands for another one; indices do not count."""
        if name is None or (name in self.parts and _alike(self.parts[name], part)):
            return self
        return None if name in self.parts else Found({**self.parts, name: part}, self.results)


@dataclass(frozen=True)
class Subject:
    """What a shape is matched with: an expression where it stands.

    Attributes:
        writers: the statement that computes each tensor.
        statement: the one that the expression is of.
        inside: it is part of what a shape has taken for the operand of a reduction.
    """

    writers: Mapping[str, Statement]
    statement: Statement
    expr: Expr
    inside: bool = False

    @property
    def is_reduced(self) -> bool:
        """Whether the statement reduces the expression: the whole right side, or a term of a sum."""
        statement = self.statement
        if self.inside or not statement.reduction_indices:
            return False
        if statement.reduction != "sum":
            return self.expr is statement.rhs
        used = {index for read in accesses(self.expr) for index in read.variables}
        is_term = self.expr in [*terms(statement.rhs)]
        return is_term and not used <= set(statement.lhs.variables)

    def part(self, expr: Expr) -> "Subject":
        return Subject(self.writers, self.statement, expr, self.inside)

    def behind(self) -> "Subject | None":
        """The right side that computes it, if it is an intermediate."""
        writer = self.writers.get(self.expr.tensor) if isinstance(self.expr, Access) else None
        return None if writer is None else Subject(self.writers, writer, writer.rhs)


class Shape:
    """Base of all shapes."""

    def match(self, place: Subject, found: Found) -> Iterator[Found]:
        """Each way in which it matches, the first that is found first."""
        raise NotImplementedError

    def _behind(self, place: Subject, found: Found) -> Iterator[Found]:
        """Matches with what computes an intermediate."""
        behind = place.behind()
        if behind is not None:
            results = found.results | {behind.statement.lhs.tensor}
            yield from self.match(behind, Found(found.parts, results))


@dataclass(frozen=True)
class _Anything(Shape):
    name: str | None
    tensors: bool

    def match(self, place: Subject, found: Found) -> Iterator[Found]:
        if place.is_reduced or (self.tensors and not isinstance(place.expr, Access)):
            return
        named = found.named(self.name, place.expr)
        if named is not None:
            yield named


@dataclass(frozen=True)
class _Call(Shape):
    function: str
    operands: tuple[Shape, ...]
    name: str | None

    def match(self, place: Subject, found: Found) -> Iterator[Found]:
        named = found.named(self.name, place.expr)
        expr = place.expr
        symbol = expr.symbol if isinstance(expr, Binary) else expr.function if isinstance(expr, Call) else ""
        if named is None:
            return
        if symbol == self.function and len(expr.children) == len(self.operands) and not place.is_reduced:
            for operands in self._orders():
                yield from _all(operands, [place.part(child) for child in expr.children], named)
        elif isinstance(expr, Access) and not place.is_reduced:
            # A name stands for the intermediate, and not for what computes it.
            yield from _Call(self.function, self.operands, None)._behind(place, named)

    def _orders(self) -> Iterator[tuple[Shape, ...]]:
        yield from permutations(self.operands) if self.function in ("+", "*") else [self.operands]


@dataclass(frozen=True)
class _Reduced(Shape):
    reduction: str
    operand: Shape
    name: str | None

    def match(self, place: Subject, found: Found) -> Iterator[Found]:
        named = found.named(self.name, place.expr)
        if named is None or place.statement.is_move:
            return
        if place.is_reduced and place.statement.reduction == self.reduction:
            inside = Subject(place.writers, place.statement, place.expr, inside=True)
            yield from self.operand.match(inside, named)
        elif isinstance(place.expr, Access) and not place.is_reduced:
            yield from _Reduced(self.reduction, self.operand, None)._behind(place, named)


@dataclass(frozen=True)
class _Either(Shape):
    shapes: tuple[Shape, ...]

    def match(self, place: Subject, found: Found) -> Iterator[Found]:
        for shape in self.shapes:
            yield from shape.match(place, found)


@dataclass(frozen=True)
class _Where(Shape):
    shape: Shape
    condition: Callable[[Mapping[str, Expr]], bool]

    def match(self, place: Subject, found: Found) -> Iterator[Found]:
        yield from (more for more in self.shape.match(place, found) if self.condition(more.parts))


def anything(name: str | None = None) -> Shape:
    """Any expression. In `samhw.compiler.search.patterns` it is called `any`."""
    return _Anything(name, tensors=False)


def access(name: str | None = None) -> Shape:
    """A tensor under indices, whoever computes it."""
    return _Anything(name, tensors=True)


def call(function: str, *operands: Shape, name: str | None = None) -> Shape:
    """A function of operands, or the operator `+`, `-`, `*` or `/`; the operands of + and * in any order."""
    return _Call(function, operands, name)


def reduced(reduction: str, operand: Shape, name: str | None = None) -> Shape:
    """A reduction, `sum`, `max` or `min`, of what has a shape: a statement's, or a term of its sum."""
    return _Reduced(reduction, operand, name)


def either(*shapes: Shape) -> Shape:
    """The first of several shapes that leads to a match of the whole."""
    return _Either(shapes)


def where(shape: Shape, condition: Callable[[Mapping[str, Expr]], bool]) -> Shape:
    """A shape whose parts, by their names, satisfy a condition."""
    return _Where(shape, condition)


def _all(shapes: tuple[Shape, ...], places: list[Subject], found: Found) -> Iterator[Found]:
    if not shapes:
        yield found
        return
    for more in shapes[0].match(places[0], found):
        yield from _all(shapes[1:], places[1:], more)


def _alike(a: Expr, b: Expr) -> bool:
    """Whether two expressions are the same but for their indices."""
    if isinstance(a, Access) and isinstance(b, Access):
        return a.tensor == b.tensor
    if type(a) is not type(b) or len(a.children) != len(b.children):
        return False
    if isinstance(a, Call) and isinstance(b, Call) and a.function != b.function:
        return False
    return all(map(_alike, a.children, b.children)) if a.children else a == b
