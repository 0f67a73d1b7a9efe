"""The kind of a statement, by TVM's names: what it does to the indices of what it reads.

Feng et al. call them the patterns of operators; TVM finds them in an operator's loop nest
(`AnnotateTIROpPattern`), and here the same rules read a statement.
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum

from samhw.lang import (
    Access,
    Concat,
    Div,
    Expr,
    IndexExpr,
    Literal,
    Mul,
    Name,
    Neg,
    Recurrence,
    Reshape,
    RunningReduction,
    Statement,
    accesses,
    terms,
)

__all__ = ["StatementKind", "kind_of"]


class StatementKind(IntEnum):
    """From what is easiest to fuse to what cannot be. `str()` of a kind is its name in reports."""

    ELEMENTWISE = 0
    """Each element follows from the elements at its own place: ``R[i, j] = relu(T[i, j]) + b[j]``."""
    BROADCAST = 1
    """All that is read lacks an index: ``R[i, j] = b[j]``."""
    INJECTIVE = 2
    """Elements move: a transposition, a diagonal, a reshape, a concatenation."""
    REDUCTION = 3
    """Indices are summed over: ``l[i] = E[i, j]``."""
    CONTRACTION = 4
    """A product of tensors that each use again and again; TVM's *out-elementwise-fusable*. What ends in an
    elementwise step of its own after a reduction is one too."""
    OPAQUE = 8
    """Anything else, such as a running reduction: ``C[i, j] = cumsum(j, A[i, j])``."""

    def __str__(self) -> str:
        return self.name.lower()


def kind_of(statement: Statement) -> StatementKind:
    """The kind of a statement, by its indices alone."""
    if isinstance(statement.rhs, Reshape | Concat):
        return StatementKind.INJECTIVE
    if isinstance(statement.rhs, RunningReduction | Recurrence):
        return StatementKind.OPAQUE
    stored = statement.lhs.variables
    if len(stored) != len(statement.lhs.indices) or any(map(_is_computed, statement.lhs.indices)):
        return StatementKind.OPAQUE
    if not statement.reduction_indices:
        return _map_kind(statement.lhs, statement.reads)
    if statement.reduction != "sum":
        return StatementKind.CONTRACTION if _slides(statement.lhs, statement.rhs) else StatementKind.REDUCTION
    parts = list(terms(statement.rhs))
    # What adds several terms is an elementwise step after the sums.
    reuses = len(parts) > 1 or _slides(statement.lhs, parts[0]) or _is_product(statement.lhs, parts[0])
    return StatementKind.CONTRACTION if reuses else StatementKind.REDUCTION


def _map_kind(lhs: Access, reads: Sequence[Access]) -> StatementKind:
    """Of a statement that reduces nothing."""
    kinds = {_read_kind(lhs, access) for access in reads}
    if kinds == {StatementKind.BROADCAST, StatementKind.ELEMENTWISE}:
        return StatementKind.ELEMENTWISE
    return max(kinds, default=StatementKind.ELEMENTWISE)


def _read_kind(lhs: Access, access: Access) -> StatementKind:
    """What a single operand does, none of whose indices is reduced."""
    if access.indices == lhs.indices:
        return StatementKind.ELEMENTWISE
    stored = iter(lhs.indices)
    return (
        StatementKind.BROADCAST
        if all(index in stored for index in access.indices)
        else StatementKind.INJECTIVE
    )


def _slides(lhs: Access, term: Expr) -> bool:
    """Whether an operand is read at places computed from an index that is reduced, as in a convolution."""
    return any(
        _is_computed(index) and not set(index.variables) <= set(lhs.variables)
        for access in accesses(term)
        for index in access.indices
    )


def _is_product(lhs: Access, term: Expr) -> bool:
    """Whether a term is a product of tensors, scaled or not, each of which is used for several places."""
    factors = [factor for factor in _factors(term) if not isinstance(factor, Literal)]
    if not all(isinstance(factor, Access) for factor in factors):
        return False
    tensors = [access for access in accesses(term) if access.indices]
    return len(tensors) > 1 and all(set(lhs.variables) - set(access.variables) for access in tensors)


def _factors(term: Expr) -> Iterator[Expr]:
    """The factors of a product, with what it is divided by."""
    stack = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, Mul | Div | Neg):
            stack.extend(reversed(node.children))
        else:
            yield node


def _is_computed(index: IndexExpr) -> bool:
    """Whether an index is more than a variable."""
    return not isinstance(index, Name)
