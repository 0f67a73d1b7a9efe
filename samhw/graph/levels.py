"""Which indices the fibers of a stream belong to, and so which part of a graph works on which index."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.graph.ir import Endpoint, Graph, Node, once_per_graph

__all__ = ["Levels", "levels", "with_indices"]

Levels = tuple[str, ...]
"""Indices, outermost first."""


@once_per_graph
def levels(graph: Graph) -> Mapping[Endpoint, Levels]:
    """The indices of the fibers of each output.

    The graph has producers before those that read them, and its scanners have their index, and joiners may.
    """
    result: dict[Endpoint, Levels] = {}
    for node in graph.nodes:
        for port in node.outputs:
            followed = node.spec.follows(port.name, node.params)
            around = _around(graph, result, node, followed) if followed else ()
            if node.spec.scans:
                around = (*around, node.index)
            elif node.spec.joins(node.params) and node.index:
                # Parts of a concatenation come under indices of their own.
                around = (*around[:-1], node.index)
            if (kept := node.spec.kept(node.params)) is not None:
                # Of the streams of a reducer, those of outer coordinates have fewer levels than its values.
                outer = len(around) - 1 - kept
                around = (*around[:outer], *around[outer + 1 :])[: port.stream.depth]
            result[Endpoint(node.name, port.name)] = around
    return result


def with_indices(graph: Graph) -> Graph:
    """A copy in which each node has its index (`Node.index`), from those of the scanners."""
    known = levels(graph)
    return replace(graph, nodes=tuple(replace(n, index=_index(graph, known, n)) for n in graph.nodes))


def _index(graph: Graph, known: Mapping[Endpoint, Levels], node: Node) -> str:
    if node.spec.scans:
        return node.index
    kept = node.spec.kept(node.params)
    if (distribution := node.spec.distribution(node.params)) is not None:
        around = _around(graph, known, node, node.inputs[0].name)
        return around[-1 - distribution.levels]
    if kept is None and node.outputs:
        around = known[Endpoint(node.name, node.outputs[0].name)]
    else:
        around = _around(graph, known, node, node.inputs[0].name)
    if kept:
        around = around[:-kept]
    return around[-1] if around else ""


def _around(graph: Graph, known: Mapping[Endpoint, Levels], node: Node, port: str) -> Levels:
    """The indices of the fibers that come in at an input."""
    return known[graph.fanin[Endpoint(node.name, port)].source]
