"""The processes of each primitive: the functions of the library that do its actors' work, and their streams.

A primitive has the actors and internal channels of docs/primitives.md, with their depths, so that no design
lacks room that the graph's simulation has. Only the vector reducers differ: see their folder.
"""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives import role

__all__ = ["lower_node", "plain"]


def lower_node(to: RegionBuilder, node: Node) -> None:
    """Adds the processes of a node, by the `lower` of its kind; a kind without one is a plain process."""
    to.home = node.kind
    hls = role(node.kind, "hls")
    if hls is None:
        plain(to, node)
    else:
        hls.lower(to, node)


def plain(to: RegionBuilder, node: Node, *template: str, function: str = "") -> None:
    """The one process of a node, which gets the inputs, the outputs, and the extents that it needs. Of
    template arguments it gets its number and these."""
    inputs = tuple(to.input(node, port.name) for port in node.inputs)
    outputs = {port.name: to.output(node, port.name) for port in node.outputs}
    writes = tuple(outputs.values())
    to.process(
        function or node.kind,
        *inputs,
        *writes,
        *to.extents_of(node),
        reads=inputs,
        writes=writes,
        template=(to.number(node), *template),
    )
    to.spread(node, outputs)
