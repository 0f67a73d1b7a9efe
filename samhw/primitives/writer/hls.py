"""Values that are written, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import payload_class
from samhw.hls.off_chip import places_and_words, write_words
from samhw.hls.program import Argument, HlsStream
from samhw.hls.region_builder import RegionBuilder

__all__ = ["written_values"]


def written_values(
    to: RegionBuilder, node: Node, function: str, *reads: HlsStream, anywhere: bool = False
) -> None:
    """The process that writes values, and those of their lines.

    Args:
        anywhere: they do not begin at the first place.
    """
    vals = to.memory(node, "vals")
    template = (to.number(node), vals.words)
    if not vals.off_chip:
        begin = (to.begin(vals),) if anywhere else ()
        scalars = (*begin, to.count(vals), to.error(node))
        to.process(function, *reads, vals, *scalars, reads=reads, template=template)
        return
    places = places_and_words(to, node, vals, payload_class(to.graph.taken(node, "val")))
    arguments: tuple[Argument, ...] = (*reads, *places, to.error(node))
    to.process(f"{function}_places", *arguments, reads=reads, writes=places, template=template)
    write_words(to, node, *places, vals)
