"""write_dense, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    crd = to.input(node, "crd")
    to.process(
        "write_dense",
        crd,
        *to.extents_of(node),
        to.error(node),
        reads=(crd,),
        template=(to.number(node),),
    )
