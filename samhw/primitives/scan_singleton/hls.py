"""scan_singleton, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import INDEX
from samhw.hls.off_chip import stored_coordinates
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    ref = to.input(node, "ref")
    coordinates = to.memory(node, "crd")
    if coordinates.off_chip:
        refs = to.internal(node, "refs", INDEX, to.arch.internal_depth(to.arch.step))
        to.process("scan_singleton_refs", ref, refs, reads=(ref,), writes=(refs,))
        stored_coordinates(to, node, refs, coordinates)
        return
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_singleton",
        ref,
        crd,
        out,
        coordinates,
        *to.extents_of(node),
        reads=(ref,),
        writes=(crd, out),
        template=(to.number(node), coordinates.words),
    )
    to.spread(node, {"crd": crd, "ref": out})
