"""What goes through expressions: their parts, and the same with other parts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from samhw.lang.expr import Access, Add, Concat, Expr, Mul, Recurrence, RunningReduction, Sub

__all__ = [
    "accesses",
    "factors_of",
    "free_indices",
    "renamed",
    "rewritten",
    "signed_terms",
    "terms",
    "walk",
    "with_accesses",
]


def rewritten(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """`expr` with `change` made to every node, to the operands before what they are operands of."""
    return change(expr.with_children([rewritten(child, change) for child in expr.children]))


def with_accesses(expr: Expr, change: Callable[[Access], Expr]) -> Expr:
    """`expr` with `change` made to every access of a tensor."""
    return rewritten(expr, lambda node: change(node) if isinstance(node, Access) else node)


def renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    """`expr` under other index variables, all at once; one that `names` lacks keeps its name."""

    def change(node: Expr) -> Expr:
        match node:
            case Access():
                return node.renamed(names)
            case Concat(index=index) | RunningReduction(index=index) | Recurrence(index=index):
                return replace(node, index=names.get(index, index))
        return node

    return rewritten(expr, change)


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and all nodes below it, each before its operands, left to right."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def accesses(expr: Expr) -> Iterator[Access]:
    """The tensor accesses of `expr`, left to right."""
    return (node for node in walk(expr) if isinstance(node, Access))


def free_indices(expr: Expr) -> tuple[str, ...]:
    """The index variables that `expr` uses, in order of appearance."""
    return tuple(dict.fromkeys(index for access in accesses(expr) for index in access.variables))


def terms(expr: Expr) -> Iterator[Expr]:
    """The operands of the outermost ``+`` and ``-``, left to right. A sum over an index spans one of them.

    ``a - b + c`` has three, and so has ``(a - b) + c``, which is the same expression. ``a - (b + c)`` has
    two, and ``-(a + b)`` is one.
    """
    return (term for _, term in signed_terms(expr))


def signed_terms(expr: Expr) -> Iterator[tuple[int, Expr]]:
    """The same, each after the 1 or -1 that it is added with."""
    found: list[tuple[int, Expr]] = []
    while isinstance(expr, Add | Sub):
        found.append((1 if isinstance(expr, Add) else -1, expr.right))
        expr = expr.left
    yield 1, expr
    yield from reversed(found)


def factors_of(expr: Expr) -> Iterator[Expr]:
    """The operands of the outermost ``*``, left to right."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Mul):
            stack.extend(reversed(node.children))
        else:
            yield node
