"""arg, as processes of C++."""

from samhw.graph import Node
from samhw.hls.lower import plain
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    plain(to, node, str(node.params["op"] == "max").lower())
