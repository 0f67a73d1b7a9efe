"""scan_dense, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import INDEX
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Scales references, and walks from them."""
    ref, extents = to.input(node, "ref"), to.extents_of(node)
    base = to.internal(node, "base", INDEX, to.arch.internal_depth(to.arch.locate))
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process("scan_dense_scale", ref, base, *extents, reads=(ref,), writes=(base,))
    to.process("scan_dense_walk", base, crd, out, *extents, reads=(base,), writes=(crd, out))
    to.spread(node, {"crd": crd, "ref": out})
