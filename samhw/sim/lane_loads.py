"""How evenly lanes were loaded."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from samhw.graph import Graph
from samhw.sim.result import NodeStats

__all__ = ["LaneLoads", "lane_loads"]


@dataclass(frozen=True)
class LaneLoads:
    """The firings of each copy of a node, in the order of the graph."""

    node: str
    firings: tuple[int, ...]

    @property
    def even(self) -> float:
        """What each copy would fire if all did the same."""
        return sum(self.firings) / len(self.firings)

    @property
    def balance(self) -> float:
        """Even firings over those of the busiest copy: 1 if lanes do the same."""
        return self.even / max(self.firings) if any(self.firings) else 1.0

    def __str__(self) -> str:
        return (
            f"{len(self.firings)} of {self.node}: {min(self.firings):,} to {max(self.firings):,} firings; "
            f"evenly distributed {self.even:,.0f} each ({self.balance:.0%} balanced)"
        )


def lane_loads(graph: Graph, nodes: Mapping[str, NodeStats]) -> LaneLoads | None:
    """The loads of the node whose copies fire most often in all; None for a graph without lanes."""
    copies: dict[str, list[int]] = defaultdict(list)
    for node in graph.nodes:
        if node.copy_of:
            copies[node.copy_of].append(nodes[node.name].firings)
    if not copies:
        return None
    busiest = max(copies, key=lambda name: sum(copies[name]))
    return LaneLoads(busiest, tuple(copies[busiest]))
