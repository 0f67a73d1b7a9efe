"""The kinds of statements, by TVM's names: what each does to the indices of what it reads; and their data
flow, with the post-dominator of each, where all that follows from it has passed.

Feng et al. call the kinds the patterns of operators; TVM finds them in an operator's loop nest
(`AnnotateTIROpPattern`), and here the same rules read a statement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    Program,
    Recurrence,
    Reshape,
    RunningReduction,
    Statement,
    accesses,
    terms,
)

__all__ = ["Dominator", "Flow", "StatementKind", "group_flow", "kind_groups", "kind_of", "post_dominators"]


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


@dataclass(frozen=True)
class Flow:
    """Nodes in an order that the data flow permits.

    Attributes:
        kinds: of each node.
        readers: of each node the nodes that read it, once for each use. What none reads is a result.
    """

    kinds: Sequence[StatementKind]
    readers: Sequence[Sequence[int]]

    @classmethod
    def of(cls, program: Program) -> "Flow":
        """That of a program's statements."""
        statements = program.statements
        place = {statement.lhs.tensor: n for n, statement in enumerate(statements)}
        readers: list[list[int]] = [[] for _ in statements]
        for n, statement in enumerate(statements):
            for access in statement.reads:
                # What reads an earlier step of a scan may stand before what writes it: it is not after that.
                if place.get(access.tensor, n) < n:
                    readers[place[access.tensor]].append(n)
        return cls([kind_of(statement) for statement in statements], readers)


@dataclass(frozen=True)
class Dominator:
    """What is known of a node from what lies after it.

    Attributes:
        node: the first one that all paths from the node pass; None where there is none.
        kind: the worst one on these paths, that of `node` included.
        depth: how many post-dominators there are in a row.
    """

    node: int | None
    kind: StatementKind
    depth: int = 1


def post_dominators(flow: Flow) -> list[Dominator]:
    """The nearest post-dominator of each node (TVM's `DominatorTree`)."""
    found: list[Dominator] = [Dominator(None, StatementKind.OPAQUE)] * len(flow.kinds)
    for n in reversed(range(len(flow.kinds))):
        readers = flow.readers[n]
        if not readers:
            continue
        node: int | None = readers[0]
        kind = max(flow.kinds[reader] for reader in readers)
        for reader in readers[1:]:
            node, worst = _common(found, node, reader)
            kind = max(kind, worst)
        found[n] = Dominator(node, kind, 1 if node is None else found[node].depth + 1)
    return found


def _common(found: Sequence[Dominator], a: int | None, b: int | None) -> tuple[int | None, StatementKind]:
    """Where the paths of two nodes first meet, and the worst kind on the way."""
    kind = StatementKind.ELEMENTWISE
    while a != b:
        if a is None or b is None:
            return None, kind
        one, other = found[a], found[b]
        if one.depth >= other.depth:
            a, kind = one.node, max(kind, one.kind)
        if other.depth >= one.depth:
            b, kind = other.node, max(kind, other.kind)
    return a, kind


# Groups of statements by their kinds, as TVM's `FuseOps` makes them.
#
# A group ends in the post-dominator of all its nodes, and has every node on the paths to it, so that what
# lies between two nodes of a group is of the group. Two passes go through the nodes: the first lets
# contractions take what is elementwise after them, the second lets elements move.


MOST = 256
"""The nodes that a group may have, as in TVM."""


def kind_groups(program: Program) -> list[list[Statement]]:
    """The program's statements in groups: each in the program's order, by their first statements."""
    statements = program.statements
    return [[statements[n] for n in group] for group in group_flow(Flow.of(program))]


def group_flow(flow: Flow, most: int = MOST) -> list[list[int]]:
    """The groups of a graph's nodes: each in the order of nodes, by their first ones."""
    groups = _Groups(flow, most)
    for moves in (False, True):
        for node in range(len(flow.kinds)):
            groups.fuse(node, moves)
    return groups.lists()


class _Groups:
    """Groups, by union and find: `kind` and `size` are those of the group that a node stands for."""

    def __init__(self, flow: Flow, most: int):
        self._flow = flow
        self._most = most
        self._dominators: list[Dominator] = post_dominators(flow)
        self._parent = list(range(len(flow.kinds)))
        self._kind = list(flow.kinds)
        self._size = [1] * len(flow.kinds)

    def lists(self) -> list[list[int]]:
        members: dict[int, list[int]] = {}
        for node in range(len(self._parent)):
            members.setdefault(self._root(node), []).append(node)
        return list(members.values())

    def fuse(self, node: int, moves: bool) -> None:
        """Puts a node into the group of its post-dominator, with all between them, if their kinds permit it.

        Args:
            moves: it is the turn of what moves elements; contractions have had theirs.
        """
        found = self._dominators[node]
        if found.node is None or self._root(node) == self._root(found.node):
            return
        kind = self._kind[node]
        worst = StatementKind.INJECTIVE
        worst_end = StatementKind.INJECTIVE
        if kind <= StatementKind.BROADCAST:
            possible = found.kind <= StatementKind.REDUCTION
            worst_end = StatementKind.CONTRACTION
        elif kind is StatementKind.INJECTIVE:
            possible = moves
        else:
            possible = (
                kind is StatementKind.CONTRACTION and found.kind is StatementKind.ELEMENTWISE and not moves
            )
            worst = worst_end = StatementKind.BROADCAST
        if possible and self._group_kind(found.node) <= worst_end and self._fits(node, found.node):
            inside = list(self._between(node, found.node))
            if all(self._group_kind(n) <= worst for n in inside):
                for n in (node, *inside):
                    self._merge(n, found.node)

    def _fits(self, node: int, end: int) -> bool:
        """Whether the group would not be too large, by TVM's count. No more nodes than that are looked at."""
        size = self._size[self._root(end)] + self._size[node]
        for n in self._between(node, end):
            if size > self._most:
                break
            size += self._size[n]
        return size <= self._most

    def _between(self, node: int, end: int) -> Iterator[int]:
        """The nodes on the paths from a node to its post-dominator, without the two."""
        seen = {end}
        stack = list(self._flow.readers[node])
        while stack:
            n = stack.pop()
            if n not in seen:
                seen.add(n)
                yield n
                stack.extend(self._flow.readers[n])

    def _merge(self, node: int, into: int) -> None:
        inner, outer = self._root(node), self._root(into)
        if inner != outer:
            self._parent[inner] = outer
            self._size[outer] += self._size[inner]
            if self._kind[inner] is StatementKind.CONTRACTION:
                self._kind[outer] = max(self._kind[inner], self._kind[outer])

    def _group_kind(self, node: int) -> StatementKind:
        return self._kind[self._root(node)]

    def _root(self, node: int) -> int:
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node
