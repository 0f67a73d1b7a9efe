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

from samhw.graph import Endpoint, Graph, Node
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
        totals = {(name, "walk"): counts[name] for name in inner}
        totals |= {(name, "write"): count for name, count in _written(graph, extents).items()}
        self._totals = [
            (worker, totals[worker.node, worker.actor.name])
            for worker in machine.workers
            if (worker.node, worker.actor.name) in totals
        ]

    def share(self) -> float | None:
        """About how much is done, or None for a graph that has no such node."""
        return min((min(1.0, worker.firings / total) for worker, total in self._totals), default=None)


def _visited(
    graph: Graph, memories: Mapping[str, NDArray[Any]], extents: Mapping[str, int]
) -> dict[str, int]:
    """For each scanner that visits all of its fibers once, about how often it fires: once for each coordinate
    and once for each fiber."""
    coordinates: dict[str, int] = {node.name: 1 for node in graph.nodes if node.kind == "root"}
    firings: dict[str, int] = {}
    # Chains are short, and nodes may come in any order.
    waiting = [
        node for node in graph.nodes if node.kind in ("scan_dense", "scan_compressed", "scan_singleton")
    ]
    while ready := [node for node in waiting if _source(graph, node) in coordinates]:
        for node in ready:
            fibers = coordinates[_source(graph, node)]
            coordinates[node.name] = _coordinates(node, fibers, memories, extents)
            firings[node.name] = coordinates[node.name] + fibers
            waiting.remove(node)
    return firings


def _written(graph: Graph, extents: Mapping[str, int]) -> dict[str, int]:
    """For each writer of values of a dense tensor about how often it fires: once for each element, and once
    for each of its innermost fibers."""
    if any(_sums_everything(node) for node in graph.nodes):
        return {}
    arrays = Counter(memory.tensor for memory in graph.memories)
    shapes = {
        f"{binding.name}.vals": [extents[index] for index in binding.indices]
        for binding in graph.tensors
        if arrays[binding.name] == 1
    }
    return {
        node.name: prod(shape) + prod(shape[:-1])
        for node in graph.nodes
        if node.kind == "write_val" and (shape := shapes.get(node.params["vals"])) is not None
    }


def _sums_everything(node: Node) -> bool:
    """No index stands outside of the one that a reducer sums over."""
    if node.kind not in ("reduce_scalar", "reduce_vector"):
        return False
    return node.input("val").stream.depth - 1 - len(node.params.get("bits", ())) == 0


def _source(graph: Graph, node: Node) -> str:
    """The node that a scanner's references come from."""
    return graph.fanin[Endpoint(node.name, "ref")].source.node


def _readers(graph: Graph, name: str) -> list[Endpoint]:
    """Where a scanner's references go."""
    return [channel.sink for channel in graph.fanout.get(Endpoint(name, "ref"), ())]


def _coordinates(
    node: Node, fibers: int, memories: Mapping[str, NDArray[Any]], extents: Mapping[str, int]
) -> int:
    """All coordinates that a scanner gives for the first `fibers` references."""
    match node.kind:
        case "scan_dense":
            return fibers * extents[node.params["extent"]]
        case "scan_compressed":
            pos = memories[node.params["pos"]]
            return int(pos[min(fibers, len(pos) - 1)]) if len(pos) else 0
    return fibers
