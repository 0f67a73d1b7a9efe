"""write_at, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives.writer.hls import written_values

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    written_values(to, node, "write_at", to.input(node, "ref"), to.input(node, "val"), anywhere=True)
