"""Values that are written, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import payload_class
from samhw.hls.off_chip import places_and_words, write_words
from samhw.hls.program import HlsStream
from samhw.hls.region_builder import RegionBuilder

__all__ = ["written_values"]


def written_values(to: RegionBuilder, node: Node, function: str, *reads: HlsStream) -> None:
    vals = to.memory(node, "vals")
    scalars, template = (to.count(vals), to.error(node)), (to.number(node), vals.words)
    if not vals.off_chip:
        to.process(function, *reads, vals, *scalars, reads=reads, template=template)
        return
    places = places_and_words(to, node, vals, payload_class(to.graph.taken(node, "val")))
    to.process(f"{function}_places", *reads, *places, *scalars, reads=reads, writes=places, template=template)
    write_words(to, node, *places, vals)
