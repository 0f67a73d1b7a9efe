"""Groups of statements by their kinds, as TVM's `FuseOps` makes them.

A group ends in the post-dominator of all its nodes, and has every node on the paths to it, so that what lies
between two nodes of a group is of the group. Two passes go through the nodes: the first lets contractions
take what is elementwise after them, the second lets elements move.
"""

from collections.abc import Iterator

from samhw.lang import Program, Statement
from samhw.lang.fusion.kinds import Dominator, Flow, StatementKind, post_dominators

__all__ = ["group_flow", "kind_groups"]

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
