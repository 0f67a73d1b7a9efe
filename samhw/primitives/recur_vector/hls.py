"""recur_vector, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives.vector_reducer.hls import accumulators

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Accumulates, and emits."""
    accumulators(to, node, "recur_vector_accumulate", "recur")
