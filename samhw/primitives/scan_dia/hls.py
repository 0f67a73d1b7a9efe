"""scan_dia, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import INDEX
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Reads how many diagonals there are, walks them, and keeps what lies inside."""
    ref, cnt, off = to.input(node, "ref"), to.memory(node, "cnt"), to.memory(node, "off")
    depth, later = to.arch.internal_depth(to.arch.memory), to.arch.memory + to.arch.step
    row, last = to.internal(node, "row", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process(
        "scan_dia_fetch",
        *(ref, row, last, cnt),
        reads=(ref,),
        writes=(row, last),
        template=(cnt.words,),
    )
    depth = to.arch.internal_depth(later)
    at, place = to.internal(node, "at", INDEX, depth), to.internal(node, "place", INDEX, depth)
    rows, extent = to.extents_of(node)
    to.process(
        "scan_dia_walk",
        *(row, last, at, place, off, rows),
        reads=(row, last),
        writes=(at, place),
        template=(to.number(node), off.words),
    )
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_dia_keep",
        *(at, place, crd, out, extent),
        reads=(at, place),
        writes=(crd, out),
        template=(to.number(node),),
    )
    to.spread(node, {"crd": crd, "ref": out})
