"""The data flow of statements, and the post-dominator of each: where all that follows from it has passed."""

from collections.abc import Sequence
from dataclasses import dataclass

from samhw.lang import Program
from samhw.lang.fusion.kinds import StatementKind, kind_of

__all__ = ["Dominator", "Flow", "post_dominators"]


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
