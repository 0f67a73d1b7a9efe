"""scan_ell, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import INDEX
from samhw.hls.off_chip import counts_of
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives.stored_walk.hls import stored_walk

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Reads how much fibers have, and walks what is stored."""
    ref, cnt = to.input(node, "ref"), to.memory(node, "cnt")
    if cnt.off_chip:
        stored_walk(to, node, *counts_of(to, node, cnt))
        return
    depth = to.arch.internal_depth(to.arch.memory + to.arch.step)
    start, last = to.internal(node, "start", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process(
        "scan_ell_fetch",
        *(ref, start, last, cnt),
        reads=(ref,),
        writes=(start, last),
        template=(to.number(node), str(node.params["width"]), cnt.words),
    )
    stored_walk(to, node, start, last)
