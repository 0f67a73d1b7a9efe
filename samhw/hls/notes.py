"""The comment above a node's calls: the cell of the fusion table from which it comes."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder

__all__ = ["note"]


def note(to: RegionBuilder, node: Node) -> str:
    """The row, the column and the text of the node's cell; one like it, if the node has none in the table."""
    streams = {port.name: to.input(node, port.name).name for port in node.inputs}
    return node.note or node.spec.note(to.base(node), node.params, streams)
