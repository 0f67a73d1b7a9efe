"""Operations on values that become expressions of one statement: element by element, side by side."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from samhw.importers.core.axes import AxisConflict
from samhw.importers.core.draft import MOST_JOINED, Build
from samhw.importers.core.tensors import Tensors, tensors_in
from samhw.importers.core.value import UnsupportedError, Value
from samhw.lang.expr import Access, Add, Expr, Literal, Mul, Operand, as_expr
from samhw.lang.traverse import free_indices, renamed

__all__ = ["Operations"]

Indices = tuple[str, ...]

LARGEST_EXPRESSION = 24
"""Nodes of an expression that is not yet a statement."""


@dataclass
class Operations:
    """Makes one value of several."""

    build: Build
    tensors: Tensors

    def elementwise(
        self, make: Callable[..., Operand], *operands: Value | float, condition: bool = False
    ) -> Value:
        """What `make` makes of the operands' expressions, broadcast from their last modes on; numbers stay
        numbers.

        Args:
            condition: the result has the values 0 and 1 only.
        """
        values = self.tensors.joinable([x for x in operands if isinstance(x, Value)])
        modes, exprs, mask = self.broadcast(values)
        found = iter(exprs)
        made = as_expr(make(*(next(found) if isinstance(x, Value) else x for x in operands)))
        nodes = _nodes(made)
        for node in nodes:
            if isinstance(node, Literal) and not math.isfinite(node.value):
                raise UnsupportedError(f"has the number {node.value:g}", "use a finite one")
        result = Value(modes, made, mask, condition)
        return self.tensors.materialized(result) if len(nodes) > LARGEST_EXPRESSION else result

    def broadcast(self, values: Sequence[Value]) -> tuple[tuple[Indices, ...], list[Expr], Access | None]:
        """Values side by side, as PyTorch broadcasts them: the modes of the result, the expression of each
        under their indices, and the mask."""
        rank = max(len(value.modes) for value in values)
        result: list[Indices] = [()] * rank
        held: list[Value] = []
        for value in values:
            value = self.build.copy(value)
            try:
                value = self._aligned(value, result)
            except AxisConflict:
                value = self._aligned(self.tensors.reshaped(value), result)
            held.append(value)
        held = [self.build.resolve(value) for value in held]
        masks = dict.fromkeys(value.mask for value in held)
        return (
            tuple(self.build.axes.resolved(mode) for mode in result),
            [value.expr for value in held],
            self.mask_product([mask for mask in masks if mask is not None]),
        )

    def _aligned(self, value: Value, result: list[Indices]) -> Value:
        """The value under the indices of the result; a mode that the result lacks is added to it."""
        start = len(result) - len(value.modes)
        for n in range(len(value.modes)):
            mode = self.build.axes.resolved(value.modes[n])
            if not mode:
                continue
            if not result[start + n]:
                result[start + n] = mode
                continue
            pairs = self.build.axes.align(result[start + n], mode)
            value = self.build.renamed(value, pairs)
        return value

    def mask_product(self, masks: Sequence[Access]) -> Access | None:
        """What is in all masks."""
        if not masks:
            return None
        result, *others = masks
        for other in others:
            product = Mul(result, other)
            lhs = free_indices(product)
            result = self.build.statement(lhs, product, label="mask")
        return result

    def fused_term(self, x: Value, total: Value) -> Value:
        """A total of `x` and a term: the same, with the term in the statement of the sum that `x` is, if that
        is the last one, and nobody has read it."""
        build = self.build
        if not isinstance(x.expr, Access) or not build.statements:
            return total
        made = build.statements[-1]
        plain = made.lhs.tensor == x.expr.tensor and made.mask is None and not made.stands_alone
        plain = plain and made.block is build.block
        if not plain or not isinstance(total.expr, Add) or total.mask is not None:
            return total
        access, added = total.expr.left, total.expr.right
        if not isinstance(access, Access) or access.tensor != x.expr.tensor:
            return total
        own = dict(zip(build.axes.resolved(access.names), build.axes.resolved(made.lhs.names), strict=True))
        if not set(free_indices(added)) <= set(own) or tensors_in(made.rhs) + tensors_in(added) > MOST_JOINED:
            return total
        held = build.renamed(Value((), added), own)
        made.lhs, made.rhs = build.resolve_access(made.lhs), Add(build.resolve_expr(made.rhs), held.expr)
        return replace(total, expr=access)

    def joined_sums(self, one: Value, other: Value) -> Value:
        """A total of two sums: one statement, if the last two statements are those, and nobody has read
        them."""
        build = self.build
        total = self.elementwise(lambda x, y: x + y, one, other)
        if not isinstance(total.expr, Add) or total.mask is not None or len(build.statements) < 2:
            return total
        left, right = total.expr.left, total.expr.right
        first, second = build.statements[-2:]
        if not isinstance(left, Access) or not isinstance(right, Access):
            return total
        for access, made in ((left, first), (right, second)):
            plain = made.reduction == "sum" and made.mask is None and not made.stands_alone
            if not plain or made.block is not build.block or made.lhs.tensor != access.tensor:
                return total
        if set(left.names) != set(right.names):
            return total
        if tensors_in(first.rhs) + tensors_in(second.rhs) > MOST_JOINED:
            return total
        ours = dict(zip(left.names, build.axes.resolved(first.lhs.names), strict=True))
        theirs = zip(build.axes.resolved(second.lhs.names), right.names, strict=True)
        rhs = build.resolve_expr(second.rhs)
        names = {index: build.axes.like(index) for index in free_indices(rhs)}
        names |= {index: ours[name] for index, name in theirs}
        first.lhs, joined = build.resolve_access(first.lhs), build.resolve_expr(first.rhs)
        for term in _terms(renamed(rhs, names)):
            joined = Add(joined, term)
        first.rhs = joined
        build.statements.pop()
        return replace(total, expr=left)


def _terms(expr: Expr) -> list[Expr]:
    """Those of a sum, each of which is summed over its own indices."""
    return [*_terms(expr.left), *_terms(expr.right)] if isinstance(expr, Add) else [expr]


def _nodes(expr: Expr) -> list[Expr]:
    """The expression and all that it is made of."""
    return [expr, *(node for child in expr.children for node in _nodes(child))]
