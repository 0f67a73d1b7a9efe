"""The commuting rule: what asks for the order of elements alone passes through maps that keep it.

The best of a softmax stand where the best scores do, since exp(x - m) / l grows with x. So neither m nor l
has to be known. RedFuser's test knows nothing of it: its example takes the best of raw scores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from samhw.lang import Access, Add, Call, Div, Expr, Literal, Mul, Sub, accesses, free_indices
from samhw.lang.cascade.region_reductions import Reduced, RegionReductions

__all__ = ["Commuted", "commuted"]

_INCREASING = frozenset({"exp", "sigmoid", "tanh"})

Wrap = Callable[[Expr], Expr]


@dataclass(frozen=True)
class Commuted:
    """What is reduced in the place of an operand, and the increasing maps that lead back to that."""

    element: Expr
    maps: Sequence[Wrap]

    def back(self, value: Expr) -> Expr:
        """The operand's value where the element has this one."""
        for wrap in reversed(self.maps):
            value = wrap(value)
        return value


def commuted(known: RegionReductions, reduced: Reduced) -> Commuted | None:
    """Elements without earlier results that a reduction may take instead, to the same order; None if there
    are none."""
    return _Peeling(known, reduced).commuted()


class _Peeling:
    def __init__(self, known: RegionReductions, reduced: Reduced):
        self.known = known
        self.statement = reduced.statement
        self.index = reduced.index

    def commuted(self) -> Commuted | None:
        expr, maps = self.statement.rhs, list[Wrap]()
        while self._depends(expr):
            outer = self._outer(expr)
            if outer is None:
                return None
            expr, wrap = outer
            maps += [] if wrap is None else [wrap]
        return Commuted(expr, maps)

    def _depends(self, expr: Expr) -> bool:
        """Whether it is of earlier results."""
        whole = self.known.expanded(expr, self.statement, self.index)
        return any(self.known.earlier(a, self.statement, self.index) is not None for a in accesses(whole))

    def _outer(self, expr: Expr) -> tuple[Expr, Wrap | None] | None:
        """What an expression grows with, and how, if that is a step further in."""
        match expr:
            case Access():
                writer = self.known.writers.get(expr.tensor)
                if writer is None or not self.known.is_elementwise(writer):
                    return None
                own = writer.renamed(dict(zip(writer.lhs.names, expr.names, strict=True)))
                return (own.rhs, None) if own.mask in (None, self.statement.mask) else None
            case Call(function, (argument,)) if function in _INCREASING:
                return argument, lambda x: Call(function, (x,))
            case Add(left, right) if self._is_fixed(right):
                return left, lambda x: Add(x, right)
            case Add(left, right) if self._is_fixed(left):
                return right, lambda x: Add(left, x)
            case Sub(left, right) if self._is_fixed(right):
                return left, lambda x: Sub(x, right)
            case Mul(left, right) if self._is_fixed(right) and self._is_positive(right):
                return left, lambda x: Mul(x, right)
            case Mul(left, right) if self._is_fixed(left) and self._is_positive(left):
                return right, lambda x: Mul(left, x)
            case Div(left, right) if self._is_fixed(right) and self._is_positive(right):
                return left, lambda x: Div(x, right)
        return None

    def _is_fixed(self, expr: Expr) -> bool:
        return self.index not in free_indices(expr)

    def _is_positive(self, expr: Expr) -> bool:
        """Whether it surely is, over any points at all."""
        match expr:
            case Literal(value):
                return value > 0
            case Call("exp", _):
                return True
            case Add(left, right) | Mul(left, right) | Div(left, right):
                return self._is_positive(left) and self._is_positive(right)
            case Access():
                writer = self.known.writers.get(expr.tensor)
                reduces = writer is not None and writer.reduction in ("sum", "max", "min", "prod")
                return writer is not None and reduces and self._is_positive(writer.rhs)
        return False
