"""How many banks the accumulators of a graph's vector reducers have."""

from dataclasses import replace

from samhw.compiler.graph_passes import Assembly
from samhw.graph import Node

__all__ = ["banks"]

IN_LANES = 3
"""Of a reducer in lanes of the index that it sums over: a fiber that was distributed to lanes is soon as
short as its sum, and then two banks, one filling and one draining, would lose the cycles between them."""


def banks(assembly: Assembly) -> Assembly:
    """The graph with banks for its vector reducers: `Arch.banks`, and one more where they pay."""
    graph, lanes, arch = assembly.graph, assembly.lanes, assembly.arch

    def with_own(node: Node) -> Node:
        if (param := node.spec.banks) is None:
            return node
        in_lanes = node.copy_of and lanes.get(node.index, 1) > 1
        count = max(arch.banks, IN_LANES) if in_lanes else arch.banks
        return replace(node, params={**node.params, param: count}) if count > 2 else node

    nodes = tuple(with_own(node) for node in graph.nodes)
    return assembly if nodes == graph.nodes else replace(assembly, graph=replace(graph, nodes=nodes))
