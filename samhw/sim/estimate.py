"""How much of a run is done, by what it has read and written.

What a run has still to do nobody knows before it ends. But of some nodes it is known how often they fire in
all:

* A scanner whose references come straight from the root, or from another such scanner, visits every fiber of
  its level exactly once. Of each chain of such scanners the innermost one counts time best: the nonzeros of a
  matrix, say, and not its rows.
* The writer of the values of a dense tensor writes every element once. It tells how far a run is where
  scanners are far ahead of it, such as before a softmax; but not where one sum goes over everything, and
  nothing is written before the end.

The one that is furthest behind is taken. That is a share of the data and not of the cycles: where there is
more work at the end than at the beginning, a run takes longer than it seems, and where one sum goes over
everything, the share is 1 while the sum is written.
"""

from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import Any

from numpy.typing import NDArray

from samhw.graph import Endpoint, Graph, Node, StreamKind
from samhw.sim.machine import Machine

__all__ = ["Estimate"]


class Estimate:
    """The share of a run that is done, from 0 to 1."""

    def __init__(
        self,
        graph: Graph,
        machine: Machine,
        memories: Mapping[str, NDArray[Any]],
        extents: Mapping[str, int],
    ):
        """Arguments are those of the run; `machine` is what runs."""
        counts = _visited(graph, memories, extents)
        inner = {name for name in counts if not any(r.node in counts for r in _readers(graph, name))}
        totals = {name: counts[name] for name in inner} | _written(graph, extents)
        # Of a node's actors, the last one gives what it is for.
        last = {worker.node: worker for worker in machine.workers}
        self._totals = [(last[name], count) for name, count in totals.items()]

    def share(self) -> float | None:
        """About how much is done, or None for a graph that has no such node."""
        return min((min(1.0, worker.firings / total) for worker, total in self._totals), default=None)


def _visited(
    graph: Graph, memories: Mapping[str, NDArray[Any]], extents: Mapping[str, int]
) -> dict[str, int]:
    """For each scanner that visits all of its fibers once, about how often it fires: once for each coordinate
    and once for each fiber."""
    coordinates: dict[str, int] = {node.name: 1 for node in graph.nodes if not node.inputs}
    firings: dict[str, int] = {}
    # Chains are short, and nodes may come in any order.
    waiting = [node for node in graph.nodes if node.spec.scans]
    while ready := [node for node in waiting if _source(graph, node) in coordinates]:
        for node in ready:
            fibers = coordinates[_source(graph, node)]
            given = node.spec.coordinates(node.params, fibers, memories, extents)
            assert given is not None
            coordinates[node.name] = given
            firings[node.name] = given + fibers
            waiting.remove(node)
    return firings


def _written(graph: Graph, extents: Mapping[str, int]) -> dict[str, int]:
    """For each writer of values of a dense tensor, or of a part of one, about how often it fires: once for
    each element, and once for each of its innermost fibers."""
    if any(_sums_everything(node) for node in graph.nodes):
        return {}
    arrays = Counter(memory.tensor for memory in graph.memories)
    firings = {}
    for binding in graph.tensors:
        if arrays[binding.name] == binding.parts:
            shape = [extents[index] for index in binding.indices]
            firings[binding.name] = (prod(shape) + prod(shape[:-1])) // binding.parts
    written = {
        node.name: graph.memory[name].tensor
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
    """The node that a scanner's references come from."""
    return graph.fanin[Endpoint(node.name, node.inputs[0].name)].source.node


def _readers(graph: Graph, name: str) -> list[Endpoint]:
    """Where a scanner's references go."""
    outputs = [p.name for p in graph.node[name].outputs if p.stream.kind is StreamKind.REF]
    return [channel.sink for port in outputs for channel in graph.fanout.get(Endpoint(name, port), ())]
