"""What comes before what: a directed graph of few nodes, which are known in the order in which they came.

NetworkX has all of it, but takes longer to be imported (a quarter of a second) than a small program takes to
be compiled. So it is imported where graphs are large, or a question is rare.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from graphlib import CycleError
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

__all__ = ["Precedence", "reached"]

Name = TypeVar("Name")


def reached(starts: Iterable[Name], steps: Callable[[Name], Iterable[Name]]) -> set[Name]:
    """Some nodes, and all to which steps lead from them."""
    found = {*starts}
    left = [*found]
    while left:
        new = {*steps(left.pop())} - found
        found |= new
        left += new
    return found


class Precedence(Generic[Name]):
    """Nodes, and edges that lead from some to those that come after them.

    Attributes:
        edges: of each edge the texts of what asks for it.
    """

    def __init__(self, nodes: Iterable[Name] = (), edges: Iterable[tuple[Name, Name]] = ()):
        self.edges: dict[tuple[Name, Name], list[str]] = {}
        self._after: dict[Name, dict[Name, None]] = {}
        self._before: dict[Name, dict[Name, None]] = {}
        self.add_nodes(nodes)
        self.add_edges(edges)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._after)

    def __len__(self) -> int:
        return len(self._after)

    def __contains__(self, node: object) -> bool:
        return node in self._after

    def after(self, node: Name) -> Collection[Name]:
        """The nodes to which an edge leads from this one."""
        return self._after[node].keys()

    def before(self, node: Name) -> Collection[Name]:
        """The nodes from which an edge leads to this one."""
        return self._before[node].keys()

    def add_nodes(self, nodes: Iterable[Name]) -> None:
        for node in nodes:
            self._after.setdefault(node, {})
            self._before.setdefault(node, {})

    def add_edges(self, edges: Iterable[tuple[Name, Name]], *reasons: str) -> None:
        """Adds edges, and what asks for them; both ends become nodes."""
        for first, second in edges:
            self.add_nodes((first, second))
            self._after[first][second] = self._before[second][first] = None
            self.edges.setdefault((first, second), []).extend(reasons)

    def remove_edges(self, edges: Iterable[tuple[Name, Name]]) -> None:
        for first, second in edges:
            del self._after[first][second], self._before[second][first], self.edges[first, second]

    def leads(self, first: Name, second: Name) -> bool:
        """There is a way from one node to the other, or they are one."""
        return second in reached([first], self.after)

    def order(self, key: Callable[[Name], Any]) -> tuple[Name, ...]:
        """All nodes, each after those that come before it; of those that may come next the least one.

        Raises:
            CycleError: if there is no such order.
        """
        nodes = list(self)
        place = {node: n for n, node in enumerate(nodes)}
        waits = {node: len(before) for node, before in self._before.items()}
        ready = [(key(node), place[node]) for node, count in waits.items() if not count]
        heapify(ready)
        found = []
        while ready:
            node = nodes[heappop(ready)[1]]
            found.append(node)
            for other in self._after[node]:
                waits[other] -= 1
                if not waits[other]:
                    heappush(ready, (key(other), place[other]))
        if len(found) < len(nodes):
            raise CycleError("some nodes come before themselves")
        return tuple(found)

    @property
    def is_acyclic(self) -> bool:
        try:
            self.order(lambda _: 0)
        except CycleError:
            return False
        return True

    def cycle(self) -> list[tuple[Name, Name]]:
        """The edges of a cycle, in their order, of a graph that has one."""
        import networkx as nx  # Takes a quarter of a second to be imported, and a cycle is an error.

        graph: nx.DiGraph[Name] = nx.DiGraph()
        graph.add_nodes_from(self)
        graph.add_edges_from(self.edges)
        return [(first, second) for first, second, *_ in nx.find_cycle(graph)]
