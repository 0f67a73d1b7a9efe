"""How much of a run is done, by what it has read and written.

What a run has still to do nobody knows before it ends. But of some nodes it is known how often they fire in
all:

* A scanner whose references come straight from the root, or from another such scanner, visits every fiber of
  its level exactly once; or its copies do so together, if lanes are between. Of each chain of such scanners
  the innermost one counts time best: the nonzeros of a matrix, say, and not its rows.
* The writer of the values of a dense tensor writes every element once. It tells how far a run is where
  scanners are far ahead of it, such as before a softmax; but not where one sum goes over everything, and
  nothing is written before the end.

The one that is furthest behind is taken. That is a share of the data and not of the cycles: where there is
more work at the end than at the beginning, a run takes longer than it seems, and where one sum goes over
everything, the share is 1 while the sum is written.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from math import prod
from typing import Any

from numpy.typing import NDArray

from samhw.graph import Endpoint, Graph, Node
from samhw.sim.machine import Machine
from samhw.sim.worker import Worker

__all__ = ["Completion"]


class Completion:
    """The share of a run that is done, from 0 to 1."""

    def __init__(
        self,
        graph: Graph,
        machine: Machine,
        memories: Mapping[str, NDArray[Any]],
        extents: Mapping[str, int],
    ):
        """Arguments are those of the run; `machine` is what runs."""
        totals = _visited(graph, memories, extents) | _written(graph, extents)
        # Of a node's actors, the last one gives what it is for.
        last = {worker.node: worker for worker in machine.workers}
        copies: dict[str, list[Worker]] = defaultdict(list)
        for node in graph.nodes:
            copies[_original(node)].append(last[node.name])
        self._totals = [(copies[name], total) for name, total in totals.items()]

    def share(self) -> float | None:
        """About how much is done, or None for a graph that has no such node."""
        shares = (sum(worker.firings for worker in copies) / total for copies, total in self._totals)
        return min((min(1.0, share) for share in shares), default=None)


def _original(node: Node) -> str:
    """The node that a node is a copy of, or itself: copies in lanes share the work, and may go on one after
    the other, so they are counted together."""
    return node.copy_of or node.name


def _visited(
    graph: Graph, memories: Mapping[str, NDArray[Any]], extents: Mapping[str, int]
) -> dict[str, int]:
    """For the innermost scanners that visit all of their fibers once, about how often they fire: once for
    each coordinate and once for each fiber."""
    coordinates: dict[str, int] = {node.name: 1 for node in graph.nodes if not node.inputs}
    firings: dict[str, int] = {}
    sources = set[str]()
    # Chains are short, and nodes may come in any order.
    waiting = {_original(node): node for node in graph.nodes if node.spec.scans}
    while ready := [name for name, node in waiting.items() if _source(graph, node) in coordinates]:
        for name in ready:
            node = waiting.pop(name)
            source = _source(graph, node)
            given = node.spec.coordinates(node.params, coordinates[source], memories, extents)
            assert given is not None
            firings[name] = given + coordinates[source]
            coordinates[name] = given
            sources.add(source)
    return {name: count for name, count in firings.items() if name not in sources}


def _written(graph: Graph, extents: Mapping[str, int]) -> dict[str, int]:
    """For each writer of values of a dense tensor about how often it fires: once for each element, and once
    for each of its innermost fibers."""
    if any(_sums_everything(node) for node in graph.nodes):
        return {}
    arrays = Counter(memory.tensor for memory in graph.memories)
    firings = {}
    for binding in graph.tensors:
        if arrays[binding.name] == binding.shards:
            shape = [extents[index] for index in binding.indices]
            firings[binding.name] = prod(shape) + prod(shape[:-1])
    written = {
        _original(node): graph.memory[name].tensor
        for node in graph.nodes
        for param, name in node.memories.items()
        if node.spec.memories[param].written
    }
    return {name: firings[tensor] for name, tensor in written.items() if tensor in firings}


def _sums_everything(node: Node) -> bool:
    """No index stands outside of the one that a reducer sums over."""
    kept = node.spec.kept(node.params)
    return kept is not None and node.inputs[0].stream.depth - 1 - kept == 0


def _source(graph: Graph, node: Node) -> str:
    """The node that a scanner's references come from, and that distributes none of them to lanes."""
    while True:
        node = graph.node[graph.fanin[Endpoint(node.name, node.inputs[0].name)].source.node]
        if node.spec.distribution(node.params) is None:
            return _original(node)
