"""The reductions of a region, and what they are of: elements, and results of earlier ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from samhw.lang import (
    Access,
    Add,
    Concat,
    Div,
    Expr,
    Mul,
    Neg,
    Program,
    Recurrence,
    Region,
    Reshape,
    RunningReduction,
    Statement,
    Sub,
    accesses,
    free_indices,
)
from samhw.lang.traverse import signed_terms, with_accesses

__all__ = ["Reduced", "RegionReductions"]

_MOVING = (Concat, Reshape, RunningReduction, Recurrence)


@dataclass(frozen=True)
class Reduced:
    """A statement that reduces one index, as its operand follows from elements and earlier results.

    Attributes:
        statement: itself.
        index: what it reduces.
        summed: what is reduced, as the statement says it.
        once: what is added to a sum once, since it lacks the index; None if nothing is.
        operand: what is reduced, with what the region computes element by element put in its place.
        earlier: for each access of an earlier reduction over the same index, that statement.
        mask: where the operand counts; None if everywhere.
        counts_alike: all that it is of, and the earlier reductions, count where it does.
    """

    statement: Statement
    index: str
    summed: Expr
    once: Expr | None
    operand: Expr
    earlier: Mapping[Access, Statement]
    mask: Access | None
    counts_alike: bool


class RegionReductions:
    """What the statements of a region compute, by the tensors that they write."""

    def __init__(self, program: Program, region: Region):
        self.program = program
        self.writers = {statement.lhs.tensor: statement for statement in region.statements}

    def reduced(self, statement: Statement) -> Reduced | None:
        """What a statement reduces; None unless it is a reduction over one index."""
        if isinstance(statement.rhs, _MOVING) or len(statement.reduction_indices) != 1:
            return None
        (index,) = statement.reduction_indices
        summed, once = _apart(statement, index)
        masks = {access for access, _ in self._masks(statement, summed)}
        mask = statement.mask or next(iter(masks), None)
        operand = self.expanded(summed, statement, index)
        read = tuple(dict.fromkeys(accesses(operand)))
        earlier = {a: w for a in read if (w := self.earlier(a, statement, index)) is not None}
        same = masks <= {mask} and all(self.mask_of(a, w, index) == mask for a, w in earlier.items())
        # What a mask leaves out is zero in a sum and no point of an extreme, while its expression without the
        # mask has a value.
        counted = statement.mask if statement.reduction in ("max", "min") else mask
        same = same and self._masks_within(summed) <= {counted}
        return Reduced(statement, index, summed, once, operand, earlier, mask, same)

    def is_elementwise(self, statement: Statement) -> bool:
        """Whether it reduces nothing, and moves nothing."""
        return not isinstance(statement.rhs, _MOVING) and not statement.reduction_indices

    def expanded(self, expr: Expr, statement: Statement, index: str, only: Access | None = None) -> Expr:
        """An expression with what the region computes element by element put in its place, up to the results
        of reductions.

        Args:
            only: of these things, those alone that follow from this result.
        """

        def change(access: Access) -> Expr:
            writer = self.writers.get(access.tensor)
            if writer is None or not self.is_elementwise(writer):
                return access
            names = dict(zip(writer.lhs.names, access.names, strict=True))
            inner = self.expanded(writer.renamed(names).rhs, statement, index, only)
            return inner if only is None or only in accesses(inner) else access

        return with_accesses(expr, change)

    def earlier(self, access: Access, statement: Statement, index: str) -> Statement | None:
        """The reduction over the same index that gives an access of a statement."""
        writer = self.writers.get(access.tensor)
        if writer is None or index in access.names or isinstance(writer.rhs, _MOVING):
            return None
        if len(writer.reduction_indices) != 1:
            return None
        (own,) = writer.reduction_indices
        return writer if self._dimension(writer, own) == self._dimension(statement, index) else None

    def _dimension(self, statement: Statement, index: str) -> str:
        """That of an index of a statement, which the program need not have."""
        known = (a for a in statement.reads if index in a.own_names and a.tensor in self.program.tensors)
        return self.program.dimensions.of_index(next(known), index)

    def mask_of(self, access: Access, writer: Statement, index: str) -> Access | None:
        """The mask of an earlier reduction, under the names of the one that reads it."""
        (own,) = writer.reduction_indices
        names = {**dict(zip(writer.lhs.names, access.names, strict=True)), own: index}
        masks = [mask for mask, _ in self._masks(writer, _apart(writer, own)[0])]
        mask = writer.mask or next(iter(masks), None)
        return None if mask is None else mask.renamed(names)

    def _masks_within(self, expr: Expr) -> set[Access]:
        """The masks of all that `expanded` puts in its place, wherever in an expression it stands."""
        masks: set[Access] = set()
        stack = [expr]
        while stack:
            for access in accesses(stack.pop()):
                writer = self.writers.get(access.tensor)
                if writer is not None and self.is_elementwise(writer):
                    names = dict(zip(writer.lhs.names, access.names, strict=True))
                    renamed = writer.renamed(names)
                    stack.append(renamed.rhs)
                    if renamed.mask is not None:
                        masks.add(renamed.mask)
        return masks

    def _masks(self, statement: Statement, summed: Expr) -> Iterator[tuple[Access, Statement]]:
        """The masks of the factors, among what a statement sums, that the region computes element by element:
        where these are zero, so is the product."""
        if statement.reduction != "sum":
            return
        stack: list[tuple[Expr, Statement]] = [(summed, statement)]
        while stack:
            expr, at = stack.pop()
            match expr:
                case Mul():
                    stack.extend((child, at) for child in expr.children)
                case Neg(operand) | Div(operand, _):
                    stack.append((operand, at))
                case Access() if (writer := self.writers.get(expr.tensor)) and self.is_elementwise(writer):
                    names = dict(zip(writer.lhs.names, expr.names, strict=True))
                    renamed = writer.renamed(names)
                    if renamed.mask is not None:
                        yield renamed.mask, renamed
                    else:
                        stack.append((renamed.rhs, renamed))


def _apart(statement: Statement, index: str) -> tuple[Expr, Expr | None]:
    """What a statement reduces over an index, and the sum of the terms that lack it, if there are any."""
    if statement.reduction != "sum":
        return statement.rhs, None
    parts: dict[bool, Expr] = {}
    for sign, term in signed_terms(statement.rhs):
        is_summed = index in free_indices(term)
        before = parts.get(is_summed)
        if before is None:
            parts[is_summed] = term if sign > 0 else Neg(term)
        else:
            parts[is_summed] = Add(before, term) if sign > 0 else Sub(before, term)
    return parts[True], parts.get(False)
