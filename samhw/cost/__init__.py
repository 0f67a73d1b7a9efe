"""What a graph costs, without running it."""

from samhw.cost.design import DesignEstimate, NodeEstimate, RegionEstimate, estimate_graph
from samhw.cost.estimate import Expected, estimate
from samhw.cost.streams import Results

__all__ = [
    "DesignEstimate",
    "Expected",
    "NodeEstimate",
    "RegionEstimate",
    "Results",
    "estimate",
    "estimate_graph",
]
