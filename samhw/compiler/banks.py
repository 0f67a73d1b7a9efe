"""How many banks the accumulators of a graph's vector reducers have."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.graph import Arch, Graph, Node

__all__ = ["with_banks"]

IN_LANES = 3
"""Of a reducer in lanes of the index that it sums over: a fiber that was dealt to lanes is soon as short as
its sum, and then two banks, one filling and one draining, would lose the cycles between them."""


def with_banks(graph: Graph, lanes: Mapping[str, int], arch: Arch) -> Graph:
    """The graph with banks for its vector reducers: `Arch.banks`, and one more where they pay.

    Args:
        lanes: those that the graph has, by index.
    """

    def with_own(node: Node) -> Node:
        in_lanes = node.copy_of and lanes.get(node.index, 1) > 1
        banks = max(arch.banks, IN_LANES) if in_lanes else arch.banks
        return replace(node, params={**node.params, "banks": banks}) if banks > 2 else node

    return replace(
        graph, nodes=tuple(with_own(node) if node.spec.kept(node.params) else node for node in graph.nodes)
    )
