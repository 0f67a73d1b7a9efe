"""root, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    out = to.output(node, "out")
    to.process("root", out, reads=(), writes=(out,))
    to.spread(node, {"out": out})
