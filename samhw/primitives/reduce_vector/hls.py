"""reduce_vector, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives.vector_reducer.hls import accumulators

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Accumulates, and emits."""
    op = node.params["op"]
    accumulators(to, node, "reduce_vector_accumulate", op, f"samhw::{op}")
