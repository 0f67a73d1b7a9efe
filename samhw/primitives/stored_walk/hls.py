"""Walks over stored coordinates, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import INDEX
from samhw.hls.off_chip import ends_of, stored_coordinates
from samhw.hls.program import HlsStream
from samhw.hls.region_builder import RegionBuilder

__all__ = ["fetched_ends", "stored_walk"]


def fetched_ends(to: RegionBuilder, node: Node) -> tuple[HlsStream, HlsStream]:
    """Where each fiber starts, and the number of its last coordinate, by `pos`."""
    ref, pos = to.input(node, "ref"), to.memory(node, "pos")
    if pos.off_chip:
        return ends_of(to, node, pos)
    depth = to.arch.internal_depth(to.arch.memory)
    start, last = to.internal(node, "start", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process(
        "scan_compressed_fetch",
        *(ref, start, last, pos),
        reads=(ref,),
        writes=(start, last),
        template=(to.number(node), pos.words),
    )
    return start, last


def stored_walk(to: RegionBuilder, node: Node, start: HlsStream, last: HlsStream) -> None:
    """The stored coordinates from the start of each fiber to its last one."""
    coordinates = to.memory(node, "crd")
    if coordinates.off_chip:
        refs = to.internal(node, "refs", INDEX, to.arch.internal_depth(to.arch.step))
        reads, template = (start, last), (to.number(node),)
        to.process(
            "scan_stored_refs",
            *(*reads, refs),
            reads=reads,
            writes=(refs,),
            template=template,
            header="stored_walk",
        )
        stored_coordinates(to, node, refs, coordinates)
        return
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_compressed_walk",
        *(start, last, crd, out, coordinates),
        *to.extents_of(node),
        reads=(start, last),
        writes=(crd, out),
        template=(to.number(node), coordinates.words),
    )
    to.spread(node, {"crd": crd, "ref": out})
