"""scan_ragged, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives.stored_walk.hls import fetched_ends

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Reads where fibers begin and end, and walks between."""
    start, last = fetched_ends(to, node)
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_ragged_walk",
        *(start, last, crd, out),
        *to.extents_of(node),
        reads=(start, last),
        writes=(crd, out),
        template=(to.number(node),),
    )
    to.spread(node, {"crd": crd, "ref": out})
