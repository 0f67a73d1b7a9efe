"""scan_compressed, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives.stored_walk.hls import fetched_ends, stored_walk

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Reads where fibers begin and end, and walks what is stored."""
    stored_walk(to, node, *fetched_ends(to, node))
